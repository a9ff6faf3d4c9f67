"""What a merchant may do with an order, in words."""

from dataclasses import dataclass

from stores.enums import FULFILMENT, DeliveryMethod, OrderStatus, may_move
from stores.models import Order

VERBS = {
    OrderStatus.CONFIRMED: "Confirm order",
    OrderStatus.PREPARING: "Start preparing",
    OrderStatus.READY: "Mark as ready",
    OrderStatus.IN_DELIVERY: "Send out for delivery",
    OrderStatus.DELIVERED: "Mark as delivered",
}
# What the question about an unpaid order asks, and its button (contract, section 15).
ACTS = VERBS | {OrderStatus.CONFIRMED: "Confirm"}
STEPS = (OrderStatus.CONFIRMED, OrderStatus.READY, OrderStatus.DELIVERED)  # for several orders at once


@dataclass(frozen=True, slots=True)
class OrderStage:
    """A stage of an order: past, current, or one that it may be moved to."""

    status: OrderStatus
    is_reached: bool
    is_current: bool

    @property
    def verb(self) -> str:
        return VERBS[self.status]


def stages(order: Order) -> list[OrderStage]:
    """The way of an order, oldest stage first; none of one that is cancelled. An order to pick up is not sent out."""
    if order.status == OrderStatus.CANCELLED:
        return []
    way = [status for status in FULFILMENT if _on_the_way(order, status)]
    now = way.index(OrderStatus(order.status))
    return [
        OrderStage(status, is_reached=place <= now, is_current=place == now)
        for place, status in enumerate(way)
    ]


def main_stage(order: Order) -> OrderStage | None:
    """The one that the page offers first: confirming, then delivered at once. The stages between are for those who use them."""
    wanted = OrderStatus.CONFIRMED if order.status == OrderStatus.PENDING else OrderStatus.DELIVERED
    return next((stage for stage in stages(order) if stage.status == wanted and not stage.is_reached), None)


def steps_of(orders: list[Order]) -> list[tuple[OrderStatus, str]]:
    """What at least one of these orders may be moved to, with its verb."""
    return [(step, VERBS[step]) for step in STEPS if any(may_move(order.status, step) for order in orders)]


def may_cancel(order: Order) -> bool:
    return may_move(order.status, OrderStatus.CANCELLED)


def _on_the_way(order: Order, status: OrderStatus) -> bool:
    is_picked_up = order.delivery_method == DeliveryMethod.PICKUP
    return not is_picked_up or status != OrderStatus.IN_DELIVERY or order.status == status
