"""The platform's Ed25519 keys, which sign session tokens for apps that chose EdDSA (contract, section 20).

`SESSION_TOKEN_KEYS` has them: the first signs, all are published. Without it the platform makes one, once for all its processes, and keeps
it encrypted.
"""

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from secrets import token_bytes

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings

from installations.models import SigningKey


@dataclass(frozen=True)
class SessionKey:
    private: Ed25519PrivateKey

    @cached_property
    def public(self) -> dict[str, str]:
        """The public key as a JWK (RFC 8037)."""
        jwk = {"crv": "Ed25519", "kty": "OKP", "x": _base64url(self.private.public_key().public_bytes_raw())}
        return jwk | {"kid": thumbprint(jwk), "use": "sig", "alg": "EdDSA"}

    @property
    def kid(self) -> str:
        return self.public["kid"]


def session_keys() -> list[SessionKey]:
    """The first one signs."""
    return [_key(each) for each in settings.SESSION_TOKEN_KEYS or (_own(),)]


def thumbprint(jwk: dict[str, str]) -> str:
    """By RFC 7638: of the members that make the key, in their order, without white space."""
    return _base64url(
        hashlib.sha256(json.dumps(jwk, sort_keys=True, separators=(",", ":")).encode()).digest()
    )


@lru_cache(maxsize=16)
def _key(seed: bytes) -> SessionKey:
    return SessionKey(Ed25519PrivateKey.from_private_bytes(seed))


def _own() -> bytes:
    row, _ = SigningKey.objects.get_or_create(
        pk=SigningKey.ONLY, defaults={"seed": base64.b64encode(token_bytes(32)).decode()}
    )
    return base64.b64decode(row.seed)


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
