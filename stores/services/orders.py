"""Changing an order's status."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from common.db.finders import get_or_not_found
from common.errors import Conflict
from stores import signals
from stores.enums import OrderChangeKind, OrderStatus, may_move
from stores.models import LINES, Order
from stores.services.catalogue.stock import announce, give_back
from stores.services.history import SYSTEM, Actor, record


@transaction.atomic
def change_order_status(
    *, order: Order, status: str, by: Actor = SYSTEM, now: datetime | None = None
) -> Order:
    """Set an order's status. `status` is a value of `OrderStatus`.

    The current status changes nothing and sends no event. A transition that `enums.may_move` forbids is a
    `Conflict`. Cancelling returns the stock. Returns the updated order with its lines.
    """
    now = now or timezone.now()
    order = _lock(order)
    previous, target = order.status, OrderStatus(status)
    if previous == target:
        return order
    if not may_move(previous, target):
        raise Conflict(f"An order that is {previous} can't become {target}.", code="order_status_conflict")
    order.status = target
    order.updated_at = now
    order.save(update_fields=["status", "updated_at"])
    record(order, OrderChangeKind.STATUS, by=by, now=now, previous=previous, status=target)
    crossings = give_back(order, now=now) if target == OrderStatus.CANCELLED else []
    signals.order_status_changed.send(sender=Order, order=order, previous=previous, now=now)
    announce(crossings, now=now)
    return order


def _lock(order: Order) -> Order:
    rows = Order.objects.select_related("business", "payment").prefetch_related(LINES)
    return get_or_not_found(rows.select_for_update(no_key=True, of=("self",)), order.pk, "Order not found")
