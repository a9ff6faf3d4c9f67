"""An order's history, how its total came about, and what a merchant may do with it, in words."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import UUIDField

from accounts.models import User
from common.db.compiled import Compiled, Param
from common.money import display
from extensions.hooks.descriptions import DESCRIPTIONS
from stores import enums
from stores.hookpoints import HookPoint
from stores.models import Order, OrderChange, OrderHookPart, OrderItem, Product
from stores.standing import is_paid, payment_of

STATUS_KINDS = {enums.OrderStatus.CANCELLED: "bad", enums.OrderStatus.DELIVERED: "ok"}
# Kind and words.
PAYMENT_STATES = {
    enums.PaymentStatus.PENDING: ("warn", "Waiting for payment"),
    enums.PaymentStatus.COMPLETED: ("ok", "Paid"),
    enums.PaymentStatus.FAILED: ("bad", "Payment failed"),
    enums.PaymentStatus.EXPIRED: ("bad", "Payment expired"),
}


_ORDER: Final[Any] = Param("order", UUIDField())
_CHANGES: Final = Compiled(lambda: OrderChange.objects.filter(order=_ORDER), prepared_as="merchants_changes")
_PARTS: Final = Compiled(lambda: OrderHookPart.objects.filter(order=_ORDER), prepared_as="merchants_parts")


@dataclass(frozen=True, slots=True)
class HistoryLine:
    at: datetime
    kind: str  # of `timeline_item`
    title: str
    about: str = ""
    words: str = ""  # what a merchant wrote
    actor: str = ""  # the name of one who works in the store


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
    if order.payment_method in enums.BuiltInPayment.values:
        return str(enums.BuiltInPayment(order.payment_method).label)
    return order.payment_method_name or "Payment app"


def paid_look(order: Order) -> tuple[str, str]:
    """Kind and label of a pill. Money that is still due is loud only if it may never come."""
    if is_paid(order):
        return "ok", "Paid"
    payment = payment_of(order)
    if payment is None or order.status == enums.OrderStatus.CANCELLED:
        return "neutral", "Unpaid"
    if payment.status == enums.PaymentStatus.PENDING:  # the customer can still pay
        return "neutral", "Unpaid"
    return PAYMENT_STATES[enums.PaymentStatus(payment.status)][0], "Unpaid"


def payment_detail(order: Order) -> str:
    """Why it is unpaid, if an app takes the payment; else how it is paid, or what was refunded."""
    payment = payment_of(order)
    if order.refunded:
        return f"Refunded {display(order.refunded, order.currency, order.business.locale)}"
    if payment is None or is_paid(order):
        return payment_method(order)
    return PAYMENT_STATES[enums.PaymentStatus(payment.status)][1]


@dataclass(frozen=True, slots=True)
class OrderLine:
    """A line of an order, with the product if it still exists."""

    item: OrderItem
    product: Product | None


def lines(order: Order, sold: Mapping[UUID, Product]) -> list[OrderLine]:
    return [OrderLine(item, sold.get(item.product_id) if item.product_id else None) for item in order.lines]


def history(order: Order, reader: User) -> list[HistoryLine]:
    """Newest first. Orders placed before histories were kept begin with the line that is known of them."""
    lines = [_line(change, order, reader) for change in reversed(_CHANGES.rows(order=order.pk))]
    if not any(line.title == "Order placed" for line in lines):
        lines.append(HistoryLine(order.created_at, "info", "Order placed"))
    return lines


def _line(change: OrderChange, order: Order, reader: User) -> HistoryLine:
    about = _by(change, reader)
    actor = change.actor_name if change.actor == enums.ActorKind.MERCHANT else ""
    return replace(_said(change, order, about), actor=actor)


def _said(change: OrderChange, order: Order, about: str) -> HistoryLine:
    if change.kind == enums.OrderChangeKind.STATUS:
        status = enums.OrderStatus(change.status)
        return HistoryLine(change.at, STATUS_KINDS.get(status, "info"), str(status.label), about)
    if change.kind == enums.OrderChangeKind.PAYMENT:
        kind, title = PAYMENT_STATES[enums.PaymentStatus(change.status)]
        kind = "info" if change.status == enums.PaymentStatus.PENDING else kind
        return HistoryLine(change.at, kind, title, about)
    if change.kind == enums.OrderChangeKind.METHOD:
        return HistoryLine(change.at, "info", f"Payment method changed to {change.note}", about)
    if change.kind == enums.OrderChangeKind.REFUND:
        title = f"Refunded {display(change.amount or 0, order.currency, order.business.locale)}"
        return HistoryLine(change.at, "info", title, about, change.note)
    if change.kind == enums.OrderChangeKind.STAFF_NOTE:
        return HistoryLine(change.at, "info", "Note for the staff", about, change.note)
    return HistoryLine(change.at, "info", "Order placed", about)


def _by(change: OrderChange, reader: User) -> str:
    match change.actor:
        case enums.ActorKind.MERCHANT:
            return "By you" if change.actor_id == reader.pk else f"By {change.actor_name}"
        case enums.ActorKind.APP:
            return f"By the app {change.actor_name}"
        case enums.ActorKind.SHOPPER:
            return "By the customer"
        case enums.ActorKind.STAFF:
            return "By the platform's staff"
    return f"By {change.actor_name}" if change.actor_name else "Automatically"


def parts(order: Order) -> list[TotalPart]:
    """Each app's part, in the order in which the apps were asked."""
    return [part_of(part) for part in _PARTS.rows(order=order.pk)]


def part_of(part: OrderHookPart) -> TotalPart:
    point = HookPoint(part.point)
    about = DESCRIPTIONS[point]
    answered = part.outcome == enums.HookOutcome.ANSWERED
    if answered:
        title = "gave no discount" if part.amount == 0 and point == HookPoint.DISCOUNTS else about.answered
    elif part.outcome == enums.HookOutcome.SKIPPED:
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


# --- What a merchant may do --------------------------------------------------------------------------

VERBS = {
    enums.OrderStatus.CONFIRMED: "Confirm order",
    enums.OrderStatus.PREPARING: "Start preparing",
    enums.OrderStatus.READY: "Mark as ready",
    enums.OrderStatus.IN_DELIVERY: "Send out for delivery",
    enums.OrderStatus.DELIVERED: "Mark as delivered",
}
# What the question about an unpaid order asks, and its button (contract, section 15).
ACTS = VERBS | {enums.OrderStatus.CONFIRMED: "Confirm"}
STEPS = (
    enums.OrderStatus.CONFIRMED,
    enums.OrderStatus.READY,
    enums.OrderStatus.DELIVERED,
)  # for several orders at once


@dataclass(frozen=True, slots=True)
class OrderStage:
    """A stage of an order: past, current, or one that it may be moved to."""

    status: enums.OrderStatus
    is_reached: bool
    is_current: bool

    @property
    def verb(self) -> str:
        return VERBS[self.status]


def stages(order: Order) -> list[OrderStage]:
    """The way of an order, oldest stage first; none of one that is cancelled. An order to pick up is not sent out."""
    if order.status == enums.OrderStatus.CANCELLED:
        return []
    way = [status for status in enums.FULFILMENT if _on_the_way(order, status)]
    now = way.index(enums.OrderStatus(order.status))
    return [
        OrderStage(status, is_reached=place <= now, is_current=place == now)
        for place, status in enumerate(way)
    ]


def main_stage(order: Order) -> OrderStage | None:
    """The one that the page offers first: confirming, then delivered at once. The stages between are for those who use them."""
    wanted = (
        enums.OrderStatus.CONFIRMED
        if order.status == enums.OrderStatus.PENDING
        else enums.OrderStatus.DELIVERED
    )
    return next((stage for stage in stages(order) if stage.status == wanted and not stage.is_reached), None)


def steps_of(orders: list[Order]) -> list[tuple[enums.OrderStatus, str]]:
    """What at least one of these orders may be moved to, with its verb."""
    return [
        (step, VERBS[step]) for step in STEPS if any(enums.may_move(order.status, step) for order in orders)
    ]


def may_cancel(order: Order) -> bool:
    return enums.may_move(order.status, enums.OrderStatus.CANCELLED)


def _on_the_way(order: Order, status: enums.OrderStatus) -> bool:
    is_picked_up = order.delivery_method == enums.DeliveryMethod.PICKUP
    return not is_picked_up or status != enums.OrderStatus.IN_DELIVERY or order.status == status
