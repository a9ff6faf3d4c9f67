"""A person's own changes of their account: name, e-mail address, and which notices are mailed."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core import signing
from django.db import IntegrityError, transaction
from django.urls import reverse

from accounts.enums import Frequency, MailKind, Role, SecurityEventKind, StoreNotice
from accounts.models import User, normalize_email
from accounts.public_names import check_public_name
from accounts.services import confirmation, security_log
from accounts.services.security_mails import mail_security_change
from accounts.sign_in.origins import Origin
from common.errors import Conflict, Invalid
from common.mails.letters import letter
from common.processes.background import enqueue_after_commit

LINK_LIFETIME: Final = 3 * 24 * 3600  # seconds
_SALT: Final = "accounts.new-email"
NO_LONGER_VALID: Final = "This link no longer works. Enter the new address again."
TAKEN: Final = "This address can't be used. Enter another one."

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


def rename(*, user: User, name: str) -> None:
    """Raises Invalid for an empty name, or one that would pass for the platform's."""
    name = " ".join(name.split())
    try:
        if not name:
            raise ValueError("Enter your name.")
        if name != user.name:  # a name of before there was this rule stays
            check_public_name(name)
    except ValueError as problem:
        raise Invalid(str(problem), [{"field": "name", "message": str(problem)}]) from None
    user.name = name
    user.save(update_fields=["name"])


def ask_for_new_email(*, user: User, email: str) -> None:
    """Mail a link to the new address, which counts once its owner has followed the link.

    The same happens for an address that has an account already: the page must not tell. Its owner gets another mail.
    """
    email = normalize_email(email)
    if email == user.email:
        problem = "This is your current address."
        raise Invalid(problem, [{"field": "email", "message": problem}])
    user.pending_email = email
    user.save(update_fields=["pending_email"])
    enqueue_after_commit("accounts.tasks.mail_new_email", str(user.pk), run_here=True)


def forget_new_email(*, user: User) -> None:
    user.pending_email = ""
    user.save(update_fields=["pending_email"])


def mail_new_email(*, user: User) -> None:
    """To the new address: the link, or a word that it has an account already."""
    if not user.pending_email:
        return
    owner = User.objects.filter(email=user.pending_email).first()
    if owner is not None:
        if owner.is_active:
            confirmation.send_account_exists(user=owner)
        return
    token = signing.dumps([str(user.pk), user.email, user.pending_email], salt=_SALT)
    link = settings.BASE_URL + reverse("accounts:confirm_new_email", args=[token])
    letter(
        subject="Confirm your new e-mail address for Extension Platform",
        to=user.pending_email,
        template="accounts/mail/new_email.txt",
        context={"base_url": settings.BASE_URL, "link": link},
    ).send()


def new_email_of(*, user: User, token: str) -> str:
    """The address that a link confirms for this person. Raises Conflict if the link doesn't work, or no longer."""
    try:
        owner, old, new = signing.loads(token, salt=_SALT, max_age=LINK_LIFETIME)
    except (signing.BadSignature, ValueError):
        raise Conflict(NO_LONGER_VALID) from None
    if (owner, old, new) != (str(user.pk), user.email, user.pending_email):
        raise Conflict(NO_LONGER_VALID)
    return str(new)


def change_email(*, user: User, token: str, origin: Origin) -> None:
    """Make the confirmed address the account's, and tell the old one. Raises Conflict."""
    new, old = new_email_of(user=user, token=token), user.email
    try:
        with transaction.atomic():
            locked = User.objects.select_for_update().get(pk=user.pk)
            new_email_of(user=locked, token=token)  # another request may have changed it
            # An address that isn't confirmed may be a stranger's, who gets no words of this person.
            to = f" to {new}" if confirmation.is_confirmed(locked) else ""
            mail_security_change(
                user=locked, change=f"The e-mail address was changed{to}.", address=origin.network
            )
            locked.email, locked.pending_email = new, ""
            locked.save(update_fields=["email", "pending_email"])
            EmailAddress.objects.filter(user=locked).delete()
            confirmation.confirm(user=locked)
            security_log.record(
                user_id=user.pk, kind=SecurityEventKind.EMAIL_CHANGED, about=f"From {old}", origin=origin
            )
    except IntegrityError:
        raise Conflict(TAKEN) from None
    user.refresh_from_db()


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
