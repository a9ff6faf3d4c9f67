"""Committing one event for one webhook, and the time just before the commit."""

import time
from typing import Any

from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone

from benchmarks import shops
from common.ids import new_id
from webhooks.models import Delivery, Event, Webhook
from webhooks.services import publishing

Committed = tuple[str, float]  # the event's id, and seconds of `time.monotonic`


def publish(webhook: Webhook) -> Committed:
    """As the product does, when something happens to the webhook's business."""
    with transaction.atomic():
        event = publishing.publish(
            business_id=webhook.installation.business_id, event_type=shops.EVENT_TYPE, data=shops.DATA
        )
        assert event
        return str(event.id), time.monotonic()


def insert(webhook: Webhook) -> Committed:
    """The rows that `publish` would write, in one statement that commits by itself."""
    now = timezone.now()
    event = Event(
        business_id=webhook.installation.business_id,
        type=shops.EVENT_TYPE,
        data=shops.message_data(),
        occurred_at=now,
    )
    delivery = Delivery(event=event, webhook=webhook, due_at=now, created_at=now)
    delivery.id = delivery.find_id()
    written, values = _insert(event)
    also_written, more_values = _insert(delivery)
    with connection.cursor() as cursor:
        at = time.monotonic()
        cursor.execute(f"WITH event AS ({written}) {also_written}", [*values, *more_values])
    return str(event.id), at


def warm_up() -> None:
    """Connect, and publish an event without listeners."""
    publishing.publish(business_id=new_id(), event_type=shops.EVENT_TYPE, data=shops.DATA)


def _insert(row: Model) -> tuple[str, list[Any]]:
    fields = row._meta.concrete_fields
    columns = ", ".join(str(field.column) for field in fields)
    places = ", ".join("%s" for _ in fields)
    values = [field.get_db_prep_save(field.pre_save(row, True), connection) for field in fields]
    return f"INSERT INTO {row._meta.db_table} ({columns}) VALUES ({places})", values
