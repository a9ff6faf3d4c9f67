"""Erases one customer of a store (contract, section 12): what the records say about the person, and every copy of it.

Numbers, items, amounts, dates and statuses stay. It is one transaction: apps above blank their copies in it
(`signals.copies_to_erase`) and ask the apps that could read the person's records (`signals.customer_erased`).

What was under way meanwhile may still write what it has read: the log of a request, say. So `sweep` looks once more, a
little later, for copies of these records. Their ids are kept until then.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import Business, User
from common.errors import Conflict, NotFound
from stores import signals
from stores.copies import UNDER_WAY, Copies, words_of
from stores.customers import Person, orders_of, reviews_of
from stores.enums import OPEN, OrderChangeKind, OrderStatus
from stores.models import (
    Cart,
    CustomerErasure,
    MerchantNews,
    Order,
    OrderChange,
    OrderHookPart,
    Payment,
    Review,
    WaitingMail,
)

SWEPT_AFTER: Final = timedelta(minutes=2)  # longer than any request takes, and the log's wait
BEFORE_ITS_RECORD: Final = timedelta(
    minutes=2
)  # a request, and the calls of hooks that it waits for, come first
WRITTEN: Final = (OrderChangeKind.REFUND, OrderChangeKind.STAFF_NOTE)  # with words of the merchant's


@transaction.atomic
def erase(
    *, business: Business, person: Person, by: User | None = None, now: datetime | None = None
) -> CustomerErasure:
    """Raises `Conflict` that names an order which is neither delivered nor cancelled, and `NotFound` if nothing is stored."""
    now = now or timezone.now()
    found = orders_of(business, person).select_for_update(no_key=True, of=("self",)).order_by("id")
    orders = list(found)
    reviews = list(reviews_of(business, person).select_for_update(no_key=True, of=("self",)).order_by("id"))
    if waiting := next((order for order in orders if order.status in OPEN), None):
        raise Conflict(open_reason(waiting))
    if not orders and not reviews:
        raise NotFound("Nothing is stored for this customer.")
    first = min([*(each.created_at for each in orders), *(each.created_at for each in reviews)])
    copies = Copies(
        business=business,
        order_ids=[order.pk for order in orders],
        review_ids=[review.pk for review in reviews],
        words=words_of(orders, reviews),
        since=first,
        copied_since=first - BEFORE_ITS_RECORD,
        until=now + UNDER_WAY,
    )
    done = CustomerErasure.objects.create(
        business=business,
        by=by,
        at=now,
        order_ids=[str(each) for each in copies.order_ids],
        review_ids=[str(each) for each in copies.review_ids],
    )
    _remove_what_waits(copies, _carts(orders, reviews))
    _blank_orders(copies, now)
    Review.objects.filter(pk__in=copies.review_ids).update(
        author_name="", comment="", author_email="", cart_digest=""
    )
    signals.copies_to_erase.send(sender=CustomerErasure, copies=copies, now=now)
    signals.customer_erased.send(sender=CustomerErasure, erasure=done, person=person, copies=copies, now=now)
    return done


def open_reason(order: Order) -> str:
    status = OrderStatus(order.status).label.lower()
    return f"Order {order.number} is still {status}. Deliver or cancel it first, then erase the customer."


def _carts(orders: Sequence[Order], reviews: Sequence[Review]) -> set[str]:
    digests = {each.cart_digest for each in orders} | {each.cart_digest for each in reviews}
    return digests - {""}


def _remove_what_waits(copies: Copies, carts: set[str]) -> None:
    """Carts of these browsers in this store, and mails that weren't sent."""
    Cart.objects.filter(business=copies.business, key_digest__in=carts).delete()
    WaitingMail.objects.filter(order__in=copies.order_ids).delete()
    MerchantNews.objects.filter(
        business=copies.business, about_id__in=[*copies.order_ids, *copies.review_ids]
    ).delete()


def _blank_orders(copies: Copies, now: datetime) -> None:
    ids = copies.order_ids
    orders = Order.objects.filter(pk__in=ids)
    orders.filter(copies.in_words("discount_reason")).update(discount_reason="")
    orders.update(
        customer_name="",
        customer_email="",
        customer_phone="",
        address="",
        note="",
        cart_digest="",
        updated_at=now,
    )
    OrderChange.objects.filter(order__in=ids, kind__in=WRITTEN).update(note="")
    parts = OrderHookPart.objects.filter(order__in=ids)
    for column in ("reason", "instead"):
        parts.filter(copies.in_words(column)).update(**{column: ""})
    payments = Payment.objects.filter(order__in=ids)
    payments.update(payment_url="", qr_code="")  # they may hold whatever the app put there
    for column in ("invoice_id", "reference"):
        payments.filter(copies.in_words(column)).update(**{column: ""})


def sweep(*, now: datetime | None = None) -> int:
    """Look once more for copies of what was erased a little while ago. Run by beat; safe to repeat. Returns how many."""
    now = now or timezone.now()
    due = CustomerErasure.objects.filter(swept_at=None, at__lte=now - SWEPT_AFTER).select_related("business")
    done = 0
    for erasure in due.order_by("at")[:100]:
        _sweep(erasure, now)
        done += 1
    return done


@transaction.atomic
def _sweep(erasure: CustomerErasure, now: datetime) -> None:
    copies = Copies(
        business=erasure.business,
        order_ids=_ids(erasure.order_ids),
        review_ids=_ids(erasure.review_ids),
        words=(),
        since=erasure.at,
        copied_since=erasure.at - SWEPT_AFTER,
        until=erasure.at + UNDER_WAY,
    )
    signals.copies_to_erase.send(sender=CustomerErasure, copies=copies, now=now)
    erasure.order_ids, erasure.review_ids, erasure.swept_at = [], [], now
    erasure.save(update_fields=["order_ids", "review_ids", "swept_at"])


def _ids(texts: Sequence[str]) -> list[UUID]:
    return [UUID(each) for each in texts]
