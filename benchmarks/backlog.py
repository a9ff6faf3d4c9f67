"""One endpoint with a large backlog, while events of others come: how fast it drains, and who waits for it."""

import time
from collections.abc import Iterator

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
    """100,000 rows of one instant endpoint, for as long as the fresh events come."""
    size, seconds = (10_000, 3) if options.quick else (100_000, 20)
    shops.forget_deliveries()
    (crowded,) = shops.endpoints([options.sink.url("instant/crowded")])
    others = shops.endpoints([options.sink.url(f"instant/{n}") for n in range(20)])
    loop = looped(options.folder, [shops.target(crowded)], size // 5)
    options.sink.arrivals()
    with (
        dispatching(options.folder) as dispatchers,
        publishing(options.folder, others, rate=FRESH_RATE, seconds=seconds, plainly=True) as publishers,
    ):
        shops.add_due([crowded], size)
        began = time.monotonic()
        publishers.go()
        committed = publishers.committed()
        drained, took = _recorded(crowded), time.monotonic() - began
        time.sleep(1.0)
        fresh = latencies([each.id for each in others], committed, first_arrivals(options), time.monotonic())
        dispatchers.kill()
    yield Row(
        f"Deliveries/s of one endpoint's backlog of {size:,}",
        f"{number(loop.rate)}/s",
        f"{number(drained / took)}/s",
        drained / took / loop.rate,
        Goal(0.75, 0.85, more_is_better=True),
        doubt="" if drained < size else "the backlog was gone before the end",
        note=f"{drained:,} of {size:,} were recorded in {took:.0f} s.",
    )
    yield Row(
        "p99 of others' fresh events meanwhile",
        "",
        f"{fresh.words()} ms",
        fresh.at(0.99) * 1000,
        Goal(1000, 300, unit=" ms"),
        note=f"p50 / p95 / p99. {fresh.missing} of {len(fresh.seconds)} did not come.",
    )


def _recorded(webhook: Webhook) -> int:
    return Delivery.objects.filter(webhook=webhook, status=DeliveryStatus.SUCCEEDED).count()
