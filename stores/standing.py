"""The state of an order: its payment beside its status.

What is paid is decided here alone. The buyer's page and mails take their sentences from here, so that one state never
contradicts the other.
"""

from typing import Final

from django.db.models import Q

from common.money import display
from stores.enums import BuiltInPayment, DeliveryMethod, OrderStatus, PaymentStatus
from stores.models import Order, Payment

_OWED: Final = (PaymentStatus.PENDING, PaymentStatus.FAILED, PaymentStatus.EXPIRED)

# What the merchant collects counts as paid once the customer has received it. Both are for orders joined with their payment.
PAID: Final = Q(payment__status=PaymentStatus.COMPLETED) | Q(
    payment__isnull=True, status=OrderStatus.DELIVERED
)
UNPAID: Final = Q(payment__status__in=_OWED) | (Q(payment__isnull=True) & ~Q(status=OrderStatus.DELIVERED))
# A payment through an app that may never come. That of a cancelled order is not waited for.
UNPAID_ONLINE: Final = Q(payment__status__in=_OWED) & ~Q(status=OrderStatus.CANCELLED)


def payment_of(order: Order) -> Payment | None:
    """An app's payment; None if the merchant collects it."""
    return getattr(order, "payment", None)


def is_unpaid_online(order: Order) -> bool:
    """Whether an app takes the payment, and it isn't completed."""
    payment = payment_of(order)
    return payment is not None and payment.status != PaymentStatus.COMPLETED


def is_paid(order: Order) -> bool:
    payment = payment_of(order)
    return order.status == OrderStatus.DELIVERED if payment is None else not is_unpaid_online(order)


def refundable(order: Order) -> int:
    """What was paid and not given back yet, in minor units."""
    return order.amount - order.refunded if is_paid(order) else 0


# --- For the buyer ----------------------------------------------------------------------------------

_GOODS: Final = {
    OrderStatus.PENDING: "The store has received your order.",
    OrderStatus.CONFIRMED: "The store has confirmed your order.",
    OrderStatus.PREPARING: "The store is preparing your order.",
    OrderStatus.READY: "Your order is ready and leaves the store soon.",
    OrderStatus.IN_DELIVERY: "Your order is on its way to you.",
    OrderStatus.DELIVERED: "Your order was delivered.",
    OrderStatus.CANCELLED: "Your order was cancelled.",
}
_PICKED_UP: Final = {
    OrderStatus.READY: "Your order is ready for pickup.",
    OrderStatus.DELIVERED: "Your order was picked up.",
}
_HOW: Final[dict[str, str]] = {BuiltInPayment.CASH: " in cash", BuiltInPayment.CARD: " by card"}
_DUE: Final = {
    PaymentStatus.PENDING: "It is not paid yet: {amount} is due.",
    PaymentStatus.FAILED: "The payment failed, so {amount} is still due.",
    PaymentStatus.EXPIRED: "The time to pay is over, so {amount} is still due.",
}


def for_buyer(order: Order) -> str:
    """Where the order is and what is paid, in two sentences or three. The order comes with its payment and business."""
    return f"{_about_goods(order)} {_about_money(order)}"


def title_for_buyer(order: Order) -> str:
    """The heading of the order's page. It asks for the payment only before the store has begun."""
    if order.status == OrderStatus.CANCELLED:
        return f"Order {order.number} is cancelled"
    payment = payment_of(order)
    if payment is None or order.status != OrderStatus.PENDING or payment.status == PaymentStatus.COMPLETED:
        return "Thank you for your order"
    if payment.status == PaymentStatus.PENDING:
        return f"Pay for order {order.number}"
    return f"Order {order.number} is not paid yet"


def _about_goods(order: Order) -> str:
    status = OrderStatus(order.status)
    if order.delivery_method == DeliveryMethod.PICKUP and status in _PICKED_UP:
        return _PICKED_UP[status]
    return _GOODS[status]


def _about_money(order: Order) -> str:
    amount = display(order.amount, order.currency, order.business.locale)
    payment, is_cancelled = payment_of(order), order.status == OrderStatus.CANCELLED
    if payment is not None and payment.status == PaymentStatus.COMPLETED:
        return f"You have paid {amount}.{_about_refund(order)}"
    if is_cancelled:
        return "There is nothing to pay."
    if payment is not None:
        return _DUE[PaymentStatus(payment.status)].format(amount=amount)
    how = _HOW.get(order.payment_method, "")
    if order.status == OrderStatus.DELIVERED:
        return f"You paid {amount}{how}.{_about_refund(order)}"
    return f"You pay {amount}{how} when you receive it."


def _about_refund(order: Order) -> str:
    """What was given back of a paid order, and what a cancelled one still lacks."""
    is_open = order.status == OrderStatus.CANCELLED and refundable(order)
    if not order.refunded:
        return " Ask the store about a refund." if is_open else ""
    back = f" The store refunded {display(order.refunded, order.currency, order.business.locale)}."
    return f"{back} Ask the store about the rest." if is_open else back
