"""Changing an order's status, and recording what only its merchant knows: refunds and notes."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.models import Business
from common.db.rows import get_or_not_found
from common.errors import Conflict, Invalid
from common.lengths import REFUND_REASON
from stores import signals
from stores.enums import OrderChangeKind, OrderStatus, may_move
from stores.models import LINES, Order
from stores.records import OrderRecord
from stores.services.catalogue.stock import announce, give_back
from stores.services.history import SYSTEM, Actor, record
from stores.services.order_mails import mail_status
from stores.standing import refundable


@transaction.atomic
def change_order_status(
    *,
    order: Order,
    status: str,
    by: Actor = SYSTEM,
    tells_buyer: bool = True,
    now: datetime | None = None,
) -> Order:
    """Set an order's status. `status` is a value of `OrderStatus`. Without `tells_buyer` no mail goes to the buyer.

    The current status changes nothing and sends no event. A store that keeps its orders elsewhere, and a transition that `enums.may_move`
    forbids, are a `Conflict`. Cancelling returns the stock. Returns the updated order with its lines.
    """
    now = now or timezone.now()
    order = _lock(order)
    previous, target = order.status, OrderStatus(status)
    if previous == target:
        return order
    require_orders_here(order.business)
    if not may_move(previous, target):
        raise Conflict(f"An order that is {previous} can't become {target}.", code="order_status_conflict")
    order.status = target
    order.updated_at = now
    order.save(update_fields=["status", "updated_at"])
    record(order, OrderChangeKind.STATUS, by=by, now=now, previous=previous, status=target)
    crossings = give_back(order, now=now) if target == OrderStatus.CANCELLED else []
    signals.order_status_changed.send(sender=Order, order=OrderRecord.of(order), previous=previous, now=now)
    if tells_buyer:
        mail_status(order=order)
    announce(order.business, crossings, now=now)
    return order


@transaction.atomic
def record_refund(
    *, order: Order, amount: int, reason: str, known: int, by: Actor, now: datetime | None = None
) -> Order:
    """Record that the merchant gave back `amount` (minor units), where the money was taken. Apps that may read orders learn of it.

    `known` is what was refunded as far as the merchant knows; if it was more meanwhile, it is a `Conflict`, so pressing twice
    records once. `Invalid` for more than is left of what was paid, and for a `reason` that is too long for the event.
    """
    now = now or timezone.now()
    order = _lock(order)
    if order.refunded != known:
        raise Conflict("A refund was recorded meanwhile. Look at the order again.")
    if not 0 < amount <= refundable(order):
        raise Invalid.field("amount", "Enter an amount up to what was paid.")
    if len(reason) > REFUND_REASON:
        raise Invalid.field("reason", f"Enter at most {REFUND_REASON} characters.")
    order.refunded += amount
    order.updated_at = now
    order.save(update_fields=["refunded", "updated_at"])
    record(order, OrderChangeKind.REFUND, by=by, now=now, note=reason, amount=amount)
    about = {"order": OrderRecord.of(order), "amount": amount, "reason": reason, "now": now}
    signals.order_refunded.send(sender=Order, **about)
    return order


def add_staff_note(*, order: Order, text: str, by: Actor, now: datetime | None = None) -> None:
    """A line of the history that only the merchant reads."""
    record(order, OrderChangeKind.STAFF_NOTE, by=by, now=now or timezone.now(), note=text)


def require_orders_here(business: Business) -> None:
    """Raise `Conflict` for a store that keeps its orders in a shop system."""
    if not business.capabilities.app_orders:
        raise Conflict("The orders of this store are changed elsewhere.", code="store_read_only")


def _lock(order: Order) -> Order:
    rows = Order.objects.select_related("business", "payment").prefetch_related(LINES)
    return get_or_not_found(rows.select_for_update(no_key=True, of=("self",)), order.pk, "Order not found")
