"""Confirming that an e-mail address belongs to the person who registered with it."""

from typing import Final

from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils.http import urlencode

from accounts.enums import SELF_REGISTERED, SecurityEventKind
from accounts.models import Mail, User
from accounts.services import outbox, security_log
from accounts.sign_in.limits import UnaskedMail
from common.errors import NotAllowed
from common.mails.letters import MailDraft

CONFIRMATION: Final = "confirmation"
ACCOUNT_EXISTS: Final = "account-exists"
UNCONFIRMED: Final = "Confirm your e-mail address first. Use the link that we mailed to {email}."


def is_confirmed(user: User) -> bool:
    """Whether the person has followed a link that was mailed to the account's current address."""
    return EmailAddress.objects.filter(user=user, email=user.email, verified=True).exists()


def has_to_be_confirmed(user: User) -> bool:
    """Whether a person of this role needs a confirmed address. Not in `DEBUG`, and not people whom their shop signs in."""
    return bool(settings.CONFIRM_ADDRESSES) and user.role in SELF_REGISTERED and not user.comes_by_ticket


def must_confirm(user: User) -> bool:
    """Whether a developer or merchant has to confirm the address before going on."""
    return has_to_be_confirmed(user) and not is_confirmed(user)


def require_confirmed(user: User) -> None:
    """Raise `NotAllowed` if the person has to confirm the address first."""
    if must_confirm(user):
        raise NotAllowed(UNCONFIRMED.format(email=user.email), code="address_unconfirmed")


def is_open() -> Q:
    """Whether a business's store is open, as an expression for a query of businesses.

    Sandbox stores always are. A merchant's store opens once the owner has confirmed an address, if it has to be, and stays
    open when the address changes. A store closes with its owner's account.
    """
    kept = Q(owner__deleted_at=None)
    if not settings.CONFIRM_ADDRESSES:
        return kept
    confirmed = Q(Exists(EmailAddress.objects.filter(user=OuterRef("owner"), verified=True)))
    return kept & (Q(is_sandbox=True) | confirmed)


def confirm(*, user: User) -> None:
    """Count the person's current address as confirmed."""
    with transaction.atomic():
        EmailAddress.objects.update_or_create(user=user, email=user.email, defaults={"verified": True})
        security_log.record(user_id=user.pk, kind=SecurityEventKind.EMAIL_CONFIRMED, about=user.email)


def mail_confirmation(*, email: str, next_url: str = "") -> None:
    """Mail the link that confirms the address, if it isn't yet. It works for three days and leads on to `next_url`."""
    outbox.post_later(kind=CONFIRMATION, to=email, once=True, next_url=next_url)


@outbox.writes(CONFIRMATION, limit=UnaskedMail.CONFIRMATION)
def _write_confirmation(mail: Mail) -> MailDraft | None:
    user = User.objects.filter(email=mail.to, is_active=True).first()
    if user is None:
        return None
    address, _ = EmailAddress.objects.get_or_create(user=user, email=user.email)
    if address.verified:
        return None
    link = settings.BASE_URL + reverse("account_confirm_email", args=[EmailConfirmationHMAC(address).key])
    if next_url := outbox.facts_of(mail)["next_url"]:
        link += "?" + urlencode({"next": next_url})
    subject = f"Confirm your e-mail address for {settings.PLATFORM_NAME}"
    return MailDraft(subject, "accounts/mail/confirm.txt", {"link": link})


def mail_account_exists(*, email: str) -> None:
    """Tell the owner of an address that somebody tried to register with it."""
    outbox.post_later(kind=ACCOUNT_EXISTS, to=email, once=True)


@outbox.writes(ACCOUNT_EXISTS, limit=UnaskedMail.ACCOUNT_EXISTS)
def _write_account_exists(mail: Mail) -> MailDraft | None:
    user = User.objects.with_email(mail.to)
    if user is None or not user.is_active:
        return None
    subject = f"You already have an account at {settings.PLATFORM_NAME}"
    return MailDraft(subject, "accounts/mail/account_exists.txt", {}, to=user.email)
