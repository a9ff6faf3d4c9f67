"""An order's history, and how its total came about, in sentences."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import UUIDField

from accounts.models import User
from common.db.compiled import Compiled, Param
from common.money import display
from extensions.hooks.descriptions import DESCRIPTIONS
from stores.enums import ActorKind, BuiltInPayment, HookOutcome, OrderChangeKind, OrderStatus, PaymentStatus
from stores.hookpoints import HookPoint
from stores.models import Order, OrderChange, OrderHookPart
from stores.standing import is_paid, payment_of

STATUS_KINDS = {OrderStatus.CANCELLED: "bad", OrderStatus.DELIVERED: "ok"}
# Kind and words.
PAYMENT_STATES = {
    PaymentStatus.PENDING: ("warn", "Waiting for payment"),
    PaymentStatus.COMPLETED: ("ok", "Paid"),
    PaymentStatus.FAILED: ("bad", "Payment failed"),
    PaymentStatus.EXPIRED: ("bad", "Payment expired"),
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


def paid_look(order: Order) -> tuple[str, str]:
    """Kind and label of a pill. Money that is still due is loud only if it may never come."""
    if is_paid(order):
        return "ok", "Paid"
    payment = payment_of(order)
    if payment is None or order.status == OrderStatus.CANCELLED:
        return "neutral", "Unpaid"
    return PAYMENT_STATES[PaymentStatus(payment.status)][0], "Unpaid"


def payment_detail(order: Order) -> str:
    """Why it is unpaid, if an app takes the payment; else how it is paid, or what was refunded."""
    payment = payment_of(order)
    if order.refunded:
        return f"Refunded {display(order.refunded, order.currency, order.business.locale)}"
    if payment is None or is_paid(order):
        return payment_method(order)
    return PAYMENT_STATES[PaymentStatus(payment.status)][1]


def history(order: Order, reader: User) -> list[HistoryLine]:
    """Newest first. Orders placed before histories were kept begin with the line that is known of them."""
    lines = [_line(change, order, reader) for change in reversed(_CHANGES.rows(order=order.pk))]
    if not any(line.title == "Order placed" for line in lines):
        lines.append(HistoryLine(order.created_at, "info", "Order placed"))
    return lines


def _line(change: OrderChange, order: Order, reader: User) -> HistoryLine:
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
    if change.kind == OrderChangeKind.REFUND:
        title = f"Refunded {display(change.amount or 0, order.currency, order.business.locale)}"
        return HistoryLine(change.at, "info", title, about, change.note)
    if change.kind == OrderChangeKind.STAFF_NOTE:
        return HistoryLine(change.at, "info", "Note for the staff", about, change.note)
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
    return [_part(part) for part in _PARTS.rows(order=order.pk)]


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
