"""How soon after its commit an event reaches an endpoint, with and without other endpoints that hang."""

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from uuid import UUID

from benchmarks import shops
from benchmarks.dispatchers import Dispatchers, Steps, celery, dispatching, quantile
from benchmarks.options import Options
from benchmarks.publishers import publishing
from benchmarks.results import Goal, Row, milliseconds, percentile
from webhooks.models import Delivery, Webhook

SHARES = 0.5, 0.95, 0.99
SETTLE = 2.0  # seconds after the last event; what has not come then counts with the time it has waited
SLOWEST_PACE = 0.95  # of the rate asked for; below that the publishers are what is measured


@dataclass(frozen=True, slots=True)
class Latencies:
    """Seconds from commit to first byte. `missing` of them had not come at all."""

    seconds: list[float]
    missing: int
    pace: float  # events a second that were really published
    steps: Steps = field(default_factory=dict)

    def at(self, share: float) -> float:
        return percentile(self.seconds, share)

    def words(self) -> str:
        return " / ".join(f"{self.at(share) * 1000:.1f}" for share in SHARES)

    def rows(self) -> Iterator[Row]:
        """One for each step of the deliveries, as the dispatchers' metrics have them."""
        for step, counts in self.steps.items():
            words = " / ".join(f"{quantile(counts, share) * 1000:.1f}" for share in SHARES)
            yield Row(f"… {step}, ms: p50 / p95 / p99", "", words)


def latency(options: Options) -> Iterator[Row]:
    """200 events a second to 20 instant endpoints. The baseline and both ways to run take turns, because machines get faster
    and slower by the minute.
    """
    seconds = 3 if options.quick else 10
    ways = {"two `manage.py deliver`": dispatching, "Celery worker and beat": celery}
    direct: list[Latencies] = []
    runs: dict[str, list[Latencies]] = {what: [] for what in ways}
    for _ in range(options.repeats):
        direct.append(_direct(options, 200, seconds))
        for what, dispatchers in ways.items():
            webhooks = shops.endpoints([options.sink.url(f"instant/{number}") for number in range(20)])
            runs[what].append(published(options, webhooks, dispatchers(options.folder), 200, seconds))
    for what in ways:
        yield from _latency_rows(what, direct, runs[what])


def _latency_rows(what: str, direct: Sequence[Latencies], runs: Sequence[Latencies]) -> Iterator[Row]:
    middle = sorted(runs, key=lambda run: run.at(0.95))[len(runs) // 2]
    baseline = sorted(direct, key=lambda run: run.at(0.95))[len(direct) // 2]
    missing = sum(run.missing for run in runs)
    yield Row(
        f"Commit to first byte, p95, to posting at once: {what}",
        baseline.words(),
        middle.words(),
        middle.at(0.95) / baseline.at(0.95),
        Goal(6, 4),
        doubt=_doubt([*runs, *direct], 200),
        note="In ms: p50 / p95 / p99. The baseline posts by itself right after the commit."
        + (f" {missing} deliveries did not come." if missing else ""),
    )
    yield from middle.rows()


LIMITS = {0.1: Goal(1.25, 1.1), 0.3: Goal(1.5, 1.2), 0.5: Goal(2.0, 1.3), 0.9: Goal(4.0, 2.5)}
ENOUGH = 0.025  # seconds of p99 with which the goal is reached whatever the ratio


def isolation(options: Options) -> Iterator[Row]:
    """100 endpoints, 400 events a second; some hang from the beginning, and no process has seen them before."""
    seconds = 5 if options.quick else 20
    healthy = _with_hanging(options, 0.0, seconds)
    yield Row("p99 of endpoints, none hanging", "", milliseconds(healthy.at(0.99)))
    yield from healthy.rows()
    for share, goal in LIMITS.items():
        if options.quick and share != 0.5:
            continue
        run = _with_hanging(options, share, seconds)
        ratio = run.at(0.99) / healthy.at(0.99)
        yield Row(
            f"p99 of healthy endpoints, {share:.0%} hanging, to none",
            milliseconds(healthy.at(0.99)),
            milliseconds(run.at(0.99)),
            ratio,
            goal,
            reached="at least (≤ 25 ms)"
            if goal.verdict(ratio) == "MISSED" and run.at(0.99) <= ENOUGH
            else "",
            doubt=_doubt([healthy, run], 400),
            note=f"p50 / p95 / p99, ms: {run.words()}; with none hanging: {healthy.words()}. "
            f"{run.missing} of {len(run.seconds)} did not come.",
        )
        yield from run.rows()


def _with_hanging(options: Options, share: float, seconds: float) -> Latencies:
    """The latencies of those that don't hang."""
    urls = [
        options.sink.url(f"{'hang' if number % 10 < share * 10 else 'instant'}/{number}")
        for number in range(100)
    ]
    return published(options, shops.endpoints(urls), dispatching(options.folder), 400, seconds, plainly=True)


def published(
    options: Options,
    webhooks: Sequence[Webhook],
    dispatchers: AbstractContextManager[Dispatchers],
    rate: int,
    seconds: float,
    *,
    plainly: bool = False,
) -> Latencies:
    """Publish events for the webhooks in turn, with fresh dispatchers at work; the latencies of the healthy."""
    shops.forget_deliveries()
    options.sink.arrivals()
    with dispatchers as running:
        with publishing(options.folder, webhooks, rate=rate, seconds=seconds, plainly=plainly) as publishers:
            publishers.go()
            committed = publishers.committed()
        time.sleep(SETTLE)
        arrived, ended = first_arrivals(options), time.monotonic()
        steps = running.steps()
        running.kill()  # they would wait for what hangs
    healthy = [webhook.id for webhook in webhooks if "/hang/" not in webhook.url]
    return replace(latencies(healthy, committed, arrived, ended), steps=steps)


def first_arrivals(options: Options) -> dict[str, float]:
    arrived: dict[str, float] = {}
    for delivery_id, at in options.sink.arrivals():
        arrived.setdefault(delivery_id, at)
    return arrived


def latencies(
    webhook_ids: Sequence[UUID], committed: dict[str, float], arrived: dict[str, float], ended: float
) -> Latencies:
    """A delivery that has not come counts with the time that it has waited at least."""
    rows = Delivery.objects.filter(webhook_id__in=webhook_ids).values_list("id", "event_id")
    found = [(arrived.get(str(delivery)), committed.get(str(event))) for delivery, event in rows]
    return Latencies(
        [(ended if came is None else came) - at for came, at in found if at is not None],
        sum(came is None for came, at in found if at is not None),
        pace_of(list(committed.values())),
    )


def _direct(options: Options, rate: int, seconds: float) -> Latencies:
    """The same events, posted by the process that committed them, without any queue."""
    shops.forget_deliveries()
    options.sink.arrivals()
    webhooks = shops.endpoints([options.sink.url(f"instant/{number}") for number in range(20)])
    url = options.sink.url("instant/direct")
    with publishing(options.folder, webhooks, rate=rate, seconds=seconds, post_to=url) as publishers:
        publishers.go()
        committed = publishers.committed()
    arrived = first_arrivals(options)
    return Latencies(
        [arrived[event] - at for event, at in committed.items()], 0, pace_of(list(committed.values()))
    )


def pace_of(times: Sequence[float]) -> float:
    """Events a second, by the times of their commits."""
    return (len(times) - 1) / (max(times) - min(times))


def _doubt(runs: Sequence[Latencies], rate: int) -> str:
    slowest = min(run.pace for run in runs)
    return f"only {slowest:.0f} events/s could be published" if slowest < rate * SLOWEST_PACE else ""
