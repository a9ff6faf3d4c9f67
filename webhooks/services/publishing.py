"""Writing down what happened, and who is to be told."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import transaction
from django.utils import timezone

from accounts.models import Business
from installations.models import Installation
from webhooks.kick import kick
from webhooks.models import Delivery, Event, Webhook
from webhooks.queries import may_learn_of


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
    now = now or timezone.now()
    event = Event(business=business, type=event_type, data=orjson.dumps(data).decode(), occurred_at=now)
    with transaction.atomic():
        event.save(force_insert=True)
        Delivery.objects.bulk_create(
            Delivery(event=event, webhook_id=webhook_id, endpoint=endpoint, due_at=now, created_at=now)
            for webhook_id, endpoint in listeners
        )
        transaction.on_commit(kick, robust=True)
    return event


def _listeners(business: Business, event_type: str) -> list[tuple[UUID, int]]:
    """The webhooks that named the event, are switched on, and whose app may learn of it, with their endpoints."""
    named = [
        (webhook_id, endpoint, installation_id)
        for webhook_id, endpoint, installation_id, events in Webhook.objects.kept()
        .filter(is_active=True, installation__business=business, installation__uninstalled_at=None)
        .values_list("id", "endpoint", "installation_id", "events")
        if event_type in events
    ]
    if not named:
        return []
    told = _may_learn_of({installation_id for *_, installation_id in named}, event_type)
    return [
        (webhook_id, endpoint) for webhook_id, endpoint, installation_id in named if installation_id in told
    ]


def _may_learn_of(installation_ids: Iterable[UUID], event_type: str) -> set[UUID]:
    installations = Installation.objects.with_app().defer("webhook_secret").filter(id__in=installation_ids)
    return {each.id for each in installations if may_learn_of(each, event_type)}
