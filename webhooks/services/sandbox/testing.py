"""Sends `webhook.test`.

A caller waits for it, so an app has at most two such calls under way, in all processes together.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import orjson
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone
from redis import RedisError

from common import strangers
from common.db.transactions import forbid_transaction
from common.errors import TooManyRequests
from common.http import transport
from common.http.exchanges import Exchange
from common.ids import id_from
from marketplace.services.locks import require_not_suspended
from webhooks import catalogue
from webhooks.enums import DeliveryStatus
from webhooks.feed import Position, current_horizon
from webhooks.messages import message, payloads
from webhooks.models import Attempt, Delivery, Event, Webhook
from webhooks.queries import SUSPENDED

AT_ONCE: Final = 2
FORGOTTEN_AFTER: Final = 15  # seconds; a call takes ten at most, unless its process dies
TOO_MANY: Final = f"{AT_ONCE} test calls of this app are under way. Wait until one of them has ended."


@dataclass(frozen=True, slots=True)
class TestResult:
    """The outcome of a test. `error` is the error class, None on success; `event_id` is the delivery's id."""

    __test__ = False  # not a test case for pytest

    success: bool
    http_status: int | None
    duration_ms: int
    error: str | None
    event_id: UUID


def send_test(*, webhook: Webhook, now: datetime | None = None) -> TestResult:
    """Send `webhook.test` to the webhook once, now. Takes up to ten seconds.

    Works for an inactive webhook too, and doesn't change it. The test is added to the webhook's history when it is
    over, so a process that dies earlier leaves no delivery to retry. Raises `Conflict` for a suspended app,
    `TooManyRequests` for a third call at once, and `strangers.NoPlace`, after which nothing is recorded.
    """
    forbid_transaction()
    require_not_suspended(webhook.installation.app, SUSPENDED)
    strangers.enter(webhook.installation.app_id)
    now = now or timezone.now()
    event = Event(
        type=catalogue.WEBHOOK_TEST,
        business_id=webhook.installation.business_id,
        data=orjson.dumps(payloads.test_event(webhook)).decode(),
        occurred_at=now,
        position=Position(),
        horizon=current_horizon(),
    )
    delivery_id = id_from(event.id, webhook.id)
    request = message.compose(
        event=event,
        delivery_id=delivery_id,
        webhook_id=webhook.id,
        url=webhook.url,
        secret=webhook.secret,
        now=now,
    )
    with _one_of_few(webhook.installation.app_id) as app_id:
        exchange = transport.send(request.url, app_id, headers=request.headers, body=request.body)
    _record(webhook, event, delivery_id, exchange, now)
    return TestResult(
        success=exchange.succeeded,
        http_status=exchange.status,
        duration_ms=exchange.duration_ms,
        error=exchange.error_class,
        event_id=delivery_id,
    )


@contextmanager
def _one_of_few(app_id: UUID) -> Iterator[UUID]:
    """While the cache is unavailable, any number passes."""
    keys = [f"webhook-test:{app_id}:{number}" for number in range(AT_ONCE)]
    try:
        taken = next((key for key in keys if cache.add(key, 1, FORGOTTEN_AFTER)), None)
    except RedisError:
        yield app_id
        return
    if taken is None:
        raise TooManyRequests(TOO_MANY, retry_after=FORGOTTEN_AFTER, code="too_many_tests")
    try:
        yield app_id
    finally:
        with suppress(RedisError):  # it is forgotten all the same
            cache.delete(taken)


@transaction.atomic
def _record(webhook: Webhook, event: Event, delivery_id: UUID, exchange: Exchange, now: datetime) -> None:
    event.save(force_insert=True)
    delivery = Delivery.objects.create(
        id=delivery_id,
        event=event,
        webhook=webhook,
        app_id=webhook.installation.app_id,
        business_id=event.business_id,
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
