"""Whether finding due deliveries costs more where many have been delivered before."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from django.db import connection, connections
from django.db.models import Model
from django.utils import timezone

from benchmarks import shops
from benchmarks.environment import database
from benchmarks.options import Options
from benchmarks.results import Goal, Row, milliseconds
from webhooks.engine import claims, planning
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, Event, Webhook

FEW = 10_000
AT_ONCE = 128
ENDPOINTS = 100


def claims_among_finished(options: Options) -> Iterator[Row]:
    """Claims in two databases by turns, one with many finished rows and one with few."""
    many = 100_000 if options.quick else 10_000_000 if options.full else 1_000_000
    rounds = 20 if options.quick else 100
    shops.forget_deliveries()
    webhooks = shops.endpoints([options.sink.url(f"instant/{n}") for n in range(ENDPOINTS)])
    with ExitStack() as stack:
        large = stack.enter_context(copied())
        for store, finished in ((connections["default"], FEW), (large, many)):
            with as_default(store):
                _add_finished(webhooks, finished)
                shops.add_due(webhooks, AT_ONCE * rounds + 10 * ENDPOINTS)
                tidied(Event, Delivery)
        with_few, with_many = by_turns([connections["default"], large], rounds)
    yield Row(
        f"Claim of {AT_ONCE} with {many:,} finished rows, to {FEW:,}",
        milliseconds(median(with_few)),
        milliseconds(median(with_many)),
        median(with_many) / median(with_few),
        Goal(1.2, 1.05),
        note="" if many >= 10_000_000 else "The goal is for 10,000,000 rows, which need --full.",
    )


@contextmanager
def copied() -> Iterator[Any]:
    """A connection to a copy of the run's database."""
    name = urlsplit(os.environ["DATABASE_URL"]).path[1:]
    connections.close_all()
    with database(f"{name}_large", template=name):
        store = connections["default"].copy()
        store.settings_dict = store.settings_dict | {"NAME": f"{name}_large"}
        try:
            yield store
        finally:
            store.close()


@contextmanager
def as_default(store: Any) -> Iterator[None]:
    """Let everything that asks for the database get this one."""
    before = connections["default"]
    connections["default"] = store
    try:
        yield
    finally:
        connections["default"] = before


def by_turns(stores: Sequence[Any], rounds: int) -> list[list[float]]:
    """The seconds of each claim, for each of the databases."""
    seconds: list[list[float]] = [[] for _ in stores]
    for turn in range(rounds):
        pairs = list(zip(stores, seconds, strict=True))
        for store, taken in reversed(pairs) if turn % 2 else pairs:  # neither is always the first
            with as_default(store):
                planning.by_index()  # as in a dispatcher's session
                taken.append(_timed_claim(warm=turn > 0))
    return seconds


def _timed_claim(*, warm: bool) -> float:
    now = timezone.now()
    began = time.perf_counter()
    claimed = claims.claim(AT_ONCE, now, slot=0)
    seconds = time.perf_counter() - began
    if warm and len(claimed) < AT_ONCE / 2:
        raise RuntimeError(f"Only {len(claimed)} of {AT_ONCE} could be claimed.")
    Delivery.objects.filter(id__in=[claim.delivery_id for claim in claimed]).update(
        status=DeliveryStatus.SUCCEEDED, due_at=None, lease_until=None, finished_at=now
    )
    return seconds


# Filling


def _add_finished(webhooks: Sequence[Webhook], count: int) -> None:
    """Delivered rows, with ids in the order of time like real ones, in one statement per table.

    Each event went to every webhook.
    """
    event = Event.objects.create(
        business_id=webhooks[0].installation.business_id,
        type=shops.EVENT_TYPE,
        data=shops.message_data(),
        occurred_at=timezone.now(),
    )
    delivery = Delivery.objects.create(
        event=event,
        webhook=webhooks[0],
        status=DeliveryStatus.SUCCEEDED,
        attempts_made=1,
        attempt_count=1,
        finished_at=timezone.now(),
    )
    events = f"generate_series(1, {count // len(webhooks)}) AS event"
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # no look-ups of foreign keys
        cursor.execute(repeated(event, events, {"id": _id("7001", "event")}))
        # Each webhook has its number beside it, so that a delivery's id follows from the two.
        cursor.execute(
            repeated(
                delivery,
                f"{events} CROSS JOIN (SELECT *, row_number() OVER () AS place FROM {Webhook._meta.db_table}"
                " WHERE id = ANY(%s)) AS webhook",
                {
                    "id": _id("7002", "event * 1000 + webhook.place"),
                    "event_id": _id("7001", "event"),
                    "webhook_id": "webhook.id",
                    "endpoint": "webhook.endpoint",
                },
            ),
            [[webhook.id for webhook in webhooks]],
        )
        cursor.execute("SET session_replication_role = origin")


def repeated(row: Model, source: str, changed: Mapping[str, str], *, key: str = "id") -> str:
    """Insert copies of a row, one for each row of `source`, with some columns changed. `key` is a column that finds it."""
    table = row._meta.db_table
    columns = [str(field.column) for field in row._meta.concrete_fields]
    values = ", ".join(changed.get(column, f"template.{column}") for column in columns)
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} "
        f"FROM {source} CROSS JOIN (SELECT * FROM {table} WHERE {key} = '{getattr(row, key)}') AS template"
    )


def _id(kind: str, expression: str) -> str:
    """SQL for a version 7 UUID of early 2024 that grows with the number."""
    return f"('018d0000-0000-{kind}-8000-' || lpad(to_hex({expression}), 12, '0'))::uuid"


def tidied(*models: type[Model]) -> None:
    """As autovacuum leaves tables that have stood for a while."""
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {', '.join(model._meta.db_table for model in models)}")
