"""Session tokens: who looks at an admin page, and which store a block or widget is in.

The host's message reaches the frame in the browser, where anybody can forge one. Its ``sessionToken`` can't be forged:
send it to your server, and trust nothing but what ``read_session_token`` or ``read_storefront_token`` returns there.
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

from .envelope import Shopper, read_shopper
from .platform_keys import keys_of

LEEWAY = 5
"""Seconds that the two clocks may differ."""

STOREFRONT = "/storefront"


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


@dataclass(frozen=True, slots=True)
class StorefrontSession:
    """The store that a block or widget is in, as the platform signed it, until ``expires_at`` (Unix seconds).

    ``shopper`` is who looks, where this browser has proven it and your installation may read orders; else ``None``.
    """

    business_id: str
    installation_id: str
    expires_at: int
    shopper: Shopper | None = None


SecretOfInstallation = Callable[[str], str | None]


def read_session_token(
    token: str,
    *,
    client_id: str,
    secret: str | SecretOfInstallation | None = None,
    base_url: str | None = None,
    now: float | None = None,
) -> Session:
    """Verify the token of an admin page: a JWT (RFC 7519). A token lives for a minute: give the browser a session of your own for it.

    ``secret`` accepts tokens that are signed with the installation's webhook secret (HS256). It is that secret, or a
    function that is given the ``installationId`` and returns its secret, ``None`` for an unknown one.

    ``base_url``, the platform's address, accepts tokens that are signed with the platform's key, of apps with
    ``sessionTokenAlg: EdDSA``. The keys are fetched from there once and kept. This needs the package ``cryptography``.

    Give both while you change from one to the other.

    Raises ``InvalidSession`` for a malformed, forged, expired or foreign token, and ``Unreachable`` or ``ApiError`` where
    the platform's keys are needed and can't be fetched.
    """
    claims = _verified(token, client_id, secret, base_url, now)
    user_id, business_id, installation_id = _texts(claims, "sub", "businessId", "installationId")
    role = claims.get("staffRole")
    return Session(
        user_id, business_id, installation_id, claims["exp"], role if isinstance(role, str) else None
    )


def read_storefront_token(
    token: str,
    *,
    client_id: str,
    secret: str | SecretOfInstallation | None = None,
    base_url: str | None = None,
    now: float | None = None,
) -> StorefrontSession:
    """Verify the token of a block or a widget, as ``read_session_token`` does that of an admin page.

    Neither takes the other's token.
    """
    claims = _verified(token, client_id + STOREFRONT, secret, base_url, now)
    business_id, installation_id = _texts(claims, "businessId", "installationId")
    shopper = read_shopper(claims.get("shopper"))
    return StorefrontSession(business_id, installation_id, claims["exp"], shopper)


def _verified(
    token: str,
    audience: str,
    secret: str | SecretOfInstallation | None,
    base_url: str | None,
    now: float | None,
) -> dict[str, Any]:
    """The claims of a token with a good signature, for this audience, that hasn't expired."""
    if secret is None and base_url is None:
        raise TypeError("give secret or base_url")
    signed, _, signature = token.rpartition(".")
    header, _, payload = signed.partition(".")
    head, claims = _object(header), _object(payload)
    match head.get("alg"):
        case "HS256" if secret is not None:
            _check_secret(signed, _decode(signature), _find_secret(secret, claims))
        case "EdDSA" if base_url is not None:
            _check_key(signed, _decode(signature), head.get("kid"), base_url.rstrip("/"), claims)
        case _:
            accepted = [name for name, given in (("HS256", secret), ("EdDSA", base_url)) if given is not None]
            raise InvalidSession(f"the token is not signed with {' or '.join(accepted)}")
    if claims.get("aud") != audience:
        raise InvalidSession("the token is for another app, or for another kind of page")
    expires_at = claims.get("exp")
    if isinstance(expires_at, bool) or not isinstance(expires_at, int):
        raise InvalidSession("the token has no end")
    if expires_at + LEEWAY <= (time.time() if now is None else now):
        raise InvalidSession("the token has expired")
    return claims


def _check_secret(signed: str, signature: bytes, secret: str) -> None:
    expected = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()
    if not hmac.compare_digest(expected, signature):
        raise InvalidSession("the signature does not match")


def _check_key(signed: str, signature: bytes, kid: Any, base_url: str, claims: dict[str, Any]) -> None:
    key = keys_of(base_url).find(kid) if isinstance(kid, str) else None
    if key is None:
        raise InvalidSession("the platform has no such key")
    from cryptography.exceptions import InvalidSignature  # there, since there is a key

    try:
        key.verify(signature, signed.encode())
    except InvalidSignature:
        raise InvalidSession("the signature does not match") from None
    if claims.get("iss") != base_url:
        raise InvalidSession("the token is of another platform")


def _find_secret(secret: str | SecretOfInstallation, claims: dict[str, Any]) -> str:
    """The token names its installation before it is verified: that only chooses the key to verify with."""
    if not isinstance(secret, str):
        secret = secret(str(claims.get("installationId", ""))) or ""
    if not secret:
        raise InvalidSession("the token names no installation known here")
    return secret


def _texts(claims: dict[str, Any], *names: str) -> list[str]:
    found = [claims.get(name) for name in names]
    texts = [each for each in found if isinstance(each, str)]
    if len(texts) < len(found):
        raise InvalidSession("the token does not say who is looking")
    return texts


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
