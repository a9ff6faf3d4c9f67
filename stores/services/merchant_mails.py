"""Mails to the people of a store about it: new orders, products that run low, new reviews.

A row is written in the transaction of what happened, so nothing that is committed is lost, and nothing else is mailed. Beat starts a run every
ten seconds, so an order sends no message. The first run that sees a row makes one of it for each person, because each chooses how
often they want mails. The rows of a mail go in the transaction that gives it to the sender.

Mails hold no words and no data of customers: the page has these.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.access import people_of
from accounts.enums import Frequency, StoreNotice, StoreRole
from accounts.models import Business, User
from accounts.services.outbox import OF_ORDERS, frequency_of, post
from common.db.inserts import insert
from common.db.rows import for_each
from common.mails.letters import MailDraft
from common.money import display
from stores.enums import BuiltInPayment, PaymentStatus, is_low
from stores.models import LINES, MerchantNews, Order, Product, Review
from stores.services.order_mails import merchant_frame

log = logging.getLogger(__name__)

MORNING: Final = 8  # the hour of daily mails, in the store's time zone
BATCH: Final = 200  # in one mail
ADDRESSED: Final = 1000  # in one run
SINGLE: Final = 10  # mails for each at once; what piled up beyond that is one mail
LISTED: Final = 20  # in one mail, by name
PUT_OFF: Final = timedelta(hours=1)  # what could not be written
GIVEN_UP: Final = timedelta(days=14)
# The least role of who gets them, by kind.
LEAST: Final = {kind: StoreRole.ORDERS if kind in OF_ORDERS else StoreRole.MANAGER for kind in StoreNotice}
PERIODS: Final = {Frequency.HOURLY: timedelta(hours=1), Frequency.DAILY: timedelta(days=1)}


def note(*, business: Business, kind: StoreNotice, now: datetime, about_id: UUID) -> None:
    """Remember what to mail. Call it in the transaction of what happened; `about_id` is the id of the order, the product or the review."""
    if business.is_sandbox or not business.capabilities.merchants_news:
        return
    insert(MerchantNews(business=business, kind=kind, about_id=about_id, at=now, due_at=now))


def choices_changed(*, person: User) -> None:
    """Have the next run look at all that waits for this person."""
    MerchantNews.objects.filter(recipient=person).update(due_at=timezone.now())


def send_due(*, now: datetime | None = None) -> int:
    """Have what is due in all stores mailed. Returns the number of mails.

    Safe to run twice at once. A mail that fails for one person or store is put off, and stops no other.
    """
    now = now or timezone.now()
    due = MerchantNews.objects.filter(due_at__lte=now).order_by().values_list("business_id", flat=True)
    sent = for_each(list(due.distinct()), lambda pk: _mail_store(pk, now), task="mail_merchants")
    for lost in MerchantNews.objects.filter(due_at__lte=now, at__lt=now - GIVEN_UP)[:BATCH]:
        log.warning("%s could not be mailed for %s.", lost, GIVEN_UP)
        lost.delete()
    return sent


def _mail_store(business_id: UUID, now: datetime) -> int:
    store = Business.objects.select_related("owner").filter(pk=business_id).first()
    if store is None:
        return 0
    people = {kind: people_of([store], LEAST[kind])[store.pk] for kind in StoreNotice}
    with _put_off_where_it_fails(MerchantNews.objects.filter(business=store), now):
        _address(store, people)
    addressed = [(person, kind) for kind in StoreNotice for person in people[kind]]
    return for_each(addressed, lambda each: _mail_kind(store, *each, now), task="mail_merchants")


@contextmanager
def _put_off_where_it_fails(news: QuerySet[MerchantNews], now: datetime) -> Iterator[None]:
    try:
        yield
    except Exception:
        news.filter(due_at__lte=now).update(due_at=now + PUT_OFF)
        raise


@transaction.atomic
def _address(store: Business, people: Mapping[StoreNotice, Sequence[User]]) -> None:
    """Make one row of each for each person who may know of it, and remove those of people who may no longer."""
    rows = MerchantNews.objects.filter(business=store)
    for kind, recipients in people.items():
        rows.filter(kind=kind, recipient__isnull=False).exclude(recipient__in=recipients).delete()
        new = rows.filter(kind=kind, recipient=None).select_for_update(skip_locked=True)
        found = list(new.order_by("pk")[:ADDRESSED])
        MerchantNews.objects.bulk_create(
            MerchantNews(
                business=store,
                kind=kind,
                about_id=each.about_id,
                at=each.at,
                due_at=each.due_at,
                recipient=person,
            )
            for person in recipients
            for each in found
        )
        _rows(found).delete()


def _mail_kind(store: Business, person: User, kind: StoreNotice, now: datetime) -> int:
    sent, mine = 0, MerchantNews.objects.filter(business=store, recipient=person, kind=kind)
    with _put_off_where_it_fails(mine, now):
        while (outcome := _post_next(store, person, kind, now)) is not None:
            sent += outcome
    return sent


@transaction.atomic
def _post_next(store: Business, person: User, kind: StoreNotice, now: datetime) -> bool | None:
    """Have one mail sent and remove its rows. None if nothing is left to look at, False if there was nothing to send."""
    rows = MerchantNews.objects.select_for_update(of=("self",), skip_locked=True).order_by("pk")
    waiting = list(rows.filter(business=store, recipient=person, kind=kind, due_at__lte=now)[:BATCH])
    if not waiting:
        return None
    news = _ripe(waiting, frequency_of(person, kind), store, now)
    draft = _compose(store, kind, news) if news else None
    _rows(news).delete()
    if draft:
        post(draft, to=person.email, kind=kind)
    return draft is not None


def _ripe(
    waiting: Sequence[MerchantNews], often: Frequency, store: Business, now: datetime
) -> list[MerchantNews]:
    """The rows of the next mail. Those of a later one wait until then, and those that are not wanted are removed."""
    if often == Frequency.OFF:
        _rows(waiting).delete()
        return []
    if often == Frequency.EACH:
        return list(waiting[:1] if len(waiting) <= SINGLE else waiting)
    since = begin_of_period(often, now, store.timezone)
    _rows(each for each in waiting if each.at >= since).update(due_at=since + PERIODS[often])
    return [each for each in waiting if each.at < since]


def begin_of_period(often: Frequency, now: datetime, zone: str) -> datetime:
    """A summary has all that happened before this moment."""
    local = now.astimezone(ZoneInfo(zone)).replace(minute=0, second=0, microsecond=0)
    if often == Frequency.HOURLY:
        return local
    return local.replace(hour=MORNING) - (timedelta(days=1) if local.hour < MORNING else timedelta())


def _rows(news: Iterable[MerchantNews]) -> Any:
    return MerchantNews.objects.filter(pk__in=[each.pk for each in news])


# What the mails say


def _compose(store: Business, kind: StoreNotice, news: Sequence[MerchantNews]) -> MailDraft | None:
    """None if nothing is worth a mail any more."""
    written = _WRITERS[kind](store, news)
    if written is None:
        return None
    subject, context = written
    template, facts = f"stores/mail/{kind.value}.txt", context | {"business": store}
    return MailDraft(subject, template, facts, merchant_frame(store), store.timezone)


Written = tuple[str, dict[str, Any]]


def _page(*path: str) -> str:
    """Of the merchant's pages, which ask people to sign in and then show it."""
    return f"{settings.BASE_URL}/merchant/{''.join(path)}"


def _orders(store: Business, news: Sequence[MerchantNews]) -> Written | None:
    rows = Order.objects.select_related("payment", "business").prefetch_related(LINES)
    orders = list(
        rows.filter(business=store, pk__in=[each.about_id for each in news]).order_by("created_at", "pk")
    )
    if not orders:
        return None
    total = display(sum(order.amount for order in orders), orders[0].currency, store.locale)
    subject = (
        f"New order {orders[0].number}, {total}" if len(orders) == 1 else f"{len(orders)} new orders, {total}"
    )
    single = orders[0] if len(orders) == 1 else None
    context = {"orders": orders[:LISTED], "rest": max(0, len(orders) - LISTED), "order": single}
    context["page"] = _page("orders/", f"{single.pk}/" if single else "")
    return subject, context | {"payment": payment_for_merchant(single) if single else ""}


def payment_for_merchant(order: Order) -> str:
    payment = getattr(order, "payment", None)
    if payment is None:
        return f"{BuiltInPayment(order.payment_method).label}, when the customer receives the order"
    paid = "Paid" if payment.status == PaymentStatus.COMPLETED else "Not paid yet"
    return f"{paid}, {order.payment_method_name}"


def _stock(store: Business, news: Sequence[MerchantNews]) -> Written | None:
    """Of products that are still low."""
    products = Product.objects.filter(business=store, pk__in={each.about_id for each in news}).order_by(
        "name"
    )
    low = [
        product
        for product in products
        if product.stock == 0 or is_low(product.stock, product.low_stock_threshold)
    ]
    if not low:
        return None
    subject = f"{low[0].name} is running low" if len(low) == 1 else f"{len(low)} products are running low"
    return subject, {
        "products": low[:LISTED],
        "rest": max(0, len(low) - LISTED),
        "page": _page("products/?show=low"),
    }


def _reviews(store: Business, news: Sequence[MerchantNews]) -> Written | None:
    rows = Review.objects.filter(business=store, pk__in=[each.about_id for each in news])
    reviews = list(rows.select_related("product").order_by("pk"))
    if not reviews:
        return None
    one = f"New review of {reviews[0].product.name}"
    subject = one if len(reviews) == 1 else f"{len(reviews)} new reviews"
    return subject, {
        "reviews": reviews[:LISTED],
        "rest": max(0, len(reviews) - LISTED),
        "page": _page("reviews/"),
    }


_WRITERS: Final = {
    StoreNotice.NEW_ORDERS: _orders,
    StoreNotice.LOW_STOCK: _stock,
    StoreNotice.NEW_REVIEWS: _reviews,
}
