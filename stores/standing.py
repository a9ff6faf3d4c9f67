"""The state of an order: its payment beside its status.

Whether an order is paid is decided here alone. The buyer's page and mails take their sentences from here, so that one state never
contradicts the other.
"""

from collections.abc import Iterator
from typing import Final

from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.money import display
from stores.enums import BuiltInPayment, DeliveryMethod, OrderStatus, PaymentStatus
from stores.models import Order, Payment

_OWED: Final = (PaymentStatus.PENDING, PaymentStatus.FAILED, PaymentStatus.EXPIRED)

# Money that the merchant collects counts as paid once the customer has received it. Both are for orders joined with their payment.
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


# --- For the buyer, in the active language ---------------------------------------------------------

_GOODS: Final = {
    OrderStatus.PENDING: _("The store has received your order."),
    OrderStatus.CONFIRMED: _("The store has confirmed your order."),
    OrderStatus.PREPARING: _("The store is preparing your order."),
    OrderStatus.READY: _("Your order is ready and leaves the store soon."),
    OrderStatus.IN_DELIVERY: _("Your order is on its way to you."),
    OrderStatus.DELIVERED: _("Your order was delivered."),
    OrderStatus.CANCELLED: _("Your order was cancelled."),
}
_PICKED_UP: Final = {
    OrderStatus.READY: _("Your order is ready for pickup."),
    OrderStatus.DELIVERED: _("Your order was picked up."),
}
_WILL_PAY: Final[dict[str, Promise]] = {
    BuiltInPayment.CASH: _("You pay %(amount)s in cash when you receive it."),
    BuiltInPayment.CARD: _("You pay %(amount)s by card when you receive it."),
}
_HAVE_PAID: Final[dict[str, Promise]] = {
    BuiltInPayment.CASH: _("You paid %(amount)s in cash."),
    BuiltInPayment.CARD: _("You paid %(amount)s by card."),
}
_DUE: Final = {
    PaymentStatus.PENDING: _("It is not paid yet: %(amount)s is due."),
    PaymentStatus.FAILED: _("The payment failed, so %(amount)s is still due."),
    PaymentStatus.EXPIRED: _("The time to pay is over, so %(amount)s is still due."),
}


def for_buyer(order: Order) -> str:
    """Where the order is and what is paid, in two sentences or three. The order comes with its payment and business."""
    return f"{_about_goods(order)} {_about_money(order)}"


def title_for_buyer(order: Order) -> str:
    """The heading of the order's page. It asks for the payment only before the store has begun."""
    number = {"number": order.number}
    if order.status == OrderStatus.CANCELLED:
        return gettext("Order %(number)s is cancelled") % number
    payment = payment_of(order)
    if payment is None or order.status != OrderStatus.PENDING or payment.status == PaymentStatus.COMPLETED:
        return gettext("Thank you for your order")
    if payment.status == PaymentStatus.PENDING:
        return gettext("Pay for order %(number)s") % number
    return gettext("Order %(number)s is not paid yet") % number


def _about_goods(order: Order) -> str:
    status = OrderStatus(order.status)
    if order.delivery_method == DeliveryMethod.PICKUP and status in _PICKED_UP:
        return str(_PICKED_UP[status])
    return str(_GOODS[status])


def _about_money(order: Order) -> str:
    amount = {"amount": display(order.amount, order.currency, order.business.locale)}
    payment, method = payment_of(order), order.payment_method
    if payment is not None and payment.status == PaymentStatus.COMPLETED:
        return " ".join([gettext("You have paid %(amount)s.") % amount, *_about_refund(order)])
    if order.status == OrderStatus.CANCELLED:
        return gettext("There is nothing to pay.")
    if payment is not None:
        return str(_DUE[PaymentStatus(payment.status)]) % amount
    if order.status == OrderStatus.DELIVERED:
        paid = str(_HAVE_PAID.get(method) or gettext("You paid %(amount)s.")) % amount
        return " ".join([paid, *_about_refund(order)])
    return str(_WILL_PAY.get(method) or gettext("You pay %(amount)s when you receive it.")) % amount


def _about_refund(order: Order) -> Iterator[str]:
    """What was given back of a paid order, and what a cancelled one still lacks."""
    is_open = order.status == OrderStatus.CANCELLED and refundable(order)
    if order.refunded:
        amount = display(order.refunded, order.currency, order.business.locale)
        yield gettext("The store refunded %(amount)s.") % {"amount": amount}
    if is_open and order.refunded:
        yield gettext("Ask the store about the rest.")
    elif is_open:
        yield gettext("Ask the store about a refund.")
