"""Erases one customer of a store (contract, section 12): what the records say about the person, and every copy of it. And removes the records of
stores whose owner has deleted the account.

`stores/README.md` has the steps: `erase` in one transaction, `erase_copies` right after it, and `sweep` a little later.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import models, transaction
from django.utils import timezone

from accounts.models import Business, ConnectedStore, ShopSystem, User
from accounts.services import outbox
from accounts.sign_in import tickets
from common.db.rows import for_each
from common.errors import Conflict, NotFound
from common.processes.background import enqueue_after_commit
from stores import signals
from stores.buyers import shoppers
from stores.buyers.shoppers import person_of_order
from stores.customers import Copies, Person, Words, blank, orders_of, reviews_of
from stores.enums import OPEN, OrderChangeKind, OrderStatus
from stores.models import (
    Cart,
    CustomerErasure,
    MerchantNews,
    Order,
    OrderChange,
    OrderHookPart,
    Payment,
    Quote,
    Review,
    ShopPayment,
    StoreTotals,
    WaitingMail,
)

log = logging.getLogger(__name__)

SWEPT_AFTER: Final = timedelta(minutes=2)  # longer than any request takes, and the log's wait
WRITTEN: Final = (OrderChangeKind.REFUND, OrderChangeKind.STAFF_NOTE)  # with words of the merchant's


@transaction.atomic
def erase(
    *, business: Business, person: Person, by: User | None = None, now: datetime | None = None
) -> CustomerErasure:
    """Raises `Conflict` that names an order which is neither delivered nor cancelled and for which the merchant is waited for, and
    `NotFound` if nothing is stored.
    """
    found = orders_of(business, person).select_for_update(no_key=True, of=("self",)).order_by("id")
    orders = list(found)
    # Without their products: a connected store may have a review of one that isn't there.
    written = reviews_of(business, person).select_related(None)
    reviews = list(written.select_for_update(no_key=True, of=("self",)).order_by("id"))
    now = now or timezone.now()  # after the locks: what held them has set `updated_at`, too
    waiting = next((order for order in orders if order.status in OPEN), None)
    if waiting and business.capabilities.open_orders_wait:
        raise Conflict(open_reason(waiting))
    if not orders and not reviews:
        raise NotFound("Nothing is stored for this customer.")
    done = CustomerErasure.objects.create(
        business=business,
        by=by,
        at=now,
        order_ids=[str(each.pk) for each in orders],
        review_ids=[str(each.pk) for each in reviews],
        words=Words.of(orders, reviews).stored,
    )
    copies = _copies(done)
    shoppers.forget(
        business=business, people={str(person), *map(person_of_order, orders), *_addresses_of(reviews)}
    )
    _remove_what_waits(copies, _carts(orders, reviews))
    _blank_orders(copies, Words.of(orders, reviews, shortest=1), now)
    Review.objects.filter(pk__in=copies.review_ids).update(
        author_name="", comment="", author_email="", author_email_key="", cart_digest=""
    )
    _blank_log_of_admin(copies)
    signals.customer_erased.send(
        sender=CustomerErasure,
        erasure=done,
        person=person,
        copies=copies,
        since=min([*(each.created_at for each in orders), *(each.created_at for each in reviews)]),
        now=now,
    )
    enqueue_after_commit("stores.tasks.erase_copies_of_customer", str(done.pk))
    return done


def open_reason(order: Order) -> str:
    status = OrderStatus(order.status).label.lower()
    return f"Order {order.number} is still {status}. Deliver or cancel it first, then erase the customer."


def _addresses_of(reviews: Sequence[Review]) -> set[str]:
    return {each.author_email_key or "" for each in reviews}


def _carts(orders: Sequence[Order], reviews: Sequence[Review]) -> set[str]:
    digests = {each.cart_digest for each in orders} | {each.cart_digest for each in reviews}
    return digests - {""}


def _remove_what_waits(copies: Copies, carts: set[str]) -> None:
    """Carts of these browsers in this store, and mails that weren't sent."""
    Cart.objects.filter(business=copies.business, key_digest__in=carts).delete()
    WaitingMail.objects.filter(order__in=copies.order_ids).delete()
    outbox.forget_about(copies.order_ids)
    MerchantNews.objects.filter(
        business=copies.business, about_id__in=[*copies.order_ids, *copies.review_ids]
    ).delete()


def _blank_orders(copies: Copies, words: Words, now: datetime) -> None:
    """`words` may be as short as they are, since only the person's own orders are read. Apps and the merchant wrote the texts."""
    ids = copies.order_ids
    blank(Order.objects.filter(pk__in=ids).exclude(discount_reason=""), _naming(words, "discount_reason"))
    Order.objects.filter(pk__in=ids).update(
        customer_name="",
        customer_email="",
        customer_phone="",
        customer_email_key="",
        customer_phone_key="",
        address="",
        note="",
        attributes=None,
        cart_digest="",
        updated_at=now,
    )
    OrderChange.objects.filter(order__in=ids, kind__in=WRITTEN).update(note="")
    blank(OrderHookPart.objects.filter(order__in=ids), _naming(words, "reason", "instead"))
    Quote.objects.filter(order__in=ids).update(answers={}, attributes=None)
    payments: list[Any] = [
        Payment.objects.filter(order__in=ids),
        ShopPayment.objects.filter(order_id__in=ids),
    ]
    for rows in payments:
        rows.update(payment_url="", qr_code="")  # they may hold whatever the app put there
        blank(rows, _naming(words, "invoice_id", "reference"))


def _naming(words: Words, *columns: str) -> Callable[[Any], dict[str, str]]:
    """Blanks those of these columns in which the person is named."""
    return lambda row: {each: "" for each in columns if words.are_in(getattr(row, each))}


def _blank_log_of_admin(copies: Copies) -> None:
    """The name of a review there had its author's name in earlier versions."""
    for model, ids in ((Order, copies.order_ids), (Review, copies.review_ids)):
        named = LogEntry.objects.filter(
            content_type=ContentType.objects.get_for_model(model), object_id__in=list(map(str, ids))
        )
        named.update(object_repr=f"{model._meta.verbose_name} of an erased customer")


def erase_copies(*, erasure_id: UUID) -> bool:
    """Look for the person's copies. Safe to repeat. False if some place couldn't be looked through; all others were."""
    erasure = CustomerErasure.objects.select_related("business").get(pk=erasure_id)
    if erasure.swept_at is not None:
        return True
    copies = _copies(erasure)
    _blank_keys(copies)
    answers = signals.copies_to_erase.send_robust(sender=CustomerErasure, copies=copies, now=timezone.now())
    return not any(isinstance(answer, Exception) for _, answer in answers)  # Django logs each


def _blank_keys(copies: Copies) -> None:
    """Those that a process of the version before leaves, which knows no keys."""
    orders = Order.objects.filter(pk__in=copies.order_ids, customer_email="", customer_phone="")
    orders.exclude(customer_email_key="", customer_phone_key="").update(
        customer_email_key="", customer_phone_key=""
    )
    reviews = Review.objects.filter(pk__in=copies.review_ids, author_email="")
    reviews.exclude(author_email_key="").update(author_email_key="")


def sweep(*, now: datetime | None = None) -> int:
    """Look once more for copies of who was erased a little while ago. Run by beat; safe to repeat. Returns how many.

    Each is tried, whatever becomes of another. One that fails is reported, and tried again in the next run.
    """
    now = now or timezone.now()
    due = CustomerErasure.objects.filter(swept_at=None, at__lte=now - SWEPT_AFTER).order_by("at")
    return for_each(list(due.values_list("pk", flat=True)), lambda pk: _sweep(pk, now), task="sweep_erasures")


def _sweep(erasure_id: UUID, now: datetime) -> bool:
    if not erase_copies(erasure_id=erasure_id):
        log.error("Not every copy of a customer could be looked for (erasure %s).", erasure_id)
        return False
    looked: dict[str, Any] = {"order_ids": [], "review_ids": [], "words": None, "swept_at": now}
    return bool(CustomerErasure.objects.filter(pk=erasure_id, swept_at=None).update(**looked))


def _copies(erasure: CustomerErasure) -> Copies:
    return Copies(
        business=erasure.business,
        order_ids=[UUID(each) for each in erasure.order_ids],
        review_ids=[UUID(each) for each in erasure.review_ids],
        words=Words.read(erasure.words),
        at=erasure.at,
    )


# --- Stores whose owner has left ---------------------------------------------------------------------

# In batches, each in its own transaction. A store's row of totals goes last, so a store that has one isn't done yet, and the
# next run continues one that was interrupted.

BATCH: Final = 500
READ: Final = (
    20_000  # ids at once: to find them, PostgreSQL sorts all that are left, and passes all that are gone
)


def remove_records_of_deleted_stores(*, batch: int = BATCH) -> int:
    """Returns the number of stores that are empty now."""
    unfinished = StoreTotals.objects.filter(
        business__owner__deleted_at__isnull=False, business__is_connected=False
    )
    stores = list(unfinished.values_list("business_id", flat=True))
    return for_each(stores, lambda store: empty_store(store, batch), task="remove_records_of_deleted_stores")


def remove_ended_stores(*, batch: int = BATCH) -> int:
    """Those of shop systems. Their ids may be used again once they are empty; a connection that has ended goes with its last one."""
    ended = ConnectedStore.objects.filter(ending_since__isnull=False).order_by("ending_since")
    stores = list(ended.values_list("business_id", flat=True))
    emptied = for_each(stores, lambda store: _free(store, batch), task="remove_ended_stores")
    ShopSystem.objects.filter(ended_at__isnull=False, stores=None).delete()
    return emptied


def _free(store: UUID, batch: int) -> int:
    empty_store(store, batch)
    tickets.end_people(store=store)
    ConnectedStore.objects.filter(business=store).delete()
    return 1


def empty_store(store: UUID, batch: int = BATCH) -> int:
    """Remove all records of a store that has ended. Returns 1."""
    for model in _records():
        _remove(model, store, batch)
    StoreTotals.objects.filter(business=store).delete()
    return 1


def _records() -> list[type[models.Model]]:
    """The models with a store's rows. All other rows belong to these, and go with them.

    That customers were erased stays: apps may still be asked, and nothing in it is about them.
    """
    found = apps.get_app_config("stores").get_models()
    return [
        model
        for model in found
        if model not in (StoreTotals, CustomerErasure)
        and any(each.name == "business" for each in model._meta.fields)
    ]


def _remove(model: Any, store: UUID, batch: int) -> None:
    rows = model._base_manager.filter(business=store).order_by("pk").values_list("pk", flat=True)
    while ids := list(rows[:READ]):
        for start in range(0, len(ids), batch):
            model._base_manager.filter(pk__in=ids[start : start + batch]).delete()
