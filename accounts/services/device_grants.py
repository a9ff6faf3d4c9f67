"""Letting a command line in (RFC 8628): it shows a short code, a person types that code here and agrees.

1. `start` gives the command line a long device code, and a short user code to show.
2. The person opens the page with the user code and answers it: `answer`.
3. The command line asks every few seconds: `redeem` gives it a developer token once, or says why not yet.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import DeveloperToken, DeviceGrant, User
from accounts.services.confirmation import require_confirmed
from accounts.services.developer_tokens import IssuedToken, create_developer_token, lock_owner
from accounts.sign_in.origins import Origin
from common.errors import NotFound, ServiceError
from common.secrets import digest

LIFETIME: Final = timedelta(minutes=15)
TOKEN_LIFETIME: Final = timedelta(days=90)
INTERVAL: Final = 5  # seconds between two requests, and what a request too early adds
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


def start(*, client_name: str, network: str) -> DeviceCodes:
    device_code = secrets.token_urlsafe(32)
    letters = "".join(secrets.choice(LETTERS) for _ in range(8))
    DeviceGrant.objects.create(
        device_digest=digest(device_code),
        user_code_digest=digest(letters),
        client_name=client_name.strip()[:80] or DEFAULT_NAME,
        network=network,
        expires_at=timezone.now() + LIFETIME,
        interval=INTERVAL,
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
def answer(*, user: User, user_code: str, agreed: bool) -> DeviceGrant:
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


def redeem(*, device_code: str) -> IssuedToken:
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
        grant.interval += INTERVAL
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
