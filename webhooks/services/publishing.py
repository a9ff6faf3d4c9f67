"""Writing events, and a delivery for each webhook that gets them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

import orjson
from django.db import connection, transaction
from django.db.models import UUIDField
from django.utils import timezone

from accounts.models import Business
from common.db.compiled import Compiled, Param
from common.db.inserts import insert
from common.ids import id_from
from installations.models import Installation
from webhooks.enums import DeliveryStatus, HeldReason
from webhooks.models import Delivery, Event, Webhook
from webhooks.positions import Horizon, Position
from webhooks.queries import learning_of, naming


# Without a savepoint: if the event can't be written, the change that caused it must roll back too.
@transaction.atomic(savepoint=False)
def publish(
    *, business: Business, event_type: str, data: dict[str, Any], now: datetime | None = None
) -> Event | None:
    """Write an event for the feed, and its deliveries, to be sent once the transaction around has committed.

    Returns the event, or None where no installed app may learn of it: nothing is written then. `data` is made text here,
    once, and sent so to all. Four statements at most, however many apps and webhooks there are; one more if an app that
    gets it is paused.
    """
    if not _learning(event_type, "business").rows(limit=1, of=business.pk):
        return None
    event = Event(business=business, type=event_type)
    return _write(event, data, _listeners(event_type, "business", business.pk), now or timezone.now())


@transaction.atomic(savepoint=False)
def publish_to(
    *, installation: Installation, event_type: str, data: dict[str, Any], now: datetime | None = None
) -> tuple[Event, int]:
    """Write an event that one installation alone sees. Returns it and the number of its deliveries.

    The rules are those of every event: a webhook named it, is switched on, and its app holds the scope. Without such a
    webhook the event is written all the same.
    """
    listeners = _listeners(event_type, "pk", installation.pk)
    event = Event(business=installation.business, type=event_type, installation=installation)
    return _write(event, data, listeners, now or timezone.now()), len(listeners)


@dataclass(frozen=True, slots=True)
class _Listener:
    webhook_id: UUID
    app_id: UUID
    endpoint: int
    held: HeldReason | None  # why the delivery is held; None: it is sent


def _write(event: Event, data: dict[str, Any], listeners: Sequence[_Listener], now: datetime) -> Event:
    event.data, event.occurred_at = orjson.dumps(data).decode(), now
    event.position, event.horizon = Position(), Horizon()
    insert(event)
    if listeners:
        _write_deliveries(event, listeners, now)
    return event


# With a thousand listeners `bulk_create` takes four times as long, mostly to create the rows in Python.
_INSERT = """
INSERT INTO webhooks_delivery
    (id, event_id, event_type, webhook_id, app_id, business_id, endpoint, status, held_reason, due_at,
    attempts_made, attempt_count, fence, created_at)
SELECT id, %(event)s, %(type)s, webhook, app, %(business)s, endpoint,
    CASE WHEN held IS NULL THEN 'PENDING' ELSE 'HELD' END, COALESCE(held, ''),
    CASE WHEN held IS NULL THEN %(now)s END, 0, 0, 0, %(now)s
FROM unnest(%(ids)s::uuid[], %(webhooks)s::uuid[], %(apps)s::uuid[], %(endpoints)s::bigint[], %(held)s::text[])
    AS listener (id, webhook, app, endpoint, held)
"""


def _write_deliveries(event: Event, listeners: Sequence[_Listener], now: datetime) -> None:
    if connection.vendor != "postgresql":
        Delivery.objects.bulk_create(_delivery(event, listener, now) for listener in listeners)
        return
    values: dict[str, Any] = {
        "event": event.id,
        "type": event.type,
        "business": event.business_id,
        "now": now,
        "ids": [id_from(event.id, listener.webhook_id) for listener in listeners],
        "webhooks": [listener.webhook_id for listener in listeners],
        "apps": [listener.app_id for listener in listeners],
        "endpoints": [listener.endpoint for listener in listeners],
        "held": [listener.held for listener in listeners],
    }
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, values)


def _delivery(event: Event, listener: _Listener, now: datetime) -> Delivery:
    return Delivery(
        event=event,
        webhook_id=listener.webhook_id,
        app_id=listener.app_id,
        business_id=event.business_id,
        event_type=event.type,
        endpoint=listener.endpoint,
        status=DeliveryStatus.PENDING if listener.held is None else DeliveryStatus.HELD,
        held_reason=listener.held or HeldReason.DISABLED,
        due_at=now if listener.held is None else None,
        created_at=now,
    )


@cache
def _learning(event_type: str, column: str) -> Compiled[Any]:
    """The installations whose app may learn of the event, those of which `column` is the value `of`."""
    of = Installation.objects.filter(**{column: Param("of", UUIDField())})
    return Compiled(lambda: learning_of(event_type, of).order_by().values_list("pk"))


@cache
def _webhooks(event_type: str, column: str) -> Compiled[Any]:
    """Their webhooks that get the event and are not switched off by the app."""
    of = Installation.objects.filter(**{column: Param("of", UUIDField())})
    rows = Webhook.objects.kept().receiving().filter(installation__in=learning_of(event_type, of))
    columns = (
        "id",
        "installation__app_id",
        "endpoint",
        "is_active",
        "installation_id",
        "installation__paused_at",
    )
    return Compiled(lambda: naming(event_type, rows).order_by().values_list(*columns))


def _listeners(event_type: str, column: str, of: UUID) -> list[_Listener]:
    rows = _webhooks(event_type, column).rows(of=of)
    paused = _paused({row[4] for row in rows if row[5] is not None})
    return [
        _Listener(webhook_id, app_id, endpoint, _reason_to_hold(is_active, installation_id in paused))
        for webhook_id, app_id, endpoint, is_active, installation_id, _ in rows
    ]


def _reason_to_hold(is_active: bool, is_paused: bool) -> HeldReason | None:
    if not is_active:
        return HeldReason.DISABLED
    return HeldReason.PAUSED if is_paused else None


def _paused(seen: Collection[UUID]) -> set[UUID]:
    """Those that are paused, locked until the end of the transaction: a resume finds what is held for them."""
    if not seen:
        return set()
    rows = Installation.objects.filter(pk__in=seen).order_by("pk").select_for_update(no_key=True)
    return {pk for pk, paused_at in rows.values_list("pk", "paused_at") if paused_at is not None}
