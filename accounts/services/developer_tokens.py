"""Developer tokens: credentials for the developer API that scripts use, made and revoked by their owner."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from accounts.enums import SecurityEventKind, TokenRight
from accounts.models import DeveloperToken, DeviceGrant, User
from accounts.services import security_log
from accounts.services.confirmation import is_confirmed, require_confirmed
from accounts.services.security_mails import mail_security_change
from accounts.sign_in.origins import NOWHERE, Origin, device_name
from common.db.finders import get_or_not_found
from common.errors import Conflict, Invalid, NotFound, Unauthenticated
from common.secrets import digest, last_four, new_developer_token

LONGEST: Final = timedelta(days=365)
MOST_TOKENS: Final = 50
USED_EVERY: Final = timedelta(minutes=1)
TAKEN: Final = "You have a token with this name already."


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token with its text, which is nowhere else from now on."""

    token: DeveloperToken
    text: str


@transaction.atomic
def create_developer_token(
    *,
    user: User,
    name: str,
    lifetime: timedelta,
    rights: Iterable[str] = (),
    origin: Origin = NOWHERE,
    now: datetime | None = None,
) -> IssuedToken:
    """A new token. A mail notifies its owner. `rights` are values of `TokenRight`.

    Raises `Invalid` for a bad name or lifetime, `Conflict` for a name in use or too many tokens, `NotAllowed` until the
    address is confirmed.
    """
    require_confirmed(user)
    now, name = now or timezone.now(), name.strip()
    _check(name, lifetime)
    lock_owner(user)  # two at once must not get the same name
    _check_free(user, name, now)
    text = new_developer_token()
    token = DeveloperToken.objects.create(
        user=user,
        name=name,
        digest=digest(text),
        last_four=last_four(text),
        created_at=now,
        expires_at=now + lifetime,
        rights=[right.value for right in TokenRight if right in set(rights)],
    )
    security_log.record(user_id=user.pk, kind=SecurityEventKind.TOKEN_CREATED, about=name, origin=origin)
    _mail(token, origin)
    return IssuedToken(token, text)


def _check(name: str, lifetime: timedelta) -> None:
    if not name or len(name) > 80:
        raise Invalid.field("name", "Enter a name of at most 80 characters.")
    if not timedelta() < lifetime <= LONGEST:
        raise Invalid.field("lifetime", "A token expires within a year.")


def _check_free(user: User, name: str, now: datetime) -> None:
    usable = DeveloperToken.objects.usable(now).filter(user=user)
    if usable.filter(name=name).exists():
        raise Conflict(TAKEN, code="token_name_taken")
    if usable.count() >= MOST_TOKENS:
        raise Conflict(
            f"You have {MOST_TOKENS} tokens. Revoke one that you no longer need.", code="too_many_tokens"
        )


def lock_owner(user: User) -> None:
    """Hold the person's row until the transaction ends. Raises `Conflict` if the password has changed since `user` was
    read: a request that began before a reset must not leave a credential behind."""
    if User.objects.select_for_update().get(pk=user.pk).password != user.password:
        raise Conflict("Your password has changed. Sign in again.", code="password_changed_meanwhile")


def _mail(token: DeveloperToken, origin: Origin) -> None:
    """Without the token's name where the address may be somebody else's."""
    named = f" “{token.name}”" if is_confirmed(token.user) else ""
    allowed = "".join(f"\n- {label}" for label in token.right_labels)
    mail_security_change(
        user=token.user,
        change=f"A developer token{named} was created. It calls the developer API as you until "
        f"{token.expires_at:%Y-%m-%d}." + (f" It may also:{allowed}" if allowed else ""),
        address=origin.network,
        device=device_name(origin.device) if origin.device else "",
    )


@transaction.atomic
def revoke_developer_token(*, user: User, token_id: str) -> DeveloperToken:
    """End a token at once. Raises `NotFound` for another person's; one that is revoked already stays so."""
    tokens = DeveloperToken.objects.filter(user=user)
    token = get_or_not_found(tokens, token_id, "There is no such token.")
    if not tokens.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        raise NotFound("This token was revoked already.")
    security_log.record(user_id=user.pk, kind=SecurityEventKind.TOKEN_REVOKED, about=token.name)
    return token


@transaction.atomic
def end_tokens(*, user: User) -> None:
    """Revoke all tokens of the person, and forget command lines that were let in but have no token yet."""
    User.objects.select_for_update().get(pk=user.pk)  # one that is being created is there afterwards
    DeviceGrant.objects.filter(user=user).delete()
    now = timezone.now()
    for token in DeveloperToken.objects.usable(now).filter(user=user):
        DeveloperToken.objects.filter(pk=token.pk).update(revoked_at=now)
        security_log.record(user_id=user.pk, kind=SecurityEventKind.TOKEN_REVOKED, about=token.name)


def usable_token(text: str) -> DeveloperToken:
    """The token with its owner, by one query, and one UPDATE a minute for its last use. Raises `Unauthenticated`."""
    now = timezone.now()
    token = (
        DeveloperToken.objects.usable(now)
        .filter(digest=digest(text), user__is_active=True)
        .select_related("user")
        .first()
    )
    if token is None:
        raise Unauthenticated(
            "The developer token is unknown, expired or revoked.", code="developer_token_revoked"
        )
    if token.last_used_at is None or now - token.last_used_at >= USED_EVERY:
        DeveloperToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token
