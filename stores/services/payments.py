"""Payments made by apps. The merchant collects CASH and CARD outside the service, without a payment record."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Business
from common import strangers
from common.db.inserts import insert
from common.db.rows import for_each
from common.db.transactions import forbid_transaction
from common.errors import Conflict, Invalid, NotAllowed, Unavailable
from stores import hookpoints, signals
from stores.buyers.attributes import NONE
from stores.buyers.shoppers import NOBODY, Buyer, person_of_order
from stores.enums import SETTLED, BuiltInPayment, OrderChangeKind, OrderStatus, PaymentStatus
from stores.hookpoints import Flow, HookPoint, PaymentDetails, PaymentMethod
from stores.models import Order, Payment
from stores.records import PaymentRecord
from stores.services.history import SHOPPER, SYSTEM, Actor, parts_of, record

log = logging.getLogger(__name__)

# If a payment is still being made after this long, the process that made it has died: it expires, and the customer
# may choose again. Making one takes at most the hook point's ten seconds.
MAKING = timedelta(seconds=60)
EXPIRY_BATCH = 500


# Those of a mirrored order follow its row, or the `ShopPayment` that they are copies of (`stores.connected.payments`).
OWN: Final = ~Q(provider="") & Q(order__external_id=None)

BUSY: Final = gettext_lazy("This payment method is busy at the moment. Try again in a few seconds.")


def chosen_method(
    business: Business, method_id: str, offered: Sequence[PaymentMethod], buyer: Buyer = NOBODY
) -> PaymentMethod | None:
    """The app's method with this id; None for a built-in one.

    Accepts the methods that this customer was `offered`, and those whose owner offers them when asked now. Anything
    else is `Invalid`, and `Unavailable` if the owner can't be waited for.
    """
    if method_id in BuiltInPayment.values:
        return None
    method = _among(offered, method_id)
    if method is None and ":" in method_id:
        now = hookpoints.ask_payment_methods(business=business, only=method_id, flow=Flow.start(buyer=buyer))
        method = _among(now, method_id)
    if method is None and strangers.was_refused():
        raise Unavailable(str(BUSY), retry_after=strangers.RETRY_AFTER, code="payment_method_busy")
    if method is None:
        problem = _("Must be CASH, CARD or a method that the checkout offers now.")
        raise Invalid.field("paymentMethod", problem)
    return method


def require_time_for_payment(business: Business, provider: str, *, is_tried: bool = True) -> None:
    """Before an order is saved: make sure that its payment can be waited for (`strangers.require_time`). Raises `Unavailable`."""
    try:
        strangers.require_time(business.pk, provider, about=HookPoint.CREATE_PAYMENT, is_tried=is_tried)
    except strangers.NoPlace as error:
        raise Unavailable(str(BUSY), retry_after=error.retry_after, code="payment_method_busy") from None


def _among(methods: Sequence[PaymentMethod], method_id: str) -> PaymentMethod | None:
    return next((method for method in methods if method.id == method_id), None)


# --- Making -----------------------------------------------------------------------------------------


def open_payment(*, order: Order, provider: str, now: datetime) -> Payment:
    """Create the payment's row, in the transaction that sets the order's method. `make_payment` follows."""
    return Payment.objects.create(
        order=order, provider=provider, expires_at=now + MAKING, created_at=now, updated_at=now
    )


def make_payment(*, order: Order, buyer: Buyer = NOBODY, now: datetime | None = None) -> Order:
    """Ask the owner of the order's method to make its payment, and save the answer.

    Not inside a transaction. Returns the order with its payment: PENDING with what the customer needs, or
    FAILED. If the app settled the payment before its answer arrived, that result is kept. The answer counts only for
    the payment that was asked for: the customer may have chosen again meanwhile.
    """
    asked_for = order.payment.pk
    asked = hookpoints.ask_create_payment(order=order, flow=Flow.start(buyer=_buyer_of(order, buyer)))
    with transaction.atomic():
        now = now or timezone.now()
        order = _lock_order(order)
        insert(*parts_of(order.pk, asked.parts, now=now))
        payment = _lock_payment(order)
        if payment is None or payment.pk != asked_for:
            return order
        if asked.answer is not None:
            _keep(payment, asked.answer)
        elif payment.status == PaymentStatus.PENDING:
            payment.status = PaymentStatus.FAILED
            payment.expires_at = None
            _record(payment, by=SYSTEM, now=now)
        _save(payment, now)
    return order


def _buyer_of(order: Order, buyer: Buyer) -> Buyer:
    """The order's person pays, with what apps have put into the order since."""
    return replace(buyer, person=person_of_order(order), attributes=order.attributes or NONE)


def _keep(payment: Payment, details: PaymentDetails) -> None:
    payment.payment_url = details.payment_url
    payment.qr_code = details.qr_code
    payment.invoice_id = details.invoice_id
    payment.expires_at = details.expires_at


@transaction.atomic
def _reopen(*, order: Order, method: PaymentMethod | None, method_id: str, now: datetime) -> Order:
    """Change the order's method, unless its payment is pending or completed."""
    payment = _lock(order)
    order = payment.order
    if payment.status not in (PaymentStatus.FAILED, PaymentStatus.EXPIRED):
        raise Conflict(_("The payment of this order is pending or completed."), code="payment_pending")
    if order.status == OrderStatus.CANCELLED:
        raise Conflict(_("The order was cancelled."), code="order_cancelled")
    order.payment_method = method_id
    order.payment_method_name = method.name[:200] if method else ""
    order.updated_at = now
    order.save(update_fields=["payment_method", "payment_method_name", "updated_at"])
    name = method.name if method else BuiltInPayment(method_id).label
    record(order, OrderChangeKind.METHOD, by=SHOPPER, now=now, note=str(name))
    payment.delete()
    order.refresh_from_db()
    if method:
        open_payment(order=order, provider=method.provider, now=now)
    return order


def choose_again(
    *,
    order: Order,
    payment_method: str,
    offered: Sequence[PaymentMethod] = (),
    buyer: Buyer = NOBODY,
    now: datetime | None = None,
) -> Order:
    """Choose another method for an order whose payment failed or expired; not inside a transaction.

    Raises `Invalid` for a method that is not offered, `Conflict` while a payment is pending or completed and for a
    cancelled order, `NotAllowed` if the merchant collects the payment.
    """
    forbid_transaction()
    method = chosen_method(order.business, payment_method, offered, _buyer_of(order, buyer))
    if method:
        require_time_for_payment(order.business, method.provider)
    order = _reopen(order=order, method=method, method_id=payment_method, now=now or timezone.now())
    return make_payment(order=order, buyer=buyer, now=now) if method else order


# --- Settling ---------------------------------------------------------------------------------------


@transaction.atomic
def settle_payment(
    *,
    order: Order,
    provider: str,
    status: str,
    reference: str = "",
    by: Actor = SYSTEM,
    now: datetime | None = None,
) -> Payment:
    """Record the result that the payment's app reports: COMPLETED or FAILED. Returns the payment with its order.

    The same result again changes nothing and sends no event; a different result of a final payment is a `Conflict`.
    `NotAllowed` for any app but the `provider` of the payment, and if the merchant collects the payment.
    """
    if status not in SETTLED:
        raise Invalid.field("status", f"Must be one of: {', '.join(SETTLED)}.")
    now = now or timezone.now()
    payment = _lock(order)
    if payment.provider != provider:
        raise NotAllowed("The payment of this order was made by another app.", code="payment_of_other_app")
    if payment.status == status:
        return payment
    if payment.status != PaymentStatus.PENDING:
        raise Conflict(f"The payment is {payment.status} and can't become {status}.", code="payment_final")
    payment.status = status
    payment.reference = reference
    _record(payment, by=by, now=now)
    _save(payment, now)
    if status == PaymentStatus.COMPLETED:
        signals.payment_completed.send(
            sender=Payment, payment=PaymentRecord.of(payment, payment.order), now=now
        )
    return payment


def expire_payments(*, now: datetime | None = None) -> int:
    """Expire overdue payments, each in its own transaction. Returns their number.

    One that can't be expired because a receiver fails does not stop the others.
    """
    now = now or timezone.now()
    due = Payment.objects.filter(OWN, status=PaymentStatus.PENDING, expires_at__lte=now)
    rows = due.select_related("order").order_by("expires_at")[:EXPIRY_BATCH]
    return for_each(
        rows, lambda payment: expire_payment(order=payment.order, now=now), task="expire_payments"
    )


def bring_forward(*, business: Business, by: timedelta, now: datetime) -> list[Order]:
    """Of a test store: let payments expire earlier by so much. Returns the orders whose payments are overdue now."""
    waiting = Payment.objects.filter(OWN, order__business=business, status=PaymentStatus.PENDING)
    waiting.update(expires_at=F("expires_at") - by)
    return [payment.order for payment in waiting.filter(expires_at__lte=now).select_related("order")]


@transaction.atomic
def expire_payment(*, order: Order, now: datetime) -> bool:
    """Expire the payment of one order. False if it is settled, or not due at `now`."""
    payment = _lock(order)
    if payment.status != PaymentStatus.PENDING or payment.expires_at is None or payment.expires_at > now:
        return False
    payment.status = PaymentStatus.EXPIRED
    _record(payment, by=SYSTEM, now=now)
    _save(payment, now)
    signals.payment_expired.send(sender=Payment, payment=PaymentRecord.of(payment, payment.order), now=now)
    return True


def _lock(order: Order) -> Payment:
    """The order's payment, locked after its order. This lock order holds everywhere."""
    payment = _lock_payment(_lock_order(order))
    if payment is None:
        raise _by_merchant()
    return payment


def _lock_order(order: Order) -> Order:
    locked = Order.objects.select_for_update(no_key=True, of=("self",)).select_related("business")
    try:
        return locked.get(pk=order.pk)
    except Order.DoesNotExist:
        raise _by_merchant() from None


def _lock_payment(order: Order) -> Payment | None:
    """The payment of a locked order; None if the merchant collects it."""
    payment = Payment.objects.select_for_update(no_key=True).filter(order=order).first()
    if payment:
        payment.order = order
    return payment


def _by_merchant() -> NotAllowed:
    return NotAllowed(_("The merchant collects the payment of this order."), code="payment_by_merchant")


def _record(payment: Payment, *, by: Actor, now: datetime) -> None:
    """A line with the payment's new status."""
    record(payment.order, OrderChangeKind.PAYMENT, by=by, now=now, status=payment.status)


def _save(payment: Payment, now: datetime) -> None:
    """The order's API object includes the payment, so a change of it counts as a change of the order."""
    payment.updated_at = payment.order.updated_at = now
    payment.save()
    payment.order.save(update_fields=["updated_at"])
