"""An order's history, and how its total came about, in sentences."""

from dataclasses import dataclass
from datetime import datetime

from accounts.models import User
from extensions.hooks.descriptions import DESCRIPTIONS
from stores.enums import (
    FULFILMENT,
    ActorKind,
    BuiltInPayment,
    DeliveryMethod,
    HookOutcome,
    OrderChangeKind,
    OrderStatus,
    PaymentStatus,
    may_move,
)
from stores.hookpoints import HookPoint
from stores.models import Order, OrderChange, OrderHookPart

STATUS_KINDS = {OrderStatus.CANCELLED: "bad", OrderStatus.DELIVERED: "ok"}
# Kind and label of the pill.
PAYMENT_STATES = {
    PaymentStatus.PENDING: ("warn", "Waiting for payment"),
    PaymentStatus.COMPLETED: ("ok", "Paid"),
    PaymentStatus.FAILED: ("bad", "Payment failed"),
    PaymentStatus.EXPIRED: ("bad", "Payment expired"),
}


@dataclass(frozen=True, slots=True)
class HistoryLine:
    at: datetime
    kind: str  # of `timeline_item`
    title: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class TotalPart:
    """An app's part in the total. `amount` is in minor units; `is_discount` says that it was taken off."""

    app_name: str
    title: str
    about: str
    kind: str  # of a pill
    amount: int | None
    is_discount: bool
    counts: bool


def payment_method(order: Order) -> str:
    """As the merchant knows it: Cash, Card, or the name that its app gave it."""
    if order.payment_method in BuiltInPayment.values:
        return str(BuiltInPayment(order.payment_method).label)
    return order.payment_method_name or "Payment app"


def history(order: Order, reader: User) -> list[HistoryLine]:
    """Newest first. Orders placed before histories were kept begin with the line that is known of them."""
    lines = [_line(change, reader) for change in reversed(order.changes.all())]
    if not any(line.title == "Order placed" for line in lines):
        lines.append(HistoryLine(order.created_at, "info", "Order placed"))
    return lines


def _line(change: OrderChange, reader: User) -> HistoryLine:
    about = _by(change, reader)
    if change.kind == OrderChangeKind.STATUS:
        status = OrderStatus(change.status)
        return HistoryLine(change.at, STATUS_KINDS.get(status, "info"), str(status.label), about)
    if change.kind == OrderChangeKind.PAYMENT:
        kind, title = PAYMENT_STATES[PaymentStatus(change.status)]
        kind = "info" if change.status == PaymentStatus.PENDING else kind
        return HistoryLine(change.at, kind, title, about)
    if change.kind == OrderChangeKind.METHOD:
        return HistoryLine(change.at, "info", f"Payment method changed to {change.note}", about)
    return HistoryLine(change.at, "info", "Order placed", about)


def _by(change: OrderChange, reader: User) -> str:
    match change.actor:
        case ActorKind.MERCHANT:
            return "By you" if change.actor_id == reader.pk else f"By {change.actor_name}"
        case ActorKind.APP:
            return f"By the app {change.actor_name}"
        case ActorKind.SHOPPER:
            return "By the customer"
        case ActorKind.STAFF:
            return "By the platform's staff"
    return f"By {change.actor_name}" if change.actor_name else "Automatically"


def parts(order: Order) -> list[TotalPart]:
    """Each app's part, in the order in which the apps were asked."""
    return [_part(part) for part in order.hook_parts.all()]


def _part(part: OrderHookPart) -> TotalPart:
    point = HookPoint(part.point)
    about = DESCRIPTIONS[point]
    answered = part.outcome == HookOutcome.ANSWERED
    if answered:
        title = "gave no discount" if part.amount == 0 and point == HookPoint.DISCOUNTS else about.answered
    elif part.outcome == HookOutcome.SKIPPED:
        title = f"wasn't asked {about.asked_for}, because it failed or was too slow before"
    else:
        title = f"failed when asked {about.asked_for}"
    replaced = point == HookPoint.SHIPPING_RATES and answered and bool(part.instead)
    return TotalPart(
        app_name=part.app_name,
        title=title,
        about=" ".join(filter(None, (part.reason, part.instead))),
        kind="ok" if answered else "warn",
        amount=part.amount or (part.amount if point == HookPoint.SHIPPING_RATES else None),
        is_discount=point == HookPoint.DISCOUNTS,
        counts=not replaced,
    )


VERBS = {
    OrderStatus.CONFIRMED: "Confirm order",
    OrderStatus.PREPARING: "Start preparing",
    OrderStatus.READY: "Mark as ready",
    OrderStatus.IN_DELIVERY: "Send out for delivery",
    OrderStatus.DELIVERED: "Mark as delivered",
}


@dataclass(frozen=True, slots=True)
class OrderStage:
    """A stage of an order: past, current, or one that it may be moved to."""

    status: OrderStatus
    is_reached: bool
    is_current: bool
    is_next: bool

    @property
    def verb(self) -> str:
        return VERBS[self.status]


def stages(order: Order) -> list[OrderStage]:
    """The way of an order, oldest stage first; none of one that is cancelled. What is picked up is not sent out."""
    if order.status == OrderStatus.CANCELLED:
        return []
    way = [status for status in FULFILMENT if _on_the_way(order, status)]
    now = way.index(OrderStatus(order.status))
    return [
        OrderStage(status, is_reached=place <= now, is_current=place == now, is_next=place == now + 1)
        for place, status in enumerate(way)
    ]


def next_stage(order: Order) -> OrderStage | None:
    return next((stage for stage in stages(order) if stage.is_next), None)


def may_cancel(order: Order) -> bool:
    return may_move(order.status, OrderStatus.CANCELLED)


def _on_the_way(order: Order, status: OrderStatus) -> bool:
    is_picked_up = order.delivery_method == DeliveryMethod.PICKUP
    return not is_picked_up or status != OrderStatus.IN_DELIVERY or order.status == status
