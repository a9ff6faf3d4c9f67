"""A large backlog, while events of others come: how fast it drains, and who waits for it."""

import time
from collections.abc import Iterator, Sequence

from benchmarks import shops
from benchmarks.dispatchers import dispatching
from benchmarks.latency import first_arrivals, latencies
from benchmarks.loop import looped
from benchmarks.options import Options
from benchmarks.publishers import publishing
from benchmarks.results import Goal, Row, number
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, Webhook

FRESH_RATE = 50  # events a second, for 20 other endpoints


def backlog(options: Options) -> Iterator[Row]:
    """100,000 rows, for as long as the fresh events come: of 20 endpoints, then of a single one."""
    yield from _backlog(options, 20, "of 20 endpoints", Goal(0.75, 0.85, more_is_better=True))
    yield from _backlog(options, 1, "of one endpoint", Goal(0.70, 0.85, more_is_better=True))


def _backlog(options: Options, endpoints: int, whose: str, goal: Goal) -> Iterator[Row]:
    size, seconds = (10_000, 3) if options.quick else (100_000, 20)
    shops.forget_deliveries()
    crowded = shops.endpoints([options.sink.url(f"instant/crowded{n}") for n in range(endpoints)])
    others = shops.endpoints([options.sink.url(f"instant/{n}") for n in range(20)])
    loop = looped(options.folder, [shops.target(each) for each in crowded], size // 5)
    options.sink.arrivals()
    with (
        dispatching(options.folder) as dispatchers,
        publishing(options.folder, others, rate=FRESH_RATE, seconds=seconds, plainly=True) as publishers,
    ):
        shops.add_due(crowded, size)
        began = time.monotonic()
        publishers.go()
        done_at = _wait_for_end(crowded, size, until=began + seconds)
        drained, took = _recorded(crowded), done_at - began
        committed = publishers.committed()
        time.sleep(1.0)
        fresh = latencies([each.id for each in others], committed, first_arrivals(options), time.monotonic())
        dispatchers.kill()
    yield Row(
        f"Deliveries/s of a backlog of {size:,} {whose}",
        f"{number(loop.rate)}/s",
        f"{number(drained / took)}/s",
        drained / took / loop.rate,
        goal,
        note=f"{drained:,} of {size:,} were recorded in {took:.1f} s.",
    )
    yield Row(
        "p99 of others' fresh events meanwhile",
        "",
        f"{fresh.words()} ms",
        fresh.at(0.99) * 1000,
        Goal(1000, 300, unit=" ms"),
        note=f"p50 / p95 / p99. {fresh.missing} of {len(fresh.seconds)} did not come.",
    )


def _wait_for_end(webhooks: Sequence[Webhook], size: int, *, until: float) -> float:
    """When the backlog was gone, or `until` where it was not."""
    while (now := time.monotonic()) < until and _recorded(webhooks) < size:
        time.sleep(0.5)  # counting takes processor, too
    return now


def _recorded(webhooks: Sequence[Webhook]) -> int:
    return Delivery.objects.filter(webhook__in=webhooks, status=DeliveryStatus.SUCCEEDED).count()
