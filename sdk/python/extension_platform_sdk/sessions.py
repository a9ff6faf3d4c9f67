"""The person who looks at an admin page: the session token of ``service:init``.

The host's message reaches the page in the browser, where anybody can forge one. Its ``sessionToken`` can't be forged:
send it to your server, and trust nothing but what ``read_session_token`` returns there.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LEEWAY = 5
"""Seconds that the two clocks may differ."""


class InvalidSession(Exception):
    """The session token is not to be trusted; answer with 401. The text says why, in words fit for a log."""


@dataclass(frozen=True, slots=True)
class Session:
    """The person who looks, and the store: as the platform signed it, until ``expires_at`` (Unix seconds).

    ``staff_role`` is what they may do there, ``"OWNER"`` or ``"MANAGER"``; None on a sandbox.
    """

    user_id: str
    business_id: str
    installation_id: str
    expires_at: int
    staff_role: str | None = None


SecretOfInstallation = Callable[[str], str | None]


def read_session_token(
    token: str, *, client_id: str, secret: str | SecretOfInstallation, now: float | None = None
) -> Session:
    """Verify a session token: a JWT signed with HS256 and the installation's webhook secret (RFC 7519).

    ``secret`` is that secret, or a function that is given the ``installationId`` and returns its secret, ``None`` for an
    unknown one. A token lives for a minute: give the browser a session of your own for it.

    Raises ``InvalidSession`` for a malformed, forged, expired or foreign token.
    """
    signed, _, signature = token.rpartition(".")
    header, _, payload = signed.partition(".")
    if _object(header).get("alg") != "HS256":
        raise InvalidSession("the token is not signed with HS256")
    claims = _object(payload)
    expected = hmac.new(_find_secret(secret, claims).encode(), signed.encode(), hashlib.sha256).digest()
    if not hmac.compare_digest(expected, _decode(signature)):
        raise InvalidSession("the signature does not match")
    return _session(claims, client_id, time.time() if now is None else now)


def _session(claims: dict[str, Any], client_id: str, now: float) -> Session:
    if claims.get("aud") != client_id:
        raise InvalidSession("the token is for another app")
    expires_at = claims.get("exp")
    if isinstance(expires_at, bool) or not isinstance(expires_at, int) or expires_at + LEEWAY <= now:
        raise InvalidSession("the token has expired")
    names = ("sub", "businessId", "installationId")
    user_id, business_id, installation_id = (claims.get(name) for name in names)
    if not (isinstance(user_id, str) and isinstance(business_id, str) and isinstance(installation_id, str)):
        raise InvalidSession("the token does not say who is looking")
    staff_role = claims.get("staffRole")
    return Session(
        user_id, business_id, installation_id, expires_at, staff_role if isinstance(staff_role, str) else None
    )


def _find_secret(secret: str | SecretOfInstallation, claims: dict[str, Any]) -> str:
    """The token names its installation before it is verified: that only chooses the key to verify with."""
    if not isinstance(secret, str):
        secret = secret(str(claims.get("installationId", ""))) or ""
    if not secret:
        raise InvalidSession("the token names no installation known here")
    return secret


def _object(part: str) -> dict[str, Any]:
    try:
        found = json.loads(_decode(part))
    except (ValueError, RecursionError):
        raise InvalidSession("the token is not a JWT") from None
    if not isinstance(found, dict):
        raise InvalidSession("the token is not a JWT")
    return found


def _decode(part: str) -> bytes:
    """Base64url without padding (RFC 7515 section 2)."""
    try:
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise InvalidSession("the token is not a JWT") from None
