"""E-mails to buyers: their order was placed, and it has come further. And the frame of all mails to the buyers and the merchants of a store: its
name, its color and its logo.

Only orders from the storefront have them, and no order of a sandbox store. They hold no words of the buyer, so that a store can't be
used to send someone else's words to strangers; their number for one address is limited. They hold the store's words, so
the sender names the platform, too, and the owner of new stores has a limit for each day: what is over waits. Answers go to the owner.
"""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from email.utils import formataddr, parseaddr
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from accounts.models import Business, Mail
from accounts.services.confirmation import must_confirm
from accounts.services.outbox import Later, facts_of, post_later, writes
from accounts.sign_in.limits import UnaskedMail
from common.db.rows import for_each
from common.languages import ENGLISH, language_of, speaking
from common.mails.letters import LetterFrame, MailDraft, platform_frame
from stores import queries, standing
from stores.addresses import mailed_key, order_key, store_origin, store_url
from stores.enums import Accent, DeliveryMethod, OrderStatus, PaymentStatus
from stores.models import LINES, BuyerMails, Order, WaitingMail

PLACED_KIND: Final = "order-placed"
STATUS_KIND: Final = "order-status"
NEW: Final = timedelta(days=7)  # how long a store is new
WHY: Final = gettext_lazy(
    "You get this e-mail because this address was given with the order. If it wasn't you, ignore it."
)
SUBJECTS: Final = {
    OrderStatus.READY: gettext_lazy("Order %(number)s is ready – %(store)s"),
    OrderStatus.IN_DELIVERY: gettext_lazy("Order %(number)s is on its way – %(store)s"),
    OrderStatus.CANCELLED: gettext_lazy("Order %(number)s was cancelled – %(store)s"),
}
PLACED: Final = gettext_lazy("Order %(number)s at %(store)s")


def is_mailed(order: Order) -> bool:
    """Whether the buyer gets e-mails about this order."""
    store = order.business
    is_told = store.capabilities.buyers_mails and not store.is_sandbox
    return bool(order.customer_email and order.page_key_digest and is_told)


def mail_placed(*, order: Order, page_key: str) -> None:
    """Mail the order with the link to its page. Call it in the transaction that saves the order."""
    if is_mailed(order):
        post_later(kind=PLACED_KIND, to=order.customer_email, about_id=order.pk, page_key=page_key)


def mail_status(*, order: Order) -> None:
    """Mail the new status, if it is one that the buyer acts on. Call it in the transaction that saves it."""
    if OrderStatus(order.status) in SUBJECTS and is_mailed(order):
        post_later(kind=STATUS_KIND, to=order.customer_email, about_id=order.pk, status=order.status)


def _count(mail: Mail) -> None:
    """Count a mail of a new store. One sender works at a time (`accounts.services.sender`), so any number of stores keeps the limit."""
    now = timezone.now()
    store = Business.objects.get(orders=mail.about_id)
    if _is_new(store, now):
        row, _ = BuyerMails.objects.get_or_create(business=store, defaults={"day": _day(now)})
        row.day, row.sent = _day(now), row.sent + 1 if row.day == _day(now) else 1
        row.save()


@writes(PLACED_KIND, limit=UnaskedMail.ORDER, sent=_count)
def _write_placed(mail: Mail) -> MailDraft | None:
    if (order := _order(mail)) is None:
        return None
    return _write(order, "order_placed", PLACED, mailed_key(order.pk))


@writes(STATUS_KIND, limit=UnaskedMail.ORDER, sent=_count)
def _write_status(mail: Mail) -> MailDraft | None:
    """None if the order has gone further since."""
    order = _order(mail)
    if order is None or order.status != facts_of(mail)["status"]:
        return None
    return _write(order, "order_status", SUBJECTS[OrderStatus(order.status)], order_key(order.pk))


def _order(mail: Mail) -> Order | None:
    """None if its customer was erased meanwhile. Raises `Later` if its store's owner has sent the mails of this day."""
    rows = Order.objects.select_related("business__owner", "payment").prefetch_related(LINES)
    order = rows.filter(pk=mail.about_id).exclude(customer_email="").first()
    if order and not _is_within_limit(order.business, now := timezone.now()):
        raise Later(datetime.combine(_day(now) + timedelta(days=1), time(), UTC))
    return order


def _is_within_limit(store: Business, now: datetime) -> bool:
    if not _is_new(store, now):
        return True
    mails = BuyerMails.objects.filter(business__in=_new_stores_of(store, now), day__gte=_day(now))
    return (mails.aggregate(sent=Sum("sent"))["sent"] or 0) < settings.NEW_STORE_MAILS


def _is_new(store: Business, now: datetime) -> bool:
    return store.created_at > now - NEW


def _new_stores_of(store: Business, now: datetime) -> QuerySet[Business]:
    """Those of its owner, itself included."""
    return Business.objects.owned_by(store.owner_id).filter(is_sandbox=False, created_at__gt=now - NEW)


def _day(now: datetime) -> date:
    return now.astimezone(UTC).date()


def _write(order: Order, template: str, subject: str | Promise, page_key: str) -> MailDraft:
    store = order.business
    _, address = parseaddr(settings.DEFAULT_FROM_EMAIL)
    language = language_of(store.locale)
    with speaking(language):
        who = gettext("%(store)s via %(platform)s")
        sender = formataddr(
            (who % {"store": " ".join(store.name.split()), "platform": settings.PLATFORM_NAME}, address)
        )
        facts = {
            "order": order,
            "store": store,
            "standing": standing.for_buyer(order),
            "page": store_url(store.slug, "orders", page_key),
            "pay_before": _pay_before(order),
            "is_delivery": order.delivery_method == DeliveryMethod.DELIVERY,
        }
        return MailDraft(
            str(subject) % {"number": order.number, "store": store.name},
            f"stores/mail/{template}.txt",
            facts,
            store_frame(store, str(WHY), language),
            zone=store.timezone,
            sender=sender,
            reply_to="" if must_confirm(store.owner) else store.owner.email,
        )


def _pay_before(order: Order) -> datetime | None:
    payment = standing.payment_of(order)
    waits = (
        payment is not None
        and payment.status == PaymentStatus.PENDING
        and order.status != OrderStatus.CANCELLED
    )
    return payment.expires_at if payment and waits else None


def take_over_waiting() -> int:
    """Have the sender send what a process of the version before has kept for another day. Safe to repeat."""
    return for_each(list(WaitingMail.objects.order_by("pk")), _take_over, task="send_waiting_mails")


@transaction.atomic
def _take_over(mail: WaitingMail) -> int:
    kind = STATUS_KIND if mail.status else PLACED_KIND
    facts: dict[str, Any] = {"status": mail.status} if mail.status else {"page_key": mail.page_key}
    if taken := WaitingMail.objects.filter(pk=mail.pk).delete()[0]:
        post_later(kind=kind, to=mail.order.customer_email, about_id=mail.order_id, **facts)
    return taken


# --- The frame of a store's mails --------------------------------------------------------------------

# For light and for dark: as text and behind text. static/css/accents.css has the same, which a test compares.
ACCENTS: Final = {
    Accent.GRAPHITE: ("#22262d", "#e8ebf0"),
    Accent.INDIGO: ("#4252cd", "#a7bafe"),
    Accent.BLUE: ("#0465af", "#89c3fe"),
    Accent.TEAL: ("#067272", "#82cdcd"),
    Accent.GREEN: ("#057836", "#8bd19a"),
    Accent.OLIVE: ("#626a09", "#bcc587"),
    Accent.AMBER: ("#865900", "#e3b575"),
    Accent.ORANGE: ("#9e4500", "#fda578"),
    Accent.RED: ("#bb0916", "#ffa196"),
    Accent.PINK: ("#b0175f", "#fe9bba"),
    Accent.PURPLE: ("#7d3ab7", "#d0a9fd"),
    Accent.BROWN: ("#82583b", "#d9b69e"),
}


def merchant_frame(store: Business) -> LetterFrame:
    note = "You can choose which notices are mailed on the Notices page of your store."
    if not store.capabilities.named_in_mails:
        return replace(platform_frame(), note=note)
    return store_frame(store, note)


def store_frame(store: Business, note: str = "", language: str = ENGLISH) -> LetterFrame:
    """`note` is a line at the end, such as why one gets the mail. `language` is that of the whole mail."""
    look = queries.store_settings(store)
    logo = store_origin(store.slug) + look.logo.thumbnail_path if look.logo else ""
    accent = ACCENTS[Accent(look.accent)]
    name, url = " ".join(store.name.split()), store_url(store.slug)
    return LetterFrame(name, url, accent=accent, logo=logo, note=note, language=language)
