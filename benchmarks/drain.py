"""How fast due deliveries are sent and recorded, and what one costs, against a bare loop of requests."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks import shops
from benchmarks.dispatchers import Cost, dispatching, statements_of_a_drain
from benchmarks.loop import Looped, looped
from benchmarks.options import Options
from benchmarks.results import Goal, Row, number, paired
from webhooks.models import Webhook

BUSIEST_SINK = 0.8  # of a core; beyond that the sink is what is measured


@dataclass(frozen=True, slots=True)
class Drained:
    sent: int
    seconds: float
    cost: Cost
    sink: float  # share of a core

    @property
    def rate(self) -> float:
        return self.sent / self.seconds


@dataclass(frozen=True, slots=True)
class Pair:
    """The loop and ours, one after the other. The sink's load is the higher of the two."""

    loop: Looped
    ours: Drained
    sink: float


def drain(options: Options) -> Iterator[Row]:
    """20 endpoints that answer at once: deliveries/s, processor, SQL statements."""
    webhooks = shops.endpoints([options.sink.url(f"instant/{number}") for number in range(20)])
    pairs = _pairs(options, webhooks)
    yield _rate("Deliveries/s, 20 instant endpoints", pairs, Goal(1.2, 1.5, more_is_better=True))
    yield _cpu(pairs)
    yield _postgres(pairs)
    yield _statements(options, webhooks)


def drain_slow(options: Options) -> Iterator[Row]:
    """200 endpoints that take 20 ms."""
    webhooks = shops.endpoints([options.sink.url(f"wait/20/{number}") for number in range(200)])
    pairs = _pairs(options, webhooks)
    yield _rate("Deliveries/s, 200 endpoints of 20 ms", pairs, Goal(2.0, 2.5, more_is_better=True))


def _pairs(options: Options, webhooks: Sequence[Webhook]) -> list[Pair]:
    count = 2_000 if options.quick else 20_000
    targets = [shops.target(webhook) for webhook in webhooks]
    pairs = []
    for _ in range(options.repeats):
        sink = options.sink.process.cpu()
        loop = looped(options.folder, targets, count)
        load = (options.sink.process.cpu() - sink) / loop.seconds
        ours = drained(options, webhooks, count)
        pairs.append(Pair(loop, ours, max(load, ours.sink)))
        options.sink.arrivals()
    return pairs


def drained(options: Options, webhooks: Sequence[Webhook], count: int) -> Drained:
    """Two dispatchers, warm; then `count` rows that become due with one commit, until all are recorded."""
    shops.forget_deliveries()
    with dispatching(options.folder) as dispatchers:
        shops.add_due(webhooks, 1_000)
        shops.wait_until_sent(60)
        shops.add_due(webhooks, count)
        began, cost, sink = time.monotonic(), dispatchers.cost(), options.sink.process.cpu()
        shops.wait_until_sent(300)
        seconds = time.monotonic() - began
        return Drained(
            count,
            seconds,
            dispatchers.cost().since(cost),
            (options.sink.process.cpu() - sink) / seconds,
        )


def _rate(what: str, pairs: Sequence[Pair], goal: Goal) -> Row:
    ours, loop = [pair.ours.rate for pair in pairs], [pair.loop.rate for pair in pairs]
    return Row(
        what,
        f"{number(median(loop))}/s",
        f"{number(median(ours))}/s",
        paired(ours, loop),
        goal,
        doubt=_doubt(pairs),
        note=f"The sink used {max(pair.sink for pair in pairs):.0%} of a core.",
    )


def _cpu(pairs: Sequence[Pair]) -> Row:
    ours = [pair.ours.cost.ours / pair.ours.sent * 1000 for pair in pairs]
    loop = [pair.loop.cpu / pair.loop.sent * 1000 for pair in pairs]
    return Row(
        "CPU per 1,000 deliveries, our processes",
        f"{number(median(loop))} s",
        f"{number(median(ours))} s",
        paired(ours, loop),
        Goal(1.2, 0.8),
    )


def _postgres(pairs: Sequence[Pair]) -> Row:
    known = [pair for pair in pairs if pair.ours.cost.postgres is not None]
    what = "… and of their sessions in PostgreSQL"
    if not known:
        return Row(what, "", "on another machine")
    ours = [(pair.ours.cost.postgres or 0.0) / pair.ours.sent * 1000 for pair in known]
    loop = [pair.loop.cpu / pair.loop.sent * 1000 for pair in known]
    return Row(what, f"{number(median(loop))} s", f"{number(median(ours))} s", paired(ours, loop))


def _statements(options: Options, webhooks: Sequence[Webhook]) -> Row:
    count = 2_000 if options.quick else 10_000
    shops.forget_deliveries()
    shops.add_due(webhooks, count)
    statements = statements_of_a_drain(options.folder)
    return Row(
        "SQL statements per delivery in that drain",
        "",
        f"{statements:,} / {count:,}",
        statements / count,
        Goal(0.20, 0.08),
    )


def _doubt(pairs: Sequence[Pair]) -> str:
    busiest = max(pair.sink for pair in pairs)
    return f"the sink used {busiest:.0%} of a core" if busiest > BUSIEST_SINK else ""
