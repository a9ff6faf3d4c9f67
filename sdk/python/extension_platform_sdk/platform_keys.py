"""The platform's public keys, which verify session tokens of apps with ``sessionTokenAlg: EdDSA`` (RFC 7517, RFC 8037)."""

from __future__ import annotations

import base64
import threading
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING, Any

import requests

from .errors import PlatformError, Unreachable, error_from
from .transport import Session

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

PATH = "/.well-known/jwks.json"
KEPT = 600.0  # seconds for which fetched keys are kept
REST = 10.0  # seconds between two requests for a key that isn't among them
RETRY = 1.0  # seconds after a request that failed
TIMEOUT = 5.0  # seconds


class PlatformKeys:
    """The keys at one address: fetched at the first token, then kept. Safe to use from several threads.

    They are fetched again for a key that isn't among them, since the platform may have a new one. Keys that are known
    stay good while the platform can't be reached.
    """

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._lock = threading.Lock()
        self._keys: dict[str, Ed25519PublicKey] = {}
        self._kept_until = self._rests_until = 0.0
        self._has_failed = False

    def find(self, kid: str) -> Ed25519PublicKey | None:
        """The key of that name. Raises ``Unreachable`` or ``ApiError`` where it isn't known and can't be asked for."""
        found = self._keys.get(kid)
        if found is not None and monotonic() < self._kept_until:
            return found
        with self._lock:
            now = monotonic()
            known = kid in self._keys
            if now >= self._rests_until and not (known and now < self._kept_until):
                try:
                    self._fetch()
                except PlatformError:
                    if not known:
                        raise
            if kid not in self._keys and self._has_failed:
                raise Unreachable(f"no keys from {self._base_url}")
            return self._keys.get(kid)

    def _fetch(self) -> None:
        self._has_failed, self._rests_until = True, monotonic() + RETRY
        try:
            with Session() as session:
                response = session.get(
                    self._base_url + PATH,
                    headers={"Accept": "application/json"},
                    timeout=TIMEOUT,
                    allow_redirects=False,
                )
        except requests.RequestException as error:
            raise Unreachable(f"no answer from {self._base_url} ({type(error).__name__})") from error
        if not 200 <= response.status_code < 300:
            raise error_from(response)
        self._keys = _keys_in(response)
        self._has_failed = False
        self._kept_until, self._rests_until = monotonic() + KEPT, monotonic() + REST


@lru_cache(maxsize=16)
def keys_of(base_url: str) -> PlatformKeys:
    """One for each platform, so that all tokens share what was fetched."""
    return PlatformKeys(base_url)


def _keys_in(response: requests.Response) -> dict[str, Ed25519PublicKey]:
    """By ``kid``. Keys of other kinds are left out."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        text = "Tokens with the platform's key need the package cryptography: pip install cryptography"
        raise RuntimeError(text) from error
    try:
        rows: list[Any] = response.json()["keys"]
        wanted = [each for each in rows if (each.get("kty"), each.get("crv")) == ("OKP", "Ed25519")]
        return {
            str(each["kid"]): Ed25519PublicKey.from_public_bytes(
                base64.urlsafe_b64decode(each["x"] + "=" * (-len(each["x"]) % 4))
            )
            for each in wanted
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Unreachable("the platform's keys are not a JWK Set") from error
