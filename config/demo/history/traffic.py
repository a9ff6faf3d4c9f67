"""What went over the wire: the webhooks of the bakery's orders of the month, with a bad hour, and an endpoint that was broken and then
fixed; the sample app's calls of the API in the last week, and the month in which it was asked at checkout.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import orjson

from activity.models import ApiCall, ScopeUse, StoreScopeUse
from activity.services.retention import KEPT
from common.ids import id_at, id_from
from config.demo.history.orders import METHOD
from config.demo.history.story import DAYS, SEED, bad_hour, broken
from extensions.enums import CallOutcome, ExtensionType
from extensions.hooks.handlers import METHODS_LEFT_OUT, NO_DISCOUNT, NOT_CHECKED, STORES_FEE
from extensions.models import Definition, HookCall
from installations.limits import REQUESTS_A_MINUTE
from installations.models import Installation
from stores.enums import DeliveryMethod, OrderStatus
from stores.hookpoints import HookPoint
from stores.models import Order
from stores.queries import whole_orders
from stores.records import OrderRecord
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
    orders = whole_orders().filter(
        business=installation.business, created_at__gte=max(since, now - timedelta(DAYS))
    )
    records = map(OrderRecord.of, orders.order_by("id"))
    messages = [each for order in records for each in _messages(order, chance, now)]
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


def _messages(order: OrderRecord, chance: random.Random, now: datetime) -> Iterator[MadeUpEvent]:
    yield MadeUpEvent("order.created", order.created_at, payloads.order_created(order))
    at, previous = order.created_at, OrderStatus.PENDING
    for status in _ways(order):
        at += timedelta(minutes=chance.uniform(3, 35))
        if at >= now:
            return
        moved = payloads.order_moved(order._replace(status=status), previous, at)
        yield MadeUpEvent("order.status_changed", at, moved)
        if status == OrderStatus.DELIVERED:
            yield MadeUpEvent("order.delivered", at, moved)
        previous = status


def _ways(order: OrderRecord) -> Sequence[OrderStatus]:
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


# --- Calls of the API and at checkout ----------------------------------------------------------------

BATCH: Final = 500


class MadeUpCall(NamedTuple):
    method: str
    route: str
    scope: str
    status: int = 200
    code: str = ""
    message: str = ""


ORDER: Final = MadeUpCall("GET", "/app-api/orders/{order_id}", "read_orders")
MOVED: Final = MadeUpCall("PATCH", "/app-api/orders/{order_id}/status", "write_orders")
PRODUCTS: Final = MadeUpCall("GET", "/app-api/products", "read_products")
GONE: Final = ORDER._replace(status=404, code="not_found", message="Order not found")
TOO_LATE: Final = MOVED._replace(
    status=409, code="order_cannot_move", message="A delivered order can't change its status."
)
TOO_MANY: Final = PRODUCTS._replace(
    status=429, code="rate_limited", message="Too many requests. Wait until the window ends."
)


def log_calls(*, installation: Installation, now: datetime) -> None:
    """Rows of the logs that the portal shows, and the use of scopes by the day."""
    chance = random.Random(SEED)  # noqa: S311  nothing here is secret
    recent = Order.objects.filter(business=installation.business, created_at__gte=now - timedelta(DAYS))
    orders = list(recent.order_by("id"))
    calls = [(at, call, order) for order in orders for at, call in _calls_about(order, chance) if at < now]
    used = Counter(
        (at.astimezone(UTC).date(), call.scope, f"{call.method} {call.route}") for at, call, _ in calls
    )
    ScopeUse.objects.bulk_create(
        ScopeUse(app=installation.app, day=day, scope=scope, route=route, count=count)
        for (day, scope, route), count in used.items()
    )
    last_days = {scope: day for day, scope, _ in sorted(used)}
    StoreScopeUse.objects.bulk_create(
        StoreScopeUse(app=installation.app, installation=installation, scope=scope, last_day=day)
        for scope, day in last_days.items()
    )
    ApiCall.objects.bulk_create(
        (_logged(installation, at, call, order, chance) for at, call, order in calls if at > now - KEPT),
        batch_size=BATCH,
    )
    HookCall.objects.bulk_create(list(_asked(installation, orders, chance, now)), batch_size=BATCH)


def _calls_about(order: Order, chance: random.Random) -> Iterator[tuple[datetime, MadeUpCall]]:
    """The calls of an app that learns of an order, and once in a while something that is refused."""
    at = order.created_at + timedelta(seconds=chance.uniform(0.4, 2))
    yield at, ORDER
    yield at + timedelta(milliseconds=210), PRODUCTS
    if chance.random() < 0.5:
        yield at + timedelta(minutes=chance.uniform(4, 30)), MOVED
    if chance.random() < 0.08:
        yield at + timedelta(minutes=1), chance.choice((GONE, TOO_LATE, TOO_LATE, TOO_MANY))


def _logged(
    installation: Installation, at: datetime, call: MadeUpCall, order: Order, chance: random.Random
) -> ApiCall:
    return ApiCall(
        id=id_at(at), at=at, app=installation.app, installation=installation,
        token_last_four=installation.token_hint[-4:], method=call.method, route=call.route,
        path=call.route.replace("{order_id}", str(order.pk)), status=call.status, error_code=call.code,
        message=call.message, duration_ms=chance.randint(9, 70), scope=call.scope, has_scope=True,
        rate_limit=REQUESTS_A_MINUTE, rate_left=0 if call.status == 429 else chance.randint(40, 59),
        rate_reset=int(at.timestamp()) // 60 * 60 + 60,
    )  # fmt: skip


def _asked(
    installation: Installation, orders: list[Order], chance: random.Random, now: datetime
) -> Iterator[HookCall]:
    """Each checkout asks the app's hooks. In the bad hour it answers late, and the store does without."""
    hooks = Definition.objects.filter(app=installation.app, type=ExtensionType.HOOK, is_active=True)
    by_point = {each.key: each for each in hooks}
    for order in orders:
        for point in _points(order):
            if hook := by_point.get(point):
                at = order.created_at - timedelta(milliseconds=chance.randint(100, 900))
                late = at in bad_hour(now) and chance.random() < 0.6
                yield HookCall(
                    id=id_at(at), installation=installation, definition=hook, hook_point=point, called_at=at,
                    order_id=order.pk, request_id=None,
                    **(_late(hook) if late else _answered(point, chance)),
                )  # fmt: skip


def _points(order: Order) -> Iterator[str]:
    yield HookPoint.PAYMENT_METHODS
    if order.delivery_method == DeliveryMethod.DELIVERY:
        yield HookPoint.SHIPPING_RATES
    yield from (HookPoint.DISCOUNTS, HookPoint.VALIDATE)
    if order.payment_method == METHOD:
        yield HookPoint.CREATE_PAYMENT


ANSWERS: Final = {
    HookPoint.PAYMENT_METHODS: '{"methods": [{"id": "bell-pay", "name": "Bell Pay"}]}',
    HookPoint.SHIPPING_RATES: '{"fee": 5.0}',
    HookPoint.DISCOUNTS: '{"discount": 0}',
    HookPoint.VALIDATE: '{"valid": true}',
    HookPoint.CREATE_PAYMENT: '{"paymentUrl": "https://bell.example.com/pay/1", "invoiceId": "bell-1"}',
}


def _answered(point: str, chance: random.Random) -> dict[str, object]:
    return {
        "outcome": CallOutcome.ANSWERED,
        "duration_ms": int(chance.lognormvariate(3.6, 0.5)),
        "http_status": 200,
        "answer_excerpt": ANSWERS[HookPoint(point)],
    }


FALLBACKS: Final = {
    HookPoint.PAYMENT_METHODS: METHODS_LEFT_OUT,
    HookPoint.SHIPPING_RATES: STORES_FEE,
    HookPoint.DISCOUNTS: NO_DISCOUNT,
    HookPoint.VALIDATE: NOT_CHECKED,
}


def _late(hook: Definition) -> dict[str, object]:
    timeout = hook.content["timeout"]
    return {
        "outcome": CallOutcome.TIMEOUT,
        "duration_ms": timeout,
        "problem": f"No answer within {timeout:,} ms.",
        "fallback": FALLBACKS[HookPoint(hook.key)],
    }
