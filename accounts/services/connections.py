"""Which people at the operator's identity provider are which accounts here. A connection is a row of the library's `SocialAccount`.

Its key is the issuer and the subject. An address, even a verified one, never connects by itself: the person who has it at the
provider today may not be the one who registered with it here.
"""

from typing import Any, Final

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.core import signing
from django.db import IntegrityError, transaction
from django.urls import reverse

from accounts.enums import SecurityEventKind
from accounts.models import Mail, User
from accounts.public_names import check_public_name
from accounts.services import confirmation, outbox, security_log
from accounts.services.outbox import mail_security_change
from accounts.services.registration import register_without_password
from accounts.services.second_factor import signs_in_alone
from accounts.sign_in.limits import UnaskedMail
from accounts.sign_in.origins import NOWHERE, Origin
from accounts.sign_in.provider import Identity, label, passwords_for
from common.errors import Conflict
from common.mails.letters import MailDraft

CONNECTION: Final = "connection"
LINK_LIFETIME: Final = 3600  # seconds
_SALT: Final = "accounts.connection"
OF_ANOTHER: Final = "Your sign-in at {label} is connected to another account here. Disconnect it there first."
HAS_ANOTHER: Final = "This account is connected to another sign-in at {label}. Disconnect that one first."
LAST_WAY: Final = "Without {label} you couldn’t sign in any more. Add a passkey that signs in alone first."
LAST_WAY_OF_TWO: Final = "Without {label} you couldn’t sign in any more. Set a password first, or add a passkey that signs in alone."


def account_of(identity: Identity) -> User | None:
    """The account that is connected to this person at the provider."""
    row = _rows(identity.issuer).filter(uid=identity.subject).select_related("user").first()
    return row.user if row else None


def is_connected(user: User) -> bool:
    """Whether the person signs in by the provider of today's settings."""
    return bool(_rows_of_today().filter(user=user).exists())


def open_account(*, identity: Identity, role: str) -> User:
    """A new account for a person whose address the provider has verified. A merchant's has no store.

    Raises `Conflict` for an address that has an account, `Invalid` for one that isn't accepted here.
    """
    with transaction.atomic():
        user = register_without_password(email=identity.email, name=_public_name(identity, role), role=role)
        connect(user=user, identity=identity, is_news=False)
    return user


def connect(*, user: User, identity: Identity, origin: Origin = NOWHERE, is_news: bool = True) -> None:
    """Let the person sign in by the provider from now on. Raises `Conflict` if either side is connected already."""
    here = label()
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)  # or two requests could connect it twice
        if (owner := account_of(identity)) is not None:
            if owner == user:
                return
            raise Conflict(OF_ANOTHER.format(label=here))
        if _rows(identity.issuer).filter(user=user).exists():
            raise Conflict(HAS_ANOTHER.format(label=here))
        _insert(user, identity)
        security_log.record(
            user_id=user.pk, kind=SecurityEventKind.PROVIDER_CONNECTED, about=here, origin=origin
        )
        if is_news:
            change = f"Signing in by {here} was connected."
            mail_security_change(user=user, change=change, address=origin.network)


def disconnect(*, user: User, origin: Origin) -> None:
    """Raises `Conflict` where no other way to sign in would be left."""
    here = label()
    with transaction.atomic():
        locked = User.objects.select_for_update().get(pk=user.pk)
        if not signs_in_without_provider(locked):
            raise Conflict((LAST_WAY_OF_TWO if passwords_for(locked) else LAST_WAY).format(label=here))
        removed, _ = _rows_of_today().filter(user=locked).delete()
        if removed:
            security_log.record(
                user_id=user.pk, kind=SecurityEventKind.PROVIDER_DISCONNECTED, about=here, origin=origin
            )
            change = f"Signing in by {here} was disconnected."
            mail_security_change(user=locked, change=change, address=origin.network)


def end_connections(*, user: User) -> None:
    """Of all providers: somebody else may have connected them."""
    removed, _ = SocialAccount.objects.filter(user=user).delete()
    if removed:
        security_log.record(user_id=user.pk, kind=SecurityEventKind.PROVIDER_DISCONNECTED)


def may_connect_by_mail(identity: Identity) -> bool:
    """Whether the account with this address, if there is one, isn't connected to somebody else at the provider already."""
    owner = User.objects.with_email(identity.email)
    return owner is None or not _rows(identity.issuer).filter(user=owner).exists()


def mail_connection(*, email: str, key: str) -> None:
    """Mail a link that connects the account of this address, where its browser has the key."""
    outbox.post_later(kind=CONNECTION, to=email, key=key)


@outbox.writes(CONNECTION, limit=UnaskedMail.CONNECTION)
def _write_connection(mail: Mail) -> MailDraft | None:
    user = User.objects.with_email(mail.to)
    if user is None or not user.is_active or settings.IDENTITY_PROVIDER is None:
        return None
    token = signing.dumps([str(user.pk), user.email, outbox.facts_of(mail)["key"]], salt=_SALT)
    link = settings.BASE_URL + reverse("accounts:connect_by_link", args=[token])
    subject = f"Sign in to {settings.PLATFORM_NAME} with {label()}"
    facts = {"label": label(), "link": link}
    return MailDraft(subject, "accounts/mail/connection.txt", facts, to=user.email)


def account_of_link(token: str, *, key: str, identity: Identity) -> User | None:
    """The account that a mailed link connects, in the browser that has the key; None if it doesn't, or no longer."""
    try:
        user_id, email, sealed = signing.loads(token, salt=_SALT, max_age=LINK_LIFETIME)
    except (signing.BadSignature, ValueError):
        return None
    user = User.objects.filter(pk=user_id, email=email, is_active=True).first()
    is_same = user is not None and sealed == key and user.has_address(identity.email)
    return user if is_same else None


def connect_by_link(*, user: User, identity: Identity, origin: Origin) -> None:
    """Connect after a sign-in by the mailed link, which has confirmed the address, too. Raises `Conflict`."""
    with transaction.atomic():
        connect(user=user, identity=identity, origin=origin)
        if not confirmation.is_confirmed(user):
            confirmation.confirm(user=user)


def _rows_of_today() -> Any:
    """None where there is no provider."""
    provider = settings.IDENTITY_PROVIDER
    return _rows(provider.issuer) if provider else SocialAccount.objects.none()


def _rows(issuer: str) -> Any:
    return SocialAccount.objects.filter(provider=issuer)


def _insert(user: User, identity: Identity) -> None:
    try:
        with transaction.atomic():
            # Nothing else that the provider says is kept.
            SocialAccount.objects.create(
                user=user, provider=identity.issuer, uid=identity.subject, extra_data={}
            )
    except IntegrityError:
        raise Conflict(OF_ANOTHER.format(label=label())) from None


def signs_in_without_provider(user: User) -> bool:
    """Whether the person has a password that may be used, or a passkey that signs in alone."""
    if user.has_usable_password() and passwords_for(user):
        return True
    passkeys = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN)
    return any(signs_in_alone(each) and each.wrap().is_passwordless for each in passkeys)


def _public_name(identity: Identity, role: str) -> str:
    """The name at the provider; else the first part of the address; else the role, where both would pass for the platform's staff."""
    for name in (identity.name, identity.email.partition("@")[0]):
        try:
            check_public_name(name)
        except ValueError:
            continue
        if name:
            return name
    return role.title()
