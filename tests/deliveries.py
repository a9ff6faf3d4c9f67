"""Deliveries in every state, written as if the dispatcher had made them; nothing is sent."""

from datetime import datetime, timedelta
from typing import Any

import orjson
from django.utils import timezone

from common.ids import id_at
from installations.models import Installation
from tests.webhooks import helpers
from webhooks import catalogue
from webhooks.engine.retry import delays
from webhooks.enums import WAITING, DeliveryStatus
from webhooks.models import Attempt, Delivery, Event, Webhook

# What an attempt came to: status, class of the error, milliseconds, first part of the answer.
Outcome = tuple[int | None, str, int, str]
OK: Outcome = (200, "", 38, '{"received": true}')
UNAUTHORIZED: Outcome = (401, "http_4xx", 41, '{"error": "signature mismatch"}')
TIMEOUT: Outcome = (None, "timeout_response", 10_003, "")
REFUSED: Outcome = (None, "refused", 3, "")
UNAVAILABLE: Outcome = (503, "http_5xx", 812, "<html><b>Service Unavailable</b></html>")
TLS: Outcome = (None, "tls", 57, "")


def delivery(
    webhook: Webhook,
    status: DeliveryStatus = DeliveryStatus.SUCCEEDED,
    *outcomes: Outcome,
    event_type: str = "order.created",
    created_at: datetime | None = None,
    **fields: Any,
) -> Delivery:
    """A delivery whose attempts, at the times of the schedule, came to `outcomes`."""
    made_at = created_at or timezone.now()
    data = fields.pop("data", None) or catalogue.EVENTS[event_type].example
    event = Event.objects.create(
        business=webhook.installation.business,
        type=event_type,
        data=orjson.dumps(data).decode(),
        occurred_at=made_at,
        id=id_at(made_at),
    )
    waits = [timedelta(0), *delays()]
    times = [made_at + sum(waits[: n + 1], timedelta(0)) for n in range(len(outcomes) + 1)]
    values = {
        "attempts_made": len(outcomes),
        "attempt_count": len(outcomes),
        "due_at": times[-1] if status in WAITING else None,
        "finished_at": times[max(len(outcomes) - 1, 0)] if status not in WAITING else None,
        "created_at": made_at,
    }
    made = Delivery.objects.create(event=event, webhook=webhook, status=status, **(values | fields))
    for number, (outcome, at) in enumerate(zip(outcomes, times, strict=False), start=1):
        http_status, error_class, duration_ms, excerpt = outcome
        Attempt.objects.create(
            delivery=made,
            number=number,
            attempted_at=at,
            http_status=http_status,
            error_class=error_class,
            duration_ms=duration_ms,
            response_excerpt=excerpt,
        )
    return made


def one_of_each(installation: Installation, now: datetime | None = None) -> dict[str, Any]:
    """Endpoints and deliveries in each state that the pages know, by name."""
    now = now or timezone.now()
    events = ["order.created", "order.status_changed", "product.low_stock"]
    good = helpers.webhook(
        installation, "https://api.example.com/webhooks", events, description="Stars for orders"
    )
    long_url = (
        "https://a-rather-long-host-name.integrations.example.com/hooks/" + "v2/" * 30 + "?tenant=harbour"
    )
    failing = helpers.webhook(
        installation, long_url, list(catalogue.SUBSCRIBABLE), failing_since=now - timedelta(hours=30)
    )
    off = helpers.webhook(
        installation,
        "https://old.example.com/",
        ["order.created"],
        is_active=False,
        disabled_at=now - timedelta(hours=3),
        disabled_reason="No delivery has succeeded for 72 hours. At least 3 deliveries and 20 attempts failed in "
        "that time.",
    )
    paused = helpers.webhook(
        installation, "https://paused.example.com/in", ["order.created"], is_active=False
    )

    def ago(**time: float) -> datetime:
        return now - timedelta(**time)

    status = DeliveryStatus
    made = {
        "delivered": delivery(good, status.SUCCEEDED, OK, created_at=ago(minutes=1)),
        "recovered": delivery(
            good, status.SUCCEEDED, TIMEOUT, UNAVAILABLE, OK, created_at=ago(hours=2),
            event_type="order.status_changed",
        ),
        "failing": delivery(
            failing, status.RETRYING, UNAUTHORIZED, UNAUTHORIZED, created_at=ago(minutes=1, seconds=20)
        ),
        "failed": delivery(
            failing, status.EXHAUSTED, *[UNAVAILABLE] * 3, *[REFUSED] * 2, TIMEOUT, created_at=ago(hours=20),
            event_type="product.low_stock",
        ),
        "tls": delivery(failing, status.RETRYING, TLS, created_at=ago(seconds=20)),
        "waiting": delivery(good, status.PENDING, created_at=ago(seconds=1)),
        "held": delivery(off, status.HELD, REFUSED, created_at=ago(hours=2, minutes=30)),
        "cancelled": delivery(paused, status.CANCELLED, created_at=ago(hours=5)),
        "test": delivery(good, status.SUCCEEDED, OK, event_type="webhook.test", created_at=ago(days=3)),
    }  # fmt: skip
    return {"good": good, "failing_webhook": failing, "off": off, "paused": paused, **made}
