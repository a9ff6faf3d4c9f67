"""A person's own changes of their account: name and e-mail address."""

from typing import Final

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core import signing
from django.db import IntegrityError, transaction
from django.urls import reverse

from accounts.enums import SecurityEventKind
from accounts.models import Mail, User, normalize_email
from accounts.public_names import check_public_name
from accounts.services import confirmation, invitations, outbox, security_log
from accounts.services.security_mails import mail_security_change
from accounts.sign_in.limits import UnaskedMail
from accounts.sign_in.origins import Origin
from common.errors import Conflict, Invalid
from common.mails.letters import Letter, letter

LINK_LIFETIME: Final = 3 * 24 * 3600  # seconds
NEW_EMAIL: Final = "new-email"
_SALT: Final = "accounts.new-email"
NO_LONGER_VALID: Final = "This link no longer works. Enter the new address again."
TAKEN: Final = "This address can't be used. Enter another one."


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
    invitations.check_email(email)
    if user.has_address(email):
        problem = "This is your current address."
        raise Invalid(problem, [{"field": "email", "message": problem}])
    user.pending_email = normalize_email(email)
    with transaction.atomic():
        user.save(update_fields=["pending_email"])
        mail_new_email(user=user)


def forget_new_email(*, user: User) -> None:
    user.pending_email = ""
    user.save(update_fields=["pending_email"])


def mail_new_email(*, user: User) -> None:
    outbox.post_later(kind=NEW_EMAIL, to=user.pending_email, about_id=user.pk, once=True)


@outbox.writes(NEW_EMAIL, limit=UnaskedMail.CONFIRMATION)
def _write_new_email(mail: Mail) -> Letter | None:
    """The link. The owner of an address that has an account already gets another mail."""
    user = User.objects.filter(pk=mail.about_id, is_active=True, pending_email=mail.to).first()
    if user is None:
        return None
    if User.objects.with_email(mail.to):
        confirmation.mail_account_exists(email=mail.to)
        return None
    token = signing.dumps([str(user.pk), user.email, user.pending_email], salt=_SALT)
    link = settings.BASE_URL + reverse("accounts:confirm_new_email", args=[token])
    return letter(
        subject=f"Confirm your new e-mail address for {settings.PLATFORM_NAME}",
        to=user.pending_email,
        template="accounts/mail/new_email.txt",
        context={"base_url": settings.BASE_URL, "link": link},
    )


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
