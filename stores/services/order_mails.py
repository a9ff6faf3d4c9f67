"""E-mails to buyers: their order was placed, and it has come further.

Only orders from the storefront have them, and no order of a sandbox store. They hold no words of the buyer, so that a store can't be
used to send someone else's words to strangers; their number for one address is limited. They hold the store's words, so
the sender names the platform, too, and a new store has a limit for each day: what is over waits.
"""

import logging
from datetime import UTC, datetime, timedelta
from email.utils import formataddr, parseaddr
from smtplib import SMTPDataError, SMTPRecipientsRefused
from typing import Final
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from accounts.models import Business
from common.db.fields import decrypt, encrypt
from common.errors import TooManyRequests
from common.languages import language_of, speaking
from common.mails.letters import PLATFORM, letter
from common.processes.background import enqueue_after_commit
from common.web.limits.auth_limits import limit_failures
from stores import standing
from stores.addresses import order_key, store_url
from stores.enums import DeliveryMethod, OrderStatus, PaymentStatus
from stores.letterhead import store_frame
from stores.models import LINES, BuyerMails, Order, WaitingMail

log = logging.getLogger(__name__)

MAILS_PER_WINDOW: Final = 20  # to one address
NEW: Final = timedelta(days=7)  # how long a store is new
GIVEN_UP: Final = timedelta(days=14)  # after its first time, a waiting mail that can't be sent
BATCH: Final = 500
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


def send_placed(*, order_id: str, encrypted_key: str, now: datetime | None = None) -> None:
    order = _order(order_id)
    if order:
        _send_or_keep(WaitingMail(order=order, page_key=decrypt(encrypted_key)), now or timezone.now())


def send_status(*, order_id: str, status: str, now: datetime | None = None) -> None:
    """Nothing is sent if the order has gone further since."""
    order = _order(order_id)
    if order and order.status == status:
        _send_or_keep(WaitingMail(order=order, status=status), now or timezone.now())


def send_waiting(*, now: datetime | None = None) -> int:
    """Send what waited for another day, the oldest first, as far as each store's limit allows. Returns how many are done.

    Run by beat. Safe to run twice at once. A mail that can't be sent stays for the next run; a mail server that doesn't answer
    ends this one.
    """
    now = now or timezone.now()
    stores = Business.objects.filter(waiting_mails__isnull=False).distinct()
    done = 0
    try:
        for store in stores:
            done += _send_waiting_of(store, now)
    except (
        OSError
    ) as error:  # includes most of smtplib's. The others would wait for the same server, each as long
        log.warning("The mail server can't be reached, so mails wait for the next run: %s", error)
    for lost in WaitingMail.objects.filter(created_at__lt=now - GIVEN_UP):
        log.warning("%s of %s could not be sent for %s.", lost, lost.business_id, GIVEN_UP)
        lost.delete()
    return done


def _order(order_id: str) -> Order | None:
    """None if its customer was erased meanwhile."""
    return _orders().filter(pk=order_id).exclude(customer_email="").first()


def _orders() -> QuerySet[Order]:
    return Order.objects.select_related("business", "payment").prefetch_related(LINES)


def _send_or_keep(mail: WaitingMail, now: datetime) -> None:
    try:
        _count_for_address(mail.order)
    except TooManyRequests:
        return
    if _count_for_store(mail.order.business, now):
        _compose(mail).send()
    else:
        mail.business, mail.created_at = mail.order.business, now
        mail.save(force_insert=True)


def _send_waiting_of(store: Business, now: datetime) -> int:
    done = 0
    waiting = WaitingMail.objects.filter(business=store).order_by("pk")
    for pk in list(waiting.values_list("pk", flat=True)[:BATCH]):
        try:
            if not _send_kept(pk, now):
                break
        except (SMTPRecipientsRefused, SMTPDataError, TooManyRequests) as error:
            log.warning("A waiting mail of %s could not be sent: %s", store.slug, error)
        else:
            done += 1
    return done


@transaction.atomic
def _send_kept(pk: UUID, now: datetime) -> bool:
    """Send and remove one, unless another run has it or the order has gone further. False if the store's limit is reached.

    Whatever fails leaves the row, and nothing counted.
    """
    mail = WaitingMail.objects.select_for_update(skip_locked=True).filter(pk=pk).first()
    if mail is None:
        return True
    mail.order = _orders().get(pk=mail.order_id)
    is_due = is_mailed(mail.order) and mail.status in ("", mail.order.status)
    if is_due:
        if not _count_for_store(mail.order.business, now):
            return False
        _count_for_address(mail.order)  # last: nothing takes it back
    composed = _compose(mail)
    mail.delete()
    if is_due:
        composed.send()
    return True


def _count_for_address(order: Order) -> None:
    """Raises `TooManyRequests`."""
    limit_failures("order-mails", key=order.customer_email.lower(), per_window=MAILS_PER_WINDOW)


def _count_for_store(store: Business, now: datetime) -> bool:
    """Count one mail of a store. False, with nothing counted, if it is new and has sent its mails of this day."""
    if store.created_at <= now - NEW:
        return True
    day, limit = now.astimezone(UTC).date(), settings.NEW_STORE_MAILS
    mails = BuyerMails.objects
    mails.get_or_create(business=store, defaults={"day": day})
    mails.filter(business=store, day__lt=day).update(day=day, sent=0)
    return mails.filter(business=store, sent__lt=limit).update(sent=F("sent") + 1) == 1


def _compose(mail: WaitingMail) -> EmailMessage:
    order, store = mail.order, mail.order.business
    template, subject = "order_placed", PLACED
    if mail.status:
        template, subject = "order_status", SUBJECTS[OrderStatus(mail.status)]
    _, address = parseaddr(settings.DEFAULT_FROM_EMAIL)
    language = language_of(store.locale)
    with timezone.override(store.timezone), speaking(language):
        who = gettext("%(store)s via %(platform)s")
        sender = formataddr((who % {"store": " ".join(store.name.split()), "platform": PLATFORM}, address))
        return letter(
            subject=str(subject) % {"number": order.number, "store": store.name},
            to=order.customer_email,
            template=f"stores/mail/{template}.txt",
            context=_facts(mail),
            frame=store_frame(store, str(WHY), language),
            sender=sender,
        )


def _facts(mail: WaitingMail) -> dict[str, object]:
    order, store = mail.order, mail.order.business
    return {
        "order": order,
        "store": store,
        "standing": standing.for_buyer(order),
        "page": store_url(store.slug, "orders", mail.page_key or order_key(order.pk)),
        "pay_before": _pay_before(order),
        "is_delivery": order.delivery_method == DeliveryMethod.DELIVERY,
    }


def _pay_before(order: Order) -> datetime | None:
    payment = standing.payment_of(order)
    waits = (
        payment is not None
        and payment.status == PaymentStatus.PENDING
        and order.status != OrderStatus.CANCELLED
    )
    return payment.expires_at if payment and waits else None
