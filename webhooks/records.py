"""The shapes of webhooks on the wire (contract section 5)."""

from typing import Any

from common.times import iso, iso_or_none
from installations.models import Installation
from webhooks import catalogue
from webhooks.enums import WAITING
from webhooks.models import Attempt, Delivery, Webhook
from webhooks.queries import events_of


def webhook_record(webhook: Webhook, installation: Installation) -> dict[str, Any]:
    """A webhook on the wire. Never holds the secret: only the answer to its creation adds that.

    `installation` is the webhook's, read by `Installation.objects.with_app()`.
    """
    events = events_of(webhook, installation)
    return {
        "id": str(webhook.id),
        "url": webhook.url,
        "events": events,
        "description": webhook.description or None,
        "isActive": webhook.is_active,
        "isAppDefined": webhook.is_app_defined,
        "eventsWithoutScope": catalogue.without_scope(events, installation.effective_scopes),
        "disabledReason": webhook.disabled_reason or None,
        "disabledAt": iso_or_none(webhook.disabled_at),
        "createdAt": iso(webhook.created_at),
    }


def delivery_record(delivery: Delivery) -> dict[str, Any]:
    """A delivery in a list (contract section 9, "Deliveries on the wire"). Reads its event's type, and the
    installation of its webhook."""
    waits = delivery.status in WAITING
    return {
        "id": str(delivery.id),
        "eventId": str(delivery.event_id),
        "event": delivery.event.type,
        "webhookId": str(delivery.webhook_id),
        "installationId": str(delivery.webhook.installation_id),
        "status": delivery.status,
        "createdAt": iso(delivery.created_at),
        "nextAttemptAt": iso_or_none(delivery.due_at) if waits else None,
        "attemptCount": delivery.attempt_count,
    }


def delivery_with_attempts(delivery: Delivery) -> dict[str, Any]:
    """One delivery, with `attempts` in the place of their number, the first one first."""
    record = delivery_record(delivery)
    del record["attemptCount"]
    attempts = delivery.attempts.order_by("number")
    return record | {"attempts": [attempt_record(attempt) for attempt in attempts]}


def attempt_record(attempt: Attempt) -> dict[str, Any]:
    """`errorClass` is null for a success, `httpStatus` and `responseExcerpt` where no answer came."""
    return {
        "number": attempt.number,
        "attemptedAt": iso(attempt.attempted_at),
        "httpStatus": attempt.http_status,
        "durationMs": attempt.duration_ms,
        "errorClass": attempt.error_class or None,
        "responseExcerpt": None if attempt.http_status is None else attempt.response_excerpt,
    }
