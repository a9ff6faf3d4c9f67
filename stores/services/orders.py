"""Moving an order along."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from common.errors import Conflict, NotFound
from stores import signals
from stores.enums import OrderStatus, may_move
from stores.models import LINES, Order
from stores.services.stock import announce, give_back


@transaction.atomic
def change_order_status(*, order: Order, status: str, now: datetime | None = None) -> Order:
    """Give an order another status. `status` is a value of `OrderStatus`.

    The status it has already changes nothing and tells nobody. A move that `enums.may_move` forbids is a
    `Conflict`. Cancelling gives the stock back. Returns the order as it is now, its lines brought along.
    """
    now = now or timezone.now()
    order = _lock(order)
    previous, target = order.status, OrderStatus(status)
    if previous == target:
        return order
    if not may_move(previous, target):
        raise Conflict(f"An order that is {previous} can't become {target}.")
    order.status = target
    order.updated_at = now
    order.save(update_fields=["status", "updated_at"])
    crossings = give_back(order, now=now) if target == OrderStatus.CANCELLED else []
    signals.order_status_changed.send(sender=Order, order=order, previous=previous, now=now)
    announce(crossings, now=now)
    return order


def _lock(order: Order) -> Order:
    rows = Order.objects.select_related("business", "payment").prefetch_related(LINES)
    try:
        return rows.select_for_update(no_key=True, of=("self",)).get(pk=order.pk)
    except Order.DoesNotExist:
        raise NotFound("Order not found") from None
