"""Payments that apps make for orders of a shop, often before the order's row comes (contract, section 17, "Hooks").

1. `_open` writes the payment, with our id of the order, before the app is asked. One that is pending or completed is given again instead.
2. The app is asked, outside any transaction.
3. `_keep` writes what it answered.
4. `settle` records the app's report, and `expire_payments` ends payments that no one makes.

A process that dies between two steps leaves a payment that expires after `MAKING`. The payment is shown at the order once both are there,
whichever comes first: `OrderPayments` copies it. All of this happens while the store's mirror is locked, as its rows do.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, cast
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import Business, ConnectedStore, ShopSystem
from common import strangers
from common.db.inserts import insert
from common.db.rows import for_each
from common.db.transactions import forbid_transaction
from common.errors import Conflict, Invalid, NotAllowed, Unavailable
from stores import hookpoints, signals
from stores.connected.changes import RowEvent, assign
from stores.connected.mirror import KnownRows, locked, write_again
from stores.enums import SETTLED, PaymentStatus, Resource
from stores.hookpoints import Asked, Flow, HookPoint, PaymentDetails
from stores.models import MirroredRow, Order, Payment, ShopPayment
from stores.records import PaymentRecord
from stores.services.history import parts_of
from stores.services.payments import BUSY, EXPIRY_BATCH, MAKING, require_time_for_payment

COPIED: Final = (
    "provider", "status", "payment_url", "qr_code", "invoice_id", "reference", "expires_at",
)  # fmt: skip
ANSWERED: Final = ("is_made", "status", "payment_url", "qr_code", "invoice_id", "expires_at", "updated_at")
TOLD: Final = ("command_id", "tell_since", "tell_at", "told_times")
ENDED: Final = ("status", "reference", "updated_at", *TOLD)
PAID: Final = {
    PaymentStatus.COMPLETED: ("payment.completed", signals.payment_completed),
    PaymentStatus.EXPIRED: ("payment.expired", signals.payment_expired),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentWish:
    """What a shop wants to be paid: for the order with its own id, by the method as it was offered. Its app is the `provider`, if one runs."""

    order: str
    method: str
    provider: str
    amount: int  # minor units of the store's currency
    description: str


@dataclass(frozen=True, slots=True)
class Made:
    """A payment, if there is one, and the app's part in it if it was asked now. `order` has got that part, if its row is there."""

    payment: ShopPayment | None
    asked: Asked[PaymentDetails | None] | None = None
    order: Order | None = None


def payment_of(store: ConnectedStore, order: str) -> ShopPayment | None:
    """The payment for the order with this id of the shop."""
    named = MirroredRow.objects.filter(
        business=store.pk, resource=Resource.ORDERS, external_id=order, row_id__isnull=False
    )
    return ShopPayment.objects.filter(order_id__in=named.values("row_id")).first()


def method_of_same_app(payment: ShopPayment, method: str) -> bool:
    """Whether an order's row leaves the payment to the app: it names a method of it, or none."""
    owner, colon, _ = method.partition(":")
    return not method or (bool(colon) and owner == payment.method.partition(":")[0])


# --- Making ------------------------------------------------------------------------------------------


def make_payment(
    *, store: ConnectedStore, wish: PaymentWish, flow: Flow, now: datetime | None = None
) -> Made:
    """Ask the method's app to make a payment, unless one is pending or completed. Not inside a transaction.

    Raises `Conflict` while a payment by another method is pending or completed, `Unavailable` if the app can't be waited for, after
    which nothing was made, and `NotFound` for a store that is ending.
    """
    forbid_transaction()
    if stands := _standing(payment_of(store, wish.order), wish):
        return Made(stands)
    if not wish.provider:
        return Made(None)
    require_time_for_payment(store.business, wish.provider, is_tried=False)
    payment, before = _open(store, wish, now or timezone.now())
    if payment is before:
        return Made(payment)
    asked = _ask(store, payment, wish, flow)
    if asked.answer is None and strangers.was_refused():
        _take_back(store, payment, before)
        raise Unavailable(str(BUSY), retry_after=strangers.RETRY_AFTER, code="payment_method_busy")
    return _keep(store, payment, asked, now or timezone.now())


def _standing(payment: ShopPayment | None, wish: PaymentWish) -> ShopPayment | None:
    """A payment that is pending or completed."""
    if payment is None or payment.status in (PaymentStatus.FAILED, PaymentStatus.EXPIRED):
        return None
    if payment.method != wish.method:
        raise Conflict("The payment of this order is pending or completed.", code="payment_pending")
    return payment


@transaction.atomic
def _open(store: ConnectedStore, wish: PaymentWish, now: datetime) -> tuple[ShopPayment, ShopPayment | None]:
    """The payment, and the one that was there before: the same if that is pending or completed. One that failed or expired is opened again."""
    locked(store)
    known = KnownRows(store.business, [(Resource.ORDERS, wish.order)], now)
    order_id = known.mention(Resource.ORDERS, wish.order)
    known.save()
    before = ShopPayment.objects.filter(order_id=order_id).first()
    if stands := _standing(before, wish):
        return stands, before
    payment = ShopPayment(
        pk=before.pk if before else None,
        business=store.business,
        order_id=order_id,
        order_external_id=wish.order,
        provider=wish.provider,
        method=wish.method,
        amount=wish.amount,
        currency=store.business.currency,
        expires_at=now + MAKING,
        opened_at=now,
        updated_at=now,
        tried_until=before.tried_until if before else None,  # the status before may be under way
    )
    payment.save()
    return payment, before


def _ask(
    store: ConnectedStore, payment: ShopPayment, wish: PaymentWish, flow: Flow
) -> Asked[PaymentDetails | None]:
    data = {
        "orderId": str(payment.order_id),
        "amount": str(wish.amount),
        "currency": payment.currency,
        "paymentMethodId": wish.method.partition(":")[2],
        "businessId": str(store.pk),
        "description": wish.description,
    }
    return hookpoints.ask(
        HookPoint.CREATE_PAYMENT,
        business=store.business,
        data=data,
        flow=flow,
        method_id=wish.method,
        order_id=payment.order_id,
    )


@transaction.atomic
def _take_back(store: ConnectedStore, opened: ShopPayment, before: ShopPayment | None) -> None:
    """Of an app that couldn't be waited for: as if it had not been opened. A result that the app has reported meanwhile stays."""
    locked(store)
    rows = ShopPayment.objects.filter(pk=opened.pk, opened_at=opened.opened_at)
    if rows.filter(status=PaymentStatus.PENDING).exists():
        if before is not None:
            before.save()
        else:
            rows.delete()


@transaction.atomic
def _keep(
    store: ConnectedStore, opened: ShopPayment, asked: Asked[PaymentDetails | None], now: datetime
) -> Made:
    """Write the answer. It counts only for the payment that was asked for, and what the app has settled meanwhile is kept."""
    locked(store)
    payment = ShopPayment.objects.filter(pk=opened.pk, opened_at=opened.opened_at).first()
    if payment is None:
        return Made(ShopPayment.objects.filter(order_id=opened.order_id).first() or opened, asked)
    payment.is_made = True
    if asked.answer is not None:
        payment.payment_url, payment.qr_code = asked.answer.payment_url, asked.answer.qr_code
        payment.invoice_id, payment.expires_at = asked.answer.invoice_id, asked.answer.expires_at
    elif payment.status == PaymentStatus.PENDING:
        payment.status, payment.expires_at = PaymentStatus.FAILED, None
    payment.updated_at = now
    payment.save(update_fields=ANSWERED)
    order = _show(payment, now)
    if order is not None:
        insert(*parts_of(order.pk, asked.parts, now=now))
    return Made(payment, asked, order)


# --- Settling ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Settled:
    """`order` is None while its row isn't there."""

    payment: ShopPayment
    order: Order | None


@transaction.atomic
def settle(
    *,
    business: Business,
    order_id: UUID | None,
    provider: str,
    status: str,
    reference: str = "",
    now: datetime | None = None,
) -> Settled | None:
    """Record the result that the payment's app reports: COMPLETED or FAILED. None if no app has made one for this id of an order.

    The same result again changes nothing; another one of a payment that has ended is a `Conflict`. `NotAllowed` for any app but its own.
    Raises `NotFound` for a store that is ending.
    """
    if status not in SETTLED:
        raise Invalid.field("status", f"Must be one of: {', '.join(SETTLED)}.")
    locked(business.connected)
    payment = ShopPayment.objects.filter(business=business, order_id=order_id).first() if order_id else None
    if payment is None:
        return None
    if payment.provider != provider:
        raise NotAllowed("The payment of this order was made by another app.", code="payment_of_other_app")
    if payment.status == status:
        return Settled(payment, _orders(business).filter(pk=order_id).first())
    if payment.status != PaymentStatus.PENDING:
        raise Conflict(f"The payment is {payment.status} and can't become {status}.", code="payment_final")
    payment.reference = reference
    return Settled(payment, _end(payment, PaymentStatus(status), now or timezone.now()))


def expire_payments(*, now: datetime | None = None) -> int:
    """Expire those that are overdue, each in its own transaction. Returns their number. One that fails doesn't stop the others."""
    now = now or timezone.now()
    due = ShopPayment.objects.filter(status=PaymentStatus.PENDING, expires_at__lte=now)
    rows = due.filter(business__connected__ending_since=None).select_related("business__connected")
    return expire_each(rows.order_by("expires_at")[:EXPIRY_BATCH], now=now)


def expire_each(payments: Iterable[ShopPayment], *, now: datetime) -> int:
    return for_each(payments, lambda payment: _expire(payment, now), task="expire_shop_payments")


@transaction.atomic
def _expire(found: ShopPayment, now: datetime) -> bool:
    """False if it is settled, or not due at `now`."""
    locked(found.business.connected)
    due = ShopPayment.objects.filter(pk=found.pk, status=PaymentStatus.PENDING, expires_at__lte=now)
    payment = due.first()
    if payment is None:
        return False
    _end(payment, PaymentStatus.EXPIRED, now)
    return True


def bring_forward(*, business: Business, by: timedelta, now: datetime) -> list[ShopPayment]:
    """Of a store for tests: let payments expire earlier by so much. Returns those that are overdue now."""
    waiting = ShopPayment.objects.filter(business=business, status=PaymentStatus.PENDING)
    waiting.update(expires_at=F("expires_at") - by)
    copies = Payment.objects.filter(order__business=business, status=PaymentStatus.PENDING)
    copies.exclude(provider="").update(expires_at=F("expires_at") - by)
    return list(waiting.filter(expires_at__lte=now).select_related("business__connected"))


def _end(payment: ShopPayment, status: PaymentStatus, now: datetime) -> Order | None:
    """Set the last status, of which the shop is notified where it takes commands. Returns the order, if it is there."""
    payment.status, payment.updated_at = status, now
    takes_commands = ShopSystem.objects.filter(stores=payment.business_id).exclude(commands_url="").exists()
    payment.command_id = uuid4() if takes_commands else None
    payment.tell_since = payment.tell_at = now if takes_commands else None
    payment.told_times = 0
    payment.save(update_fields=ENDED)
    return _show(payment, now)


# --- At the order ------------------------------------------------------------------------------------


def _orders(business: Business) -> Any:
    return Order.objects.filter(business=business).select_related("business", "payment")


def _show(payment: ShopPayment, now: datetime) -> Order | None:
    """Let the order have the payment as it is now, and publish what follows. None while its row isn't there."""
    rows = Order.objects.select_related("business").select_for_update(no_key=True, of=("self",))
    order = rows.filter(business=payment.business_id, pk=payment.order_id).first()
    if order is None:
        return None
    copy = Payment.objects.select_for_update(no_key=True).filter(order=order).first()
    set_payment(order, copy)
    payments = OrderPayments([payment], now)
    event = payments.follow(order, None) if method_of_same_app(payment, order.payment_method) else None
    payments.save()
    order.save(update_fields=["updated_at"])
    if event:
        event.publish()
    return order


class OrderPayments:
    """The payments of orders of a shop. One that an app makes is shown while the order's row leaves it to that app.

    All others come with the rows. They have no provider: no app may settle them.
    """

    def __init__(self, made: Iterable[ShopPayment], now: datetime) -> None:
        self._made = {each.order_id: each for each in made}
        self._now = now
        self._noted: list[ShopPayment] = []
        self._new: list[Payment] = []
        self._changed: list[Payment] = []
        self._gone: list[int] = []

    def follow(self, order: Order, of_row: Mapping[str, Any] | None) -> RowEvent | None:
        """Let the order have its app's payment, or the one of its row, or none. Returns what is published about it."""
        payment, made = payment_at(order), self._made.get(order.pk)
        values = of_row and {"provider": "", "qr_code": "", "reference": "", **of_row}
        if made is not None:
            is_theirs = method_of_same_app(made, order.payment_method)
            self._compare(made, order.amount if is_theirs else made.amount)
            if is_theirs and (made.is_made or made.status != PaymentStatus.PENDING):
                values = {name: getattr(made, name) for name in COPIED}
            elif is_theirs and payment is not None and payment.provider:
                return None  # another one is being made in its place
        before = payment.status if payment else None
        if values is None:
            if payment is not None:
                self._gone.append(payment.pk)
                set_payment(order, None)
                order.updated_at = self._now
            return None
        if payment is None:
            payment = Payment(order=order, provider="", created_at=self._now)
            set_payment(order, payment)
            self._new.append(payment)
        else:
            self._changed.append(payment)
        payment.order = order
        if assign(payment, dict(values), self._now) and before is not None:
            order.updated_at = self._now
        if before is None:
            payment.updated_at = order.updated_at = self._now
        found = PAID.get(PaymentStatus(payment.status)) if payment.status != before else None
        if found is None:
            return None
        name, signal = found
        about = {"payment": PaymentRecord.of(payment, order), "now": self._now}
        return RowEvent([name], signal, Payment, about)

    def _compare(self, made: ShopPayment, amount: int) -> None:
        """Note it if the row wants another amount paid."""
        differs = amount if amount != made.amount else None
        if made.row_amount != differs:
            made.row_amount = differs
            self._noted.append(made)

    def save(self) -> None:
        for made in self._noted:
            made.save(update_fields=["row_amount"])
        Payment.objects.filter(pk__in=self._gone).delete()
        write_again(self._changed, (*COPIED, "updated_at"))
        Payment.objects.bulk_create(self._new)


def payment_at(order: Order) -> Payment | None:
    """What was read, or set by `set_payment`."""
    found: Any = Order._meta.get_field("payment").get_cached_value(order, default=None)
    return cast("Payment | None", found)


def set_payment(order: Order, payment: Payment | None) -> None:
    Order._meta.get_field("payment").set_cached_value(order, payment)
