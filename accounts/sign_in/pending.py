"""Somebody who came from the identity provider and has no account yet, kept in the browser's session for an hour."""

import secrets
import time
from dataclasses import asdict, dataclass
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest

from accounts.sign_in.provider import Identity

LIFETIME: Final = 3600  # seconds
_SESSION_KEY: Final = "provider_identity"


@dataclass(slots=True)
class PendingIdentity:
    """`key` ties a mailed link to this browser. `user_id` is the account that signs in by that link."""

    identity: Identity
    next_url: str
    key: str
    user_id: str = ""


def keep(request: HttpRequest, identity: Identity, next_url: str) -> None:
    _write(request, PendingIdentity(identity, next_url, secrets.token_urlsafe(16)), time.time())


def read(request: HttpRequest) -> PendingIdentity | None:
    """None after an hour, and for another provider than that of today's settings."""
    kept: dict[str, Any] | None = request.session.get(_SESSION_KEY)
    if kept is None or time.time() - kept["at"] > LIFETIME or settings.IDENTITY_PROVIDER is None:
        return None
    identity = Identity(**kept["identity"])
    if identity.issuer != settings.IDENTITY_PROVIDER.issuer:
        return None
    return PendingIdentity(identity, kept["next_url"], kept["key"], kept["user_id"])


def begin_sign_in(request: HttpRequest, user_id: str) -> None:
    """The person has followed the mailed link of this account, and may have to show a second factor now."""
    pending = read(request)
    assert pending is not None
    pending.user_id = user_id
    _write(request, pending, request.session[_SESSION_KEY]["at"])


def take(request: HttpRequest) -> PendingIdentity | None:
    pending = read(request)
    request.session.pop(_SESSION_KEY, None)
    return pending


def _write(request: HttpRequest, pending: PendingIdentity, at: float) -> None:
    request.session[_SESSION_KEY] = asdict(pending) | {"at": at}
