"""The webhooks that the bakery's orders of the month caused: with a bad hour, and an endpoint that was broken and then fixed."""

import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import orjson

from common.ids import id_at, id_from
from config.demo.history.story import DAYS, SEED, bad_hour, broken
from installations.models import Installation
from stores.enums import OrderStatus
from stores.models import Order
from webhooks.engine.retry import delays
from webhooks.enums import DeliveryStatus
from webhooks.messages import payloads
from webhooks.models import Attempt, Delivery, Event, Webhook

# What an endpoint may come to: status, class of the error, response, milliseconds at least and at most.
Outcome = tuple[int | None, str, str, int, int]
OK: Final[Outcome] = (200, "", '{"received": true}', 18, 95)
SLOW: Final[Outcome] = (200, "", '{"received": true}', 1900, 7400)
LATE: Final[Outcome] = (None, "timeout_response", "", 10_001, 10_006)
ERROR: Final[Outcome] = (500, "http_5xx", "KeyError: 'deliveryMethod'", 25, 140)


class MadeUpEvent(NamedTuple):
    type: str
    at: datetime
    data: dict[str, Any]


def deliver(*, installation: Installation, now: datetime) -> None:
    """As the dispatcher would have recorded it. Nothing waits, so nothing is sent."""
    webhook = Webhook.objects.kept().filter(installation=installation).first()
    if webhook is None:  # the platform may not send to this machine
        return
    chance = random.Random(SEED)  # noqa: S311  nothing here is secret
    since = installation.installed_at
    orders = Order.objects.filter(
        business=installation.business, created_at__gte=max(since, now - timedelta(DAYS))
    )
    messages = [each for order in orders.order_by("id") for each in _messages(order, chance, now)]
    events = [
        Event(id=id_at(each.at), business=installation.business, type=each.type, occurred_at=each.at,
              data=orjson.dumps(each.data).decode())
        for each in messages
    ]  # fmt: skip
    deliveries, attempts = [], []
    for event in events:
        outcomes = list(_outcomes(event.occurred_at, chance, now))
        deliveries.append(_delivery(event, webhook, installation, outcomes))
        attempts += outcomes
    Event.objects.bulk_create(events)
    Delivery.objects.bulk_create(deliveries)
    Attempt.objects.bulk_create(attempts)


def _messages(order: Order, chance: random.Random, now: datetime) -> Iterator[MadeUpEvent]:
    yield MadeUpEvent("order.created", order.created_at, payloads.order_created(order))
    at, previous = order.created_at, OrderStatus.PENDING
    for status in _ways(order):
        at += timedelta(minutes=chance.uniform(3, 35))
        if at >= now:
            return
        order.status = status
        moved = payloads.order_moved(order, previous, at)
        yield MadeUpEvent("order.status_changed", at, moved)
        if status == OrderStatus.DELIVERED:
            yield MadeUpEvent("order.delivered", at, moved)
        previous = status


def _ways(order: Order) -> Sequence[OrderStatus]:
    """The steps that the bakery took, at most two for an order that is done."""
    if order.status == OrderStatus.DELIVERED:
        return (OrderStatus.CONFIRMED, OrderStatus.DELIVERED)
    return () if order.status == OrderStatus.PENDING else (OrderStatus(order.status),)


def _outcomes(at: datetime, chance: random.Random, now: datetime) -> Iterator[Attempt]:
    """The attempts of a delivery until one succeeds, or the schedule ends."""
    times = [at]
    for delay in delays():
        times.append(times[-1] + delay)
    for number, moment in enumerate(times, start=1):
        status, error, excerpt, least, most = _outcome(moment, chance, now)
        yield Attempt(
            number=number, attempted_at=moment + timedelta(milliseconds=120), http_status=status, error_class=error,
            response_excerpt=excerpt, duration_ms=chance.randint(least, most),
        )  # fmt: skip
        if status == OK[0]:
            return


def _outcome(at: datetime, chance: random.Random, now: datetime) -> Outcome:
    if at in broken(now):
        return ERROR
    if at in bad_hour(now):
        return chance.choice((LATE, LATE, SLOW))
    return OK


def _delivery(
    event: Event, webhook: Webhook, installation: Installation, attempts: Sequence[Attempt]
) -> Delivery:
    last = attempts[-1]
    id_ = id_from(event.id, webhook.pk)
    for attempt in attempts:
        attempt.delivery_id = id_
    return Delivery(
        id=id_, event=event, webhook=webhook, app_id=installation.app_id, business_id=installation.business_id,
        event_type=event.type, attempts_made=len(attempts), attempt_count=len(attempts),
        status=DeliveryStatus.SUCCEEDED if last.http_status == OK[0] else DeliveryStatus.EXHAUSTED,
        created_at=event.occurred_at, finished_at=last.attempted_at,
    )  # fmt: skip
