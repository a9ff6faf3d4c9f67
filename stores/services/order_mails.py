"""E-mails to buyers: their order was placed, and it has come further.

Only orders from the storefront have them, and no order of a sandbox store. They hold no words of the buyer, so that a store can't be
used to send someone else's words to strangers; their number for one address is limited.
"""

from email.utils import formataddr, parseaddr
from typing import Final

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string

from common.background import enqueue_after_commit
from common.db.fields import decrypt, encrypt
from common.errors import TooManyRequests
from common.web.auth_limits import limit_failures
from stores import queries
from stores.addresses import store_url
from stores.enums import DeliveryMethod, OrderStatus
from stores.models import LINES, Order

MAILS_PER_WINDOW: Final = 20  # to one address
SUBJECTS: Final = {
    OrderStatus.READY: "Order {number} is ready",
    OrderStatus.IN_DELIVERY: "Order {number} is on its way",
    OrderStatus.CANCELLED: "Order {number} was cancelled",
}


def is_mailed(order: Order) -> bool:
    """Whether the buyer gets e-mails about this order."""
    return bool(order.customer_email and order.page_key_digest and not order.business.is_sandbox)


def mail_placed(*, order: Order, page_key: str) -> None:
    """Have a worker mail the order with the link to its page. Call it in the transaction that saves the order.

    The broker gets the key encrypted, since the key opens the page.
    """
    if is_mailed(order):
        enqueue_after_commit(
            "stores.tasks.mail_order_placed", str(order.pk), encrypt(page_key), run_here=True
        )


def mail_status(*, order: Order) -> None:
    """Have a worker mail the new status, if it is one that the buyer acts on."""
    if OrderStatus(order.status) in SUBJECTS and is_mailed(order):
        enqueue_after_commit("stores.tasks.mail_order_status", str(order.pk), order.status)


def send_placed(*, order_id: str, encrypted_key: str) -> None:
    order = _order(order_id)
    if order:
        page = store_url(order.business.slug, "orders", decrypt(encrypted_key))
        _send(order, f"Order {order.number} at {order.business.name}", "placed", page)


def send_status(*, order_id: str, status: str) -> None:
    """Nothing is sent if the order has gone further since."""
    order = _order(order_id)
    if order and order.status == status:
        subject = SUBJECTS[OrderStatus(status)].format(number=order.number)
        _send(order, f"{subject} – {order.business.name}", "status", "")


def _order(order_id: str) -> Order | None:
    return Order.objects.select_related("business").prefetch_related(LINES).filter(pk=order_id).first()


def _send(order: Order, subject: str, name: str, page: str) -> None:
    try:
        limit_failures("order-mails", key=order.customer_email.lower(), per_window=MAILS_PER_WINDOW)
    except TooManyRequests:
        return
    store = order.business
    context = {
        "order": order,
        "store": store,
        "page": page,
        "home": store_url(store.slug),
        "is_delivery": order.delivery_method == DeliveryMethod.DELIVERY,
        "tagline": queries.store_settings(store).tagline,
    }
    body = render_to_string(f"stores/mail/order_{name}.txt", context)
    _, address = parseaddr(settings.DEFAULT_FROM_EMAIL)
    sender = formataddr((" ".join(store.name.split()), address))
    EmailMessage(" ".join(subject.split()), body, sender, [order.customer_email]).send()
