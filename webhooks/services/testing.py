"""Sending `webhook.test`."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import orjson
from django.db import transaction
from django.utils import timezone

from common.ids import new_id
from common.transactions import forbid_transaction
from webhooks import catalogue, message, payloads, transport
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, Event, Webhook
from webhooks.transport import Exchange


@dataclass(frozen=True, slots=True)
class TestResult:
    """What came of a test. `error` is the class of the failure, None on success; `event_id` the delivery's id."""

    __test__ = False  # no test case of pytest's

    success: bool
    http_status: int | None
    duration_ms: int
    error: str | None
    event_id: UUID


def send_test(*, webhook: Webhook, now: datetime | None = None) -> TestResult:
    """Send `webhook.test` to the webhook now, once, and say what came of it. Takes up to ten seconds.

    Works on an inactive webhook and changes nothing about it. The test is written to the webhook's history
    only when it is over: a process that dies before leaves nothing that could be sent again.
    """
    forbid_transaction()
    now = now or timezone.now()
    event = Event(
        type=catalogue.WEBHOOK_TEST,
        business_id=webhook.installation.business_id,
        data=orjson.dumps(payloads.test_event(webhook)).decode(),
        occurred_at=now,
    )
    delivery_id = new_id()
    request = message.compose(
        event=event,
        delivery_id=delivery_id,
        webhook_id=webhook.id,
        url=webhook.url,
        secret=webhook.secret,
        now=now,
    )
    exchange = transport.send(request.url, headers=request.headers, body=request.body)
    _record(webhook, event, delivery_id, exchange, now)
    return TestResult(
        success=exchange.succeeded,
        http_status=exchange.status,
        duration_ms=exchange.duration_ms,
        error=exchange.error_class,
        event_id=delivery_id,
    )


@transaction.atomic
def _record(webhook: Webhook, event: Event, delivery_id: UUID, exchange: Exchange, now: datetime) -> None:
    event.save(force_insert=True)
    delivery = Delivery.objects.create(
        id=delivery_id,
        event=event,
        webhook=webhook,
        status=DeliveryStatus.SUCCEEDED if exchange.succeeded else DeliveryStatus.EXHAUSTED,
        due_at=None,
        attempts_made=1,
        attempt_count=1,
        created_at=now,
        finished_at=timezone.now(),
    )
    Attempt.objects.create(
        delivery=delivery,
        number=1,
        attempted_at=now,
        http_status=exchange.status,
        duration_ms=exchange.duration_ms,
        error_class=exchange.error_class or "",
        response_excerpt=message.excerpt(exchange.body),
    )
