"""Writes the rows of mails, in the transaction of what they are about, and knows which mails each person wants. Mails about an
account itself are always sent. `accounts.services.sender` sends them all.

Other modules only say what a mail says, in a `MailDraft`. One that may be of no use any more later, that holds a secret, or whose
writing would tell whether there is an account, is made when it is sent:

    post_later(kind=RESET, to=email)

    @writes(RESET, limit=UnaskedMail.PASSWORD_RESET)
    def _write_reset(mail: Mail) -> MailDraft | None: ...

All others are made and written at once, by `post` or `post_each`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.enums import Frequency, MailKind, Role, StoreNotice
from accounts.models import Mail, ShopPerson, User
from accounts.sign_in.limits import UnaskedMail
from accounts.sign_in.origins import Origin, device_name
from accounts.sign_in.provider import label
from common.contacts import kept_email_key
from common.db.rows import for_each
from common.mails.letters import Letter, MailDraft, letter
from common.processes.background import enqueue_after_commit

KICK_EXPIRES: Final = 10.0  # seconds, as often as the scheduler starts the sender

ACCOUNT: Final = "account"  # the kind of mails about an account, its apps and its stores

Write = Callable[[Mail], MailDraft | None]
W = TypeVar("W", bound=Write)


class Later(Exception):
    """Raised by a writer: the mail may not be sent before this moment."""

    def __init__(self, at: datetime) -> None:
        super().__init__(at)
        self.at = at


@dataclass(frozen=True, slots=True)
class Writer:
    write: Write
    limit: UnaskedMail | None
    sent: Callable[[Mail], None] | None


WRITERS: Final[dict[str, Writer]] = {}


def writes(
    kind: str, *, limit: UnaskedMail | None = None, sent: Callable[[Mail], None] | None = None
) -> Callable[[W], W]:
    """Register what writes mails of this kind when they are sent. It returns None for a mail of no use any more, or raises `Later`.

    A kind that strangers can cause has a `limit`. `sent` is called in the transaction that removes the mail.
    """

    def register(write: W) -> W:
        WRITERS[kind] = Writer(write, limit, sent)
        return write

    return register


def addressed(draft: MailDraft, to: str, person: User | None = None) -> Letter:
    """The mail that this address gets. Its template may name the person, the platform's address, and the operator's identity
    provider where people sign in by that alone.
    """
    facts: dict[str, Any] = {"base_url": settings.BASE_URL, "person": person}
    if not settings.PASSWORD_SIGN_IN:
        facts |= {"no_passwords": True, "label": label()}
    return letter(draft, to, facts)


def post(draft: MailDraft, *, to: str, kind: str, person: User | None = None) -> None:
    """Have a mail sent after the commit."""
    post_written(addressed(draft, to, person), kind=kind)


def post_written(written: Letter, *, kind: str) -> None:
    _insert([Mail(kind=kind, to=written.to, content=json.dumps(written.as_json()))])


def post_each(people: Iterable[User], draft: MailDraft, *, kind: MailKind) -> int:
    """Have a mail sent to each person who wants this kind. One that can't be written stops no other. Returns how many."""
    return for_each(wanting(people, kind), partial(_post_to, draft, kind), task="mails")


def wanting(people: Iterable[User], kind: MailKind) -> list[tuple[User, str]]:
    """Those who want this kind, with the addresses of their mails: each address once. One statement where people of shops are among them."""
    wanted = [each for each in people if wants_mail(each, kind)]
    guests = [each.pk for each in wanted if each.comes_by_ticket]
    addresses = dict(ShopPerson.objects.filter(pk__in=guests).values_list("pk", "email")) if guests else {}
    found: dict[str, tuple[User, str]] = {}
    for each in wanted:
        if to := addresses.get(each.pk, each.shown_email):
            found.setdefault(kept_email_key(to), (each, to))
    return list(found.values())


def mail_address_of(user: User) -> str:
    """Where the person's notices go. Empty where a shop gave no address."""
    return user.shop_person.email if user.comes_by_ticket else user.email


def _post_to(draft: MailDraft, kind: MailKind, recipient: tuple[User, str]) -> int:
    person, to = recipient
    with transaction.atomic():
        post(draft, to=to, kind=kind, person=person)
    return 1


def post_later(*, kind: str, to: str, about_id: UUID | None = None, once: bool = False, **facts: Any) -> None:
    """Have a mail sent that is written then. With `once`, one of this kind waits for the address at a time."""
    key = f"{kind} {about_id or ''} {kept_email_key(to)}" if once else None
    content = json.dumps(facts) if facts else None
    _insert([Mail(kind=kind, to=to, about_id=about_id, once=key, content=content)])


def post_in_bulk(mails: Iterable[tuple[str, UUID]], *, kind: str) -> None:
    """Have mails sent that are written then, of an address and the id of what each is about, after those that people wait for."""
    _insert([Mail(kind=kind, to=to, about_id=about, is_bulk=True) for to, about in mails])


def facts_of(mail: Mail) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(mail.content or "{}")
    return found


def forget_about(ids: Iterable[UUID]) -> None:
    """Remove the mails about these rows."""
    Mail.objects.filter(about_id__in=list(ids)).delete()


def forget_person(*addresses: str) -> None:
    """Remove the mails to somebody whose account is deleted. Those about their purchases stay: they belong to stores."""
    mine = Mail.objects.filter(to_key__in=[kept_email_key(each) for each in addresses if each])
    of_orders = [kind for kind, writer in WRITERS.items() if writer.limit == UnaskedMail.ORDER]
    mine.exclude(kind__in=of_orders).delete()


def _insert(mails: list[Mail]) -> None:
    if not mails:
        return
    Mail.objects.bulk_create(mails, ignore_conflicts=True)
    enqueue_after_commit("accounts.tasks.send_mails", expires=KICK_EXPIRES)


# --- Which mails each person wants -------------------------------------------------------------------

MAILS: Final = {
    Role.DEVELOPER: (
        MailKind.FAILING_WEBHOOKS,
        MailKind.REVIEW_DECISIONS,
        MailKind.CHECKS,
        MailKind.RELEASES,
    ),
    Role.MERCHANT: (MailKind.PERMISSION_QUESTIONS, MailKind.FAILING_APPS, MailKind.ERASURES),
}
# An order waits for the merchant. Goods are ordered by the day, and a review asks for nothing.
FREQUENCIES: Final = {
    StoreNotice.NEW_ORDERS: Frequency.EACH,
    StoreNotice.LOW_STOCK: Frequency.DAILY,
    StoreNotice.NEW_REVIEWS: Frequency.OFF,
}
# The kinds that somebody gets whose role in the store is ORDERS.
OF_ORDERS: Final = (StoreNotice.NEW_ORDERS, StoreNotice.NEW_REVIEWS)


def mails_of(user: User) -> list[MailKind]:
    """The notices that this person may choose."""
    return list(MAILS.get(Role(user.role), ()))


def wants_mail(user: User, kind: MailKind) -> bool:
    return user.is_active and kind not in user.muted_mails


def choose_mails(*, user: User, wanted: Iterable[str]) -> None:
    chosen: Any = set(wanted)
    user.muted_mails = [kind.value for kind in mails_of(user) if kind not in chosen]
    user.save(update_fields=["muted_mails"])


def frequency_of(user: User, notice: StoreNotice) -> Frequency:
    """How often the person wants mails of this kind."""
    return Frequency(user.store_notices.get(notice, FREQUENCIES[notice])) if user.is_active else Frequency.OFF


def choose_frequencies(*, user: User, chosen: Mapping[StoreNotice, Frequency]) -> None:
    user.store_notices = user.store_notices | {kind.value: often.value for kind, often in chosen.items()}
    user.save(update_fields=["store_notices"])


# --- Mails about an account, its apps and its stores -------------------------------------------------


def mail_security_change(*, user: User, change: str, address: str = "", device: str = "") -> None:
    """Have a worker mail the sentence `change` to its person. `address` and `device` are where the change came from."""
    facts = {"change": change, "at": timezone.now(), "address": address, "device": device}
    subject = f"The security of your account at {settings.PLATFORM_NAME} has changed"
    post(MailDraft(subject, "accounts/mail/security_change.txt", facts), to=user.email, kind=ACCOUNT)


def mail_wrong_codes(*, user: User, count: int, origin: Origin) -> None:
    """Have a worker tell a person that wrong codes followed the right password."""
    device = device_name(origin.device)
    facts = {"count": count, "at": timezone.now(), "address": origin.network, "device": device}
    subject = f"Wrong codes were entered for your account at {settings.PLATFORM_NAME}"
    post(MailDraft(subject, "accounts/mail/wrong_codes.txt", facts), to=user.email, kind=ACCOUNT)
