"""What each delivery costs PostgreSQL when many dispatchers share the work."""

import time
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks import shops
from benchmarks.dispatchers import dispatching
from benchmarks.options import Options
from benchmarks.publishers import publishing
from benchmarks.results import Goal, Row, number
from webhooks.models import Webhook

RATE = 100  # events a second
COUNTS = 1, 2, 4, 8
Cost = Callable[[Options, int], float]  # seconds of PostgreSQL for each delivery, with so many dispatchers


def dispatchers(options: Options) -> Iterator[Row]:
    """A steady pace, where they ask in vain, and a backlog, where they get into each other's way."""
    yield from _by_turns(options, f"at {RATE} events/s", _at_a_steady_pace)
    yield from _by_turns(options, "of a backlog", _of_a_backlog)


def _by_turns(options: Options, load: str, cost: Cost) -> Iterator[Row]:
    costs: dict[int, list[float]] = {count: [] for count in COUNTS}
    for _ in range(options.repeats):
        for count, taken in costs.items():
            taken.append(cost(options, count))
    two = median(costs[2])
    for count, taken in costs.items():
        yield Row(
            f"PostgreSQL's CPU for each delivery {load}, {count} dispatchers, to 2",
            f"{number(two * 1e6)} µs",
            f"{number(median(taken) * 1e6)} µs",
            median(mine / theirs for mine, theirs in zip(taken, costs[2], strict=True)),
            Goal(1.15, 1.05) if count == max(COUNTS) else None,
        )


def _endpoints(options: Options) -> list[Webhook]:
    return shops.endpoints([options.sink.url(f"instant/{each}") for each in range(20)])


def _of_a_backlog(options: Options, count: int) -> float:
    """All of it due with one commit, so that all dispatchers claim at the same time."""
    rows = 2_000 if options.quick else 20_000
    shops.forget_deliveries()
    webhooks = _endpoints(options)
    with dispatching(options.folder, count) as running:
        shops.add_due(webhooks, 1_000)
        shops.wait_until_sent(60)
        time.sleep(2.0)  # a heartbeat tells each how many there are
        before = running.cost()
        shops.add_due(webhooks, rows)
        shops.wait_until_sent(300)
        cost = running.cost().since(before)
    options.sink.arrivals()
    return (cost.postgres or 0.0) / rows


def _at_a_steady_pace(options: Options, count: int) -> float:
    """What they ask in vain included."""
    seconds = 3 if options.quick else 15
    shops.forget_deliveries()
    webhooks = _endpoints(options)
    with (
        dispatching(options.folder, count) as running,
        publishing(options.folder, webhooks, rate=RATE, seconds=seconds, plainly=True) as publishers,
    ):
        time.sleep(2.0)  # a heartbeat tells each how many there are
        before = running.cost()
        publishers.go()
        sent = len(publishers.committed())
        shops.wait_until_sent(60)
        cost = running.cost().since(before)
    options.sink.arrivals()
    return (cost.postgres or 0.0) / sent
