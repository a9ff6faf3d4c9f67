"""Short names for what most tests of deliveries do."""

import hashlib
import hmac
from datetime import UTC, datetime
from typing import Any

from django.db import connection
from django.db.models import Max

from accounts.models import Business
from common.secrets import new_webhook_secret
from installations.models import Installation
from tests.receivers import ReceivedRequest
from tests.waiting import wait_until as wait_until
from webhooks import catalogue
from webhooks.engine import claims
from webhooks.engine.claims import Claim
from webhooks.engine.dispatcher import Dispatcher
from webhooks.enums import ErasureState, Pace
from webhooks.feed import current_horizon
from webhooks.models import Delivery, DispatcherSlot, Endpoint, Erasure, Event, Webhook
from webhooks.services.publishing import publish as publish_event


def webhook(installation: Installation, url: str, events: list[str], **fields: Any) -> Webhook:
    """A row, made plainly: no check of the URL or the number."""
    secret = new_webhook_secret(test=installation.is_test)
    return Webhook.objects.create(
        installation=installation, **{"url": url, "events": events, "secret": secret, **fields}
    )


def prove(*webhooks: Webhook) -> None:
    """Have them known for answering quickly, so that their host's share of attempts doesn't hold them back."""
    numbers = {webhook.endpoint for webhook in webhooks}
    Endpoint.objects.bulk_create(Endpoint(id=number, pace=Pace.PROVEN) for number in numbers)


def publish(business: Business, event_type: str = "order.created", **options: Any) -> Event | None:
    """An event with the catalog's example as its data."""
    return publish_event(
        business_id=business.pk, event_type=event_type, data=catalogue.EVENTS[event_type].example, **options
    )


def published(business: Business, event_type: str = "order.created", **options: Any) -> Delivery:
    """The one delivery of a fresh event."""
    event = publish(business, event_type, **options)
    assert event is not None
    return event.deliveries.get()


def add_copies(delivery: Delivery, count: int) -> None:
    """Add rows like this one. Their ids differ in the last 48 bits."""
    columns = [field.column for field in Delivery._meta.fields if not field.primary_key]
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO webhooks_delivery (id, {", ".join(columns)})
            SELECT overlay(id::text PLACING lpad(to_hex(number), 12, '0') FROM 25)::uuid, {", ".join(columns)}
            FROM webhooks_delivery CROSS JOIN generate_series(1, %s) AS number WHERE id = %s
            """,  # noqa: S608
            [count, delivery.pk],
        )


def claim(limit: int, now: datetime) -> list[Claim]:
    """Leases of a dispatcher that lives as long as the test."""
    slot = DispatcherSlot.objects.create(seen_at=datetime(2100, 1, 1, tzinfo=UTC), is_claiming=False)
    return claims.claim(limit, now, slot.pk)


def drain() -> int:
    """Send what is due now; the number of attempts."""
    return Dispatcher().run(idle=0.0)


def wait_for_feed() -> None:
    """Until the feed shows all events: once all transactions on the server have ended that ran when they were written.

    Among them are those of other tests, which on a slow machine take minutes.
    """
    newest = Event.objects.aggregate(newest=Max("position"))["newest"] or 0
    wait_until(lambda: current_horizon() > newest, timeout=240)


def is_signed(request: ReceivedRequest, secret: str) -> bool:
    """The check that the specification tells receivers to make, written from its text."""
    signed = request.headers["x-webhook-timestamp"].encode() + b"." + request.body
    expected = "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, request.headers["x-webhook-signature"])


def erasure_state(installation: Installation) -> ErasureState | None:
    """None while the app is installed."""
    state = Erasure.objects.filter(installation=installation).values_list("state", flat=True).first()
    return ErasureState(state) if state else None
