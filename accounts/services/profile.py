"""A person's own changes of their account: name, e-mail address, a new password by mail, with what ends with the previous one, and where they
are signed in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Final, Literal

from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY
from django.core import signing
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from accounts.enums import SecurityEventKind
from accounts.models import DeviceGrant, Mail, Session, SignIn, User, normalize_email
from accounts.public_names import check_public_name
from accounts.services import confirmation, invitations, outbox, security_log
from accounts.services.connections import end_connections
from accounts.services.developer_tokens import end_tokens
from accounts.services.outbox import mail_security_change
from accounts.services.second_factor import require_password_with_passkeys
from accounts.sign_in.limits import UnaskedMail
from accounts.sign_in.origins import Origin, device_name
from common.errors import Conflict, Invalid
from common.ids import parse_id
from common.mails.letters import MailDraft
from common.secrets import digest

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
def _write_new_email(mail: Mail) -> MailDraft | None:
    """The link. The owner of an address that has an account already gets another mail."""
    user = User.objects.filter(pk=mail.about_id, is_active=True, pending_email=mail.to).first()
    if user is None:
        return None
    if User.objects.with_email(mail.to):
        confirmation.mail_account_exists(email=mail.to)
        return None
    token = signing.dumps([str(user.pk), user.email, user.pending_email], salt=_SALT)
    link = settings.BASE_URL + reverse("accounts:confirm_new_email", args=[token])
    subject = f"Confirm your new e-mail address for {settings.PLATFORM_NAME}"
    return MailDraft(subject, "accounts/mail/new_email.txt", {"link": link})


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


# --- Passwords ---------------------------------------------------------------------------------------

RESET: Final = "password-reset"


def mail_reset(*, email: str) -> None:
    """Mail a link that works once. The request looks for no account: the time that this takes would tell whether there is one."""
    outbox.post_later(kind=RESET, to=email, once=True)


@outbox.writes(RESET, limit=UnaskedMail.PASSWORD_RESET)
def _write_reset(mail: Mail) -> MailDraft | None:
    """None for an unknown address, a closed account and one without a password, and where people have none any more."""
    user = User.objects.with_email(mail.to)
    if user is None or not user.is_active or not user.has_usable_password() or not settings.PASSWORD_SIGN_IN:
        return None
    path = reverse(
        "account_reset_password_from_key",
        kwargs={"uidb36": user_pk_to_url_str(user), "key": default_token_generator.make_token(user)},
    )
    subject = f"Choose a new password for {settings.PLATFORM_NAME}"
    facts = {"link": settings.BASE_URL + path}  # which leads to this site, whatever Host the request had
    return MailDraft(subject, "accounts/mail/password_reset.txt", facts, to=user.email)


def choose_new_password(*, user: User, password: str) -> None:
    """Set a password that was chosen with a mailed link, and end everything that signs in.

    Sessions and sign-ins of the API are bound to the previous password. The rest could have been made by somebody who had
    the account before, so tokens and connections to an identity provider end, and passkeys are a second factor only. The link has
    confirmed the address.
    """
    user.set_password(password)  # slow on purpose, so not while a transaction holds locks
    with transaction.atomic():
        end_tokens(user=user)
        end_connections(user=user)
        user.save(update_fields=["password"])
        require_password_with_passkeys(user=user)
        confirmation.confirm(user=user)


# --- Where a person is signed in ---------------------------------------------------------------------

Kind = Literal["session", "sign-in"]
SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A line of the page about one's sessions."""

    kind: Kind
    id: str
    device: str
    network: str
    signed_in_at: datetime
    last_seen_at: datetime
    is_current: bool


def open_sessions(user: User, *, current_key: str | None) -> list[OpenSession]:
    """The newest sessions that still work, the current one first and then by the last request.

    A session that began with an earlier password no longer works, although its row may still exist.
    """
    now = timezone.now()
    found = [*_of_pages(user, now, current_key), *_of_api(user, now)]
    found.sort(key=attrgetter("is_current", "last_seen_at"), reverse=True)
    return found[:SHOWN]


def _of_pages(user: User, now: datetime, current_key: str | None) -> Iterator[OpenSession]:
    current = digest(current_key) if current_key else None
    for row in Session.objects.usable(now).filter(user=user).order_by("-last_seen_at")[:SHOWN]:
        if row.get_decoded().get(HASH_SESSION_KEY) in user.session_hashes():
            yield _line("session", row, is_current=row.pk == current)


def _of_api(user: User, now: datetime) -> Iterator[OpenSession]:
    rows = SignIn.objects.usable(now).filter(user=user, auth_hash__in=user.session_hashes())
    for row in rows.order_by("-last_seen_at")[:SHOWN]:
        yield _line("sign-in", row)


def _line(kind: Kind, row: Session | SignIn, *, is_current: bool = False) -> OpenSession:
    return OpenSession(
        kind=kind,
        id=str(row.pk),
        device=device_name(row.device),
        network=row.network,
        signed_in_at=row.signed_in_at,
        last_seen_at=row.last_seen_at,
        is_current=is_current,
    )


@transaction.atomic
def end_session(*, user: User, kind: str, row_id: str) -> bool:
    """End one of the person's sessions; False where there is none of this id, or none any more."""
    if kind == "session":
        ended, _ = Session.objects.filter(user=user, pk=row_id).delete()
    else:
        ended = _end_sign_ins(user, row_id)
    if ended:
        security_log.record(user_id=user.pk, kind=SecurityEventKind.SESSION_ENDED)
    return bool(ended)


@transaction.atomic
def end_other_sessions(*, user: User, current_key: str | None, with_tokens: bool = False) -> None:
    """End all of the person's sessions except the one with this key, and `with_tokens` their developer tokens.

    Command lines that wait for a token get none in either case: no page lists them.
    """
    if with_tokens:
        end_tokens(user=user)
    DeviceGrant.objects.filter(user=user).delete()
    Session.objects.filter(user=user).exclude(pk=digest(current_key or "")).delete()
    _end_sign_ins(user)
    security_log.record(user_id=user.pk, kind=SecurityEventKind.SESSION_ENDED, about="All but the one in use")


def _end_sign_ins(user: User, row_id: str | None = None) -> int:
    rows = SignIn.objects.filter(user=user, ended_at=None)
    if row_id is not None:
        known_id = parse_id(row_id)
        rows = rows.filter(pk=known_id) if known_id else rows.none()
    return rows.update(ended_at=timezone.now())
