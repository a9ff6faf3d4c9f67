"""Developer tokens: credentials for the developer API that scripts use, made and revoked by their owner. A command line gets one
where a person types its short code (RFC 8628).
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.enums import SecurityEventKind, TokenRight
from accounts.models import DeveloperToken, DeviceGrant, User
from accounts.services import security_log
from accounts.services.confirmation import is_confirmed, require_confirmed
from accounts.services.outbox import mail_security_change
from accounts.sign_in.origins import NOWHERE, Origin, device_name
from common.db.rows import get_or_not_found
from common.errors import Conflict, Invalid, NotFound, ServiceError, Unauthenticated
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


# --- Letting a command line in -----------------------------------------------------------------------

# 1. `start_grant` gives the command line a long device code, and a short user code to show.
# 2. The person opens the page with the user code and answers it: `answer_grant`.
# 3. The command line asks every few seconds: `redeem_grant` gives it a developer token once, or says why not yet.

GRANT_LIFETIME: Final = timedelta(minutes=15)
TOKEN_LIFETIME: Final = timedelta(days=90)
GRANT_INTERVAL: Final = 5  # seconds between two requests, and what a request too early adds
# RFC 8628 section 6.1: no vowels, so that no words appear.
LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"
DEFAULT_NAME: Final = "Command line"


class DeviceError(Exception):
    """Why there is no token (RFC 8628 section 3.5)."""

    def __init__(self, code: str, description: str) -> None:
        super().__init__(description)
        self.code = code
        self.description = description


@dataclass(frozen=True, slots=True)
class DeviceCodes:
    device_code: str
    user_code: str  # WDJB-MJHT


def start_grant(*, client_name: str, network: str) -> DeviceCodes:
    device_code = secrets.token_urlsafe(32)
    letters = "".join(secrets.choice(LETTERS) for _ in range(8))
    DeviceGrant.objects.create(
        device_digest=digest(device_code),
        user_code_digest=digest(letters),
        client_name=client_name.strip()[:80] or DEFAULT_NAME,
        network=network,
        expires_at=timezone.now() + GRANT_LIFETIME,
        interval=GRANT_INTERVAL,
    )
    return DeviceCodes(device_code, f"{letters[:4]}-{letters[4:]}")


def waiting_grant(user_code: str) -> DeviceGrant:
    """The command line that shows this code, typed in any case and with or without the hyphen. Raises `NotFound`."""
    letters = "".join(letter for letter in user_code.upper() if letter.isalnum())
    grant = DeviceGrant.objects.filter(
        user_code_digest=digest(letters), answer="", expires_at__gt=timezone.now()
    ).first()
    if grant is None:
        raise NotFound("This code is wrong or has expired. Check it, or start again on the command line.")
    return grant


@transaction.atomic
def answer_grant(*, user: User, user_code: str, agreed: bool) -> DeviceGrant:
    """Let the command line in, or don't. The first answer counts.

    Raises `NotFound`, `NotAllowed` until the address is confirmed, and `Conflict` if the password has just changed.
    """
    grant = waiting_grant(user_code)
    if agreed:
        require_confirmed(user)
        lock_owner(user)
    grant.user, grant.answer = user, DeviceGrant.Answer.AGREED if agreed else DeviceGrant.Answer.DENIED
    if not DeviceGrant.objects.filter(pk=grant.pk, answer="").update(user=user, answer=grant.answer):
        raise NotFound("This code has been answered already.")
    return grant


def agreed_by(user: User) -> QuerySet[DeviceGrant]:
    """The command lines that the person has let in and that haven't asked since, the newest first."""
    agreed = DeviceGrant.objects.filter(user=user, answer=DeviceGrant.Answer.AGREED, used_at=None)
    return agreed.filter(expires_at__gt=timezone.now()).order_by("-id")


def redeem_grant(*, device_code: str) -> IssuedToken:
    """The token, once the person has agreed. Raises `DeviceError`."""
    issued = _redeem(device_code, timezone.now())
    if isinstance(issued, DeviceError):
        raise issued
    return issued


@transaction.atomic
def _redeem(device_code: str, now: datetime) -> IssuedToken | DeviceError:
    """An error is returned, since raising it would undo what is written about this request."""
    found = DeviceGrant.objects.filter(device_digest=digest(device_code))
    # The person before the grant, in the order of what ends both.
    list(User.objects.select_for_update().filter(pk__in=found.values("user")))
    grant = found.select_for_update(of=("self",)).select_related("user").first()
    if grant is None or grant.used_at:
        return DeviceError("invalid_grant", "The device code is unknown or was used already.")
    if grant.expires_at <= now:
        return DeviceError("expired_token", "The codes have expired. Start again.")
    if grant.answer == DeviceGrant.Answer.DENIED or (grant.user and not grant.user.is_active):
        return DeviceError("access_denied", "The request was denied.")
    if grant.user is None:
        return _wait(grant, now)
    grant.used_at = now
    grant.save(update_fields=["used_at"])
    return _issue(grant.user, grant, now)


def _wait(grant: DeviceGrant, now: datetime) -> DeviceError:
    too_early = grant.polled_at and now - grant.polled_at < timedelta(seconds=grant.interval)
    grant.polled_at = now
    if too_early:
        grant.interval += GRANT_INTERVAL
    grant.save(update_fields=["polled_at", "interval"])
    if too_early:
        return DeviceError("slow_down", f"Ask every {grant.interval} seconds.")
    return DeviceError("authorization_pending", "The user code has not been approved yet.")


def _issue(user: User, grant: DeviceGrant, now: datetime) -> IssuedToken | DeviceError:
    """A token without rights under the client's name, or under that name with the first number that is free."""
    name = grant.client_name
    names = set(DeveloperToken.objects.usable(now).filter(user=user).values_list("name", flat=True))
    number = next(number for number in range(1, len(names) + 2) if _numbered(name, number) not in names)
    try:
        with transaction.atomic():
            return create_developer_token(
                user=user,
                name=_numbered(name, number),
                lifetime=TOKEN_LIFETIME,
                origin=Origin(network=grant.network),
                now=now,
            )
    except ServiceError as error:
        return DeviceError("access_denied", error.message)


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name[:74]} ({number})"
