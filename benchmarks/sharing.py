"""What each delivery costs PostgreSQL when many dispatchers share the work."""

import time
from collections.abc import Iterator
from statistics import median

from benchmarks import shops
from benchmarks.dispatchers import dispatching
from benchmarks.options import Options
from benchmarks.publishers import publishing
from benchmarks.results import Goal, Row, number

RATE = 100  # events a second
COUNTS = 1, 2, 4, 8


def dispatchers(options: Options) -> Iterator[Row]:
    """A steady pace, by turns with 1, 2, 4 and 8 of them."""
    costs: dict[int, list[float]] = {count: [] for count in COUNTS}
    for _ in range(options.repeats):
        for count, taken in costs.items():
            taken.append(_cost(options, count))
    two = median(costs[2])
    for count, taken in costs.items():
        yield Row(
            f"PostgreSQL's CPU for each delivery, {count} dispatchers, to 2",
            f"{number(two * 1e6)} µs",
            f"{number(median(taken) * 1e6)} µs",
            median(mine / theirs for mine, theirs in zip(taken, costs[2], strict=True)),
            Goal(1.15, 1.05) if count == max(COUNTS) else None,
        )


def _cost(options: Options, count: int) -> float:
    """Seconds of the dispatchers' sessions for each delivery, what they ask in vain included."""
    seconds = 3 if options.quick else 15
    shops.forget_deliveries()
    webhooks = shops.endpoints([options.sink.url(f"instant/{each}") for each in range(20)])
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
