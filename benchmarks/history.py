"""What a month of deliveries costs those that are sent now (docs/decisions/0036)."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta
from statistics import median
from typing import Final

import orjson
from django.db import connection, connections
from django.utils import timezone

from benchmarks import shops
from benchmarks.claiming import AT_ONCE, ENDPOINTS, as_default, by_turns, copied, repeated, tidied
from benchmarks.options import Options
from benchmarks.processes import Failed
from benchmarks.results import Goal, Row, milliseconds
from common.db import partitions
from webhooks.engine import claims, planning
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, Event, Webhook
from webhooks.services import retention
from webhooks.services.publishing import publish

DAYS: Final = 30
LATE: Final = timedelta(days=8)  # so that the oldest week is over its time


def month(options: Options) -> Iterator[Row]:
    """30 days of deliveries in their partitions: claims there and in an empty table; the oldest week is dropped under load."""
    a_day = 3_000 if options.quick else 300_000
    rounds = 20 if options.quick else 100
    shops.forget_deliveries()
    webhooks = shops.endpoints([options.sink.url(f"instant/{number}") for number in range(ENDPOINTS)])
    with copied() as empty:
        # Into the default database, since threads open their own connections to that.
        begin = _fill(webhooks, a_day)
        for store in (empty, connections["default"]):
            with as_default(store):
                shops.add_due(webhooks, AT_ONCE * rounds + 10 * ENDPOINTS)
                tidied(Event, Delivery, Attempt)
        with_none, with_many = by_turns([empty, connections["default"]], rounds)
    yield Row(
        f"Claim of {AT_ONCE} beside {DAYS} days of {a_day:,}, to none",
        milliseconds(median(with_none)),
        milliseconds(median(with_many)),
        median(with_many) / median(with_none),
        Goal(1.2, 1.05),
    )
    yield from dropped(webhooks, a_day, begin)


def _fill(webhooks: list[Webhook], a_day: int) -> datetime:
    """Finished deliveries with event and attempt at a steady pace, the newest of `LATE` ago. Gives the time of the oldest."""
    now = timezone.now()
    begin = now - timedelta(days=DAYS) - LATE
    moment = begin
    while moment < now:
        for model in (Event, Delivery, Attempt):
            partitions.make_ahead(model, now=moment)
        moment += timedelta(days=1)
    event = Event.objects.create(
        business_id=webhooks[0].installation.business_id,
        type=shops.EVENT_TYPE,
        data=shops.message_data(),
        occurred_at=begin,
    )
    delivery = Delivery.objects.create(
        event=event,
        webhook=webhooks[0],
        status=DeliveryStatus.SUCCEEDED,
        attempts_made=1,
        attempt_count=1,
        finished_at=begin,
    )
    attempt = Attempt.objects.create(
        delivery=delivery, number=1, attempted_at=begin, http_status=200, duration_ms=20
    )
    count = a_day * DAYS
    source = f"generate_series(1, {count}) AS copy"
    at = f"(timestamptz '{begin.isoformat()}' + copy * interval '{DAYS * 86_400 / count} seconds')"
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # no look-ups of foreign keys
        for row, key, changed in (
            (event, "id", {"id": _id(at, "7001"), "occurred_at": at}),
            (
                delivery,
                "id",
                {"id": _id(at, "7002"), "event_id": _id(at, "7001"), "created_at": at, "finished_at": at},
            ),
            (attempt, "delivery_id", {"delivery_id": _id(at, "7002"), "attempted_at": at}),
        ):
            cursor.execute(repeated(row, source, changed, key=key))
        cursor.execute("SET session_replication_role = origin")
    return begin


def _id(at: str, kind: str) -> str:
    """SQL for a UUID of version 7 of that moment, which `copy` makes unique."""
    digits = f"lpad(to_hex((extract(epoch FROM {at}) * 1000)::bigint), 12, '0') || '{kind}8000' || lpad(to_hex(copy), 12, '0')"
    return f"({digits})::uuid"


def dropped(webhooks: list[Webhook], a_day: int, begin: datetime) -> Iterator[Row]:
    """The oldest week that is over its time, while others claim and publish. The deliveries begin at `begin`."""
    longest, over = {"claim": 0.0, "event": 0.0}, threading.Event()

    def work(name: str, step: Callable[[], object]) -> None:
        with closing(connection):
            if name == "claim":
                planning.by_index()  # as in a dispatcher's session
            while True:  # once at least, however short the drop
                began = time.monotonic()
                try:
                    step()
                except Exception as error:
                    raise Failed(f"A {name} failed while a week was dropped: {error!r}") from error
                longest[name] = max(longest[name], time.monotonic() - began)
                if over.is_set():
                    return

    def claim() -> None:
        claims.claim(16, timezone.now(), slot=0)

    def event() -> None:
        business_id, data = webhooks[0].installation.business_id, orjson.loads(shops.message_data())
        publish(business_id=business_id, event_type=shops.EVENT_TYPE, data=data)

    planning.as_usual()  # as in a worker's session
    before = partitions.existing(Delivery)
    with ThreadPoolExecutor(2) as pool:
        others = [pool.submit(work, *each) for each in (("claim", claim), ("event", event))]
        try:
            began = time.monotonic()
            retention.remove_old()
            took = time.monotonic() - began
        finally:
            over.set()
    for other in others:
        other.result()  # raises what ended it
    left = {each.start for each in partitions.existing(Delivery)}
    gone = [each for each in before if each.start not in left]
    days = (gone[-1].end - begin) / timedelta(days=1) if gone else 1
    doubt = "" if gone else "no week was dropped"
    yield Row(
        f"Dropping a day of {a_day:,} deliveries, as many events and attempts, under load; all {days:.1f} days",
        "",
        milliseconds(took),
        took * 1000 / days,
        Goal(1000, 500, unit=" ms"),
        doubt=doubt,
        note="It reads what must be kept, and the file system frees the files. Neither holds a lock.",
    )
    yield Row(
        f"Longest claim, and longest event, while {len(gone)} weeks are dropped, of {DAYS} days of {a_day:,}",
        milliseconds(longest["claim"]),
        milliseconds(longest["event"]),
        max(longest.values()) * 1000,
        Goal(1000, 500, unit=" ms"),
        doubt=doubt,
    )
