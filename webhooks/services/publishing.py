"""Writing down what happened, and who is to be told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Business
from common.ids import new_id
from installations.models import Installation
from webhooks.enums import DeliveryStatus
from webhooks.kick import kick
from webhooks.models import Delivery, Event, Webhook
from webhooks.queries import events_of_app, may_learn_of


def publish(
    *, business: Business, event_type: str, data: dict[str, Any], now: datetime | None = None
) -> Event | None:
    """Write an event and its deliveries, to be sent once the transaction around has committed.

    Returns the event, or None when nobody listens: nothing is written then. `data` is made text here, once,
    and sent so to all. Four statements at most, however many listen.
    """
    listeners = _listeners(business, event_type)
    if not listeners:
        return None
    return _write(business, event_type, data, listeners, now or timezone.now())


def publish_to(
    *, installation: Installation, event_type: str, data: dict[str, Any], now: datetime | None = None
) -> tuple[Event, int]:
    """Write an event for the webhooks of one installation alone. Returns it and the number of its deliveries.

    What goes for every event goes here too: who named it, is switched on, and holds the scope. The event is
    written even where that is nobody, so that its id is one.
    """
    listeners = _listeners(installation.business, event_type, installation)
    event = _write(installation.business, event_type, data, listeners, now or timezone.now())
    return event, len(listeners)


@dataclass(frozen=True, slots=True)
class _Listener:
    webhook_id: UUID
    endpoint: int
    installation_id: UUID
    events: list[str]
    holds: bool  # it was disabled automatically: kept for it, and not sent


def _write(
    business: Business, event_type: str, data: dict[str, Any], listeners: Sequence[_Listener], now: datetime
) -> Event:
    event = Event(business=business, type=event_type, data=orjson.dumps(data).decode(), occurred_at=now)
    # Without a savepoint: an event that can't be written must not leave the change that caused it standing.
    with transaction.atomic(savepoint=False):
        event.save(force_insert=True)
        if listeners:
            _write_deliveries(event, listeners, now)
            transaction.on_commit(kick, robust=True)
    return event


# What `bulk_create` does takes four times as long where a thousand listen, most of it for making the rows in Python.
_INSERT = """
INSERT INTO webhooks_delivery
    (id, event_id, webhook_id, endpoint, status, due_at, attempts_made, attempt_count, fence, created_at)
SELECT id, %(event)s, webhook, endpoint, CASE WHEN holds THEN 'HELD' ELSE 'PENDING' END,
    CASE WHEN NOT holds THEN %(now)s END, 0, 0, 0, %(now)s
FROM unnest(%(ids)s::uuid[], %(webhooks)s::uuid[], %(endpoints)s::bigint[], %(holds)s::boolean[])
    AS listener (id, webhook, endpoint, holds)
"""


def _write_deliveries(event: Event, listeners: Sequence[_Listener], now: datetime) -> None:
    if connection.vendor != "postgresql":
        Delivery.objects.bulk_create(_delivery(event, listener, now) for listener in listeners)
        return
    values: dict[str, Any] = {
        "event": event.id,
        "now": now,
        "ids": [new_id() for _ in listeners],
        "webhooks": [listener.webhook_id for listener in listeners],
        "endpoints": [listener.endpoint for listener in listeners],
        "holds": [listener.holds for listener in listeners],
    }
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, values)


def _delivery(event: Event, listener: _Listener, now: datetime) -> Delivery:
    return Delivery(
        event=event,
        webhook_id=listener.webhook_id,
        endpoint=listener.endpoint,
        status=DeliveryStatus.HELD if listener.holds else DeliveryStatus.PENDING,
        due_at=None if listener.holds else now,
        created_at=now,
    )


def _listeners(business: Business, event_type: str, only: Installation | None = None) -> list[_Listener]:
    """The webhooks that named the event, are not switched off by the app, and whose app may learn of it."""
    named = _naming(business, event_type, only)
    if not named:
        return []
    told = _told({each.installation_id for each in named}, event_type)
    return [
        each for each in named if each.installation_id in told and (each.events or told[each.installation_id])
    ]


def _naming(business: Business, event_type: str, only: Installation | None) -> list[_Listener]:
    """Those whose own list has the event, and those that go by their app's list."""
    rows = Webhook.objects.kept().receiving().filter(installation__uninstalled_at=None)
    rows = rows.filter(installation=only) if only else rows.filter(installation__business=business)
    columns = rows.values_list("id", "endpoint", "installation_id", "events", "is_active")
    return [
        _Listener(webhook_id, endpoint, installation_id, events, holds=not is_active)
        for webhook_id, endpoint, installation_id, events, is_active in columns
        if not events or event_type in events
    ]


def _told(installation_ids: Iterable[UUID], event_type: str) -> dict[UUID, bool]:
    """The installations whose app may learn of the event; the value says whether the app's own list has it."""
    installations = Installation.objects.with_terms().filter(id__in=installation_ids)
    return {
        each.id: event_type in events_of_app(each) for each in installations if may_learn_of(each, event_type)
    }
