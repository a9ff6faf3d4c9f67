"""How the bakery's orders of the month were paid, what the sample app had a part in, one that was partly refunded, and visits."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.db.models import QuerySet, Sum

from accounts.models import Business
from config.demo.history.story import SEED, bad_hour
from config.demo.order_bell import SLUG
from extensions.enums import CallOutcome
from extensions.hooks.handlers import NOT_CHECKED
from extensions.models import HookCall
from installations.models import Installation
from stores import enums
from stores.hookpoints import HookPoint
from stores.models import Order, OrderChange, OrderHookPart, Payment, StoreVisits
from stores.services.history import SYSTEM, Actor, merchant

METHOD: Final = f"{SLUG}:bell-pay"
EVERY: Final = 3  # each third order was paid through the app
AFTER: Final = timedelta(minutes=2)
TO_PAY: Final = timedelta(minutes=15)
REFUNDED: Final = 25  # the order with so many after it
VISITS: Final = (9, 17)  # for each order


def pay_orders(*, installation: Installation, now: datetime) -> None:
    """Before `log_calls`, which logs what the app was asked for them. The last three orders are still to be confirmed."""
    orders = list(_placed(installation).order_by("id"))
    payments = list(_payments(orders, installation, now))
    Order.objects.bulk_update(
        [each.order for each in payments], ["payment_method", "payment_method_name"], batch_size=100
    )
    Payment.objects.bulk_create(payments)
    changes = [_change(each, installation) for each in payments]
    OrderChange.objects.bulk_create([*changes, _refund(orders[-REFUNDED])])


def keep_parts(*, installation: Installation) -> None:
    """After `log_calls`, which says when the app was late."""
    rewarded = _placed(installation).filter(discount__gt=0).annotate(pieces=Sum("items__quantity"))
    discounts = (
        _part(
            installation, order, HookPoint.DISCOUNTS, outcome=enums.HookOutcome.ANSWERED, amount=order.discount,
            reason="10% off from 3 pieces",
        )
        for order in rewarded.filter(pieces__gte=3)
    )  # fmt: skip
    OrderHookPart.objects.bulk_create([*discounts, *_unchecked(installation)])


def _placed(installation: Installation) -> QuerySet[Order]:
    """With the app, and not cancelled."""
    since = Order.objects.filter(business=installation.business, created_at__gte=installation.installed_at)
    return since.exclude(status=enums.OrderStatus.CANCELLED)


def _payments(orders: Sequence[Order], installation: Installation, now: datetime) -> Iterator[Payment]:
    """None in the bad hour, in which shoppers hardly saw the app's way to pay."""
    last = len(orders)
    states = {last - 3: enums.PaymentStatus.FAILED, last - 2: enums.PaymentStatus.EXPIRED}
    for number, order in enumerate(orders):
        others = number % EVERY or number == last - REFUNDED or order.created_at in bad_hour(now)
        if others and number not in states:
            continue
        order.payment_method, order.payment_method_name = METHOD, "Bell Pay"
        yield Payment(
            order=order, provider=str(installation.app_id), status=states.get(number, enums.PaymentStatus.COMPLETED),
            invoice_id=f"bell-{order.number}", reference=f"bell-{order.number}", created_at=order.created_at,
            expires_at=order.created_at + TO_PAY, updated_at=order.created_at + AFTER,
        )  # fmt: skip


def _change(payment: Payment, installation: Installation) -> OrderChange:
    if payment.status == enums.PaymentStatus.EXPIRED:
        at, by = payment.created_at + TO_PAY, SYSTEM
    else:
        at = payment.created_at + AFTER
        by = Actor(enums.ActorKind.APP, installation.app_id, installation.app.name)
    return OrderChange(
        order=payment.order, kind=enums.OrderChangeKind.PAYMENT, status=payment.status, at=at, **_by(by)
    )


def _by(actor: Actor) -> dict[str, Any]:
    return {"actor": actor.kind, "actor_id": actor.id, "actor_name": actor.name}


def _refund(order: Order) -> OrderChange:
    """A part of it, two hours after it came."""
    order.payment_method, order.refunded = enums.BuiltInPayment.CARD, order.subtotal // 4
    order.save(update_fields=["payment_method", "refunded"])
    return OrderChange(
        order=order, kind=enums.OrderChangeKind.REFUND, at=order.created_at + timedelta(hours=2), amount=order.refunded,
        note="A part of it was missing", **_by(merchant(order.business.owner)),
    )  # fmt: skip


def _part(installation: Installation, order: Order, point: HookPoint, **fields: object) -> OrderHookPart:
    return OrderHookPart(
        order=order, point=point, provider=str(installation.app_id), app_name=installation.app.name,
        at=order.created_at, **fields,
    )  # fmt: skip


def _unchecked(installation: Installation) -> Iterator[OrderHookPart]:
    """Of the bad hour, the orders whose check came too late."""
    late = HookCall.objects.filter(
        installation=installation, hook_point=HookPoint.VALIDATE, outcome=CallOutcome.TIMEOUT
    )
    orders = Order.objects.filter(pk__in=list(late.values_list("order_id", flat=True)))
    orders.update(validation=enums.OrderValidation.NOT_VALIDATED)
    for order in orders:
        yield _part(
            installation, order, HookPoint.VALIDATE, outcome=enums.HookOutcome.FAILED, instead=NOT_CHECKED
        )


def bring_visitors(*, business: Business) -> None:
    """On each day with orders, so many more visits."""
    chance = random.Random(SEED)  # noqa: S311  nothing here is secret
    zone = ZoneInfo(business.timezone)
    ordered = Order.objects.filter(business=business).values_list("created_at", flat=True)
    days = Counter(at.astimezone(zone).date() for at in ordered)
    StoreVisits.objects.bulk_create(
        StoreVisits(business=business, day=day, visits=sum(chance.randint(*VISITS) for _ in range(orders)))
        for day, orders in sorted(days.items())
    )
