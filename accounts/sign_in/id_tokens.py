"""What an identity provider says about a person: the checks of its ID token (OpenID Connect Core, section 3.1.3.7)."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import jwt

# Only signatures that the provider alone can make: neither `none` nor one by a secret that both know.
ALGORITHMS: Final = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
CLOCKS_DIFFER: Final = 60  # seconds
LONGEST_SUBJECT: Final = 191  # characters, of the library's column
_MUST_HAVE: Final = ["iss", "sub", "aud", "exp", "iat"]

Claims = dict[str, Any]


class RefusedToken(Exception):
    """The token proves nothing. The text says why, for the log."""


def read_id_token(
    token: object, keys: Mapping[str, Any], *, issuer: str, client_id: str, nonce: str
) -> Claims:
    """The claims of a token that the provider made for this sign-in. `keys` is its JWKS. Raises `RefusedToken`."""
    try:
        if not isinstance(token, str):
            raise RefusedToken("There is no ID token.")
        header = jwt.get_unverified_header(token)
        if header.get("alg") not in ALGORITHMS:
            raise RefusedToken(f"The ID token is signed by {header.get('alg')!r}.")
        claims: Claims = jwt.decode(
            token,
            _key_for(header, keys),
            algorithms=[header["alg"]],
            issuer=issuer,
            audience=client_id,
            leeway=CLOCKS_DIFFER,
            options={"require": _MUST_HAVE},
        )
    except (jwt.PyJWTError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise RefusedToken(f"The ID token is not valid: {error}.") from error
    _check_party(claims, client_id)
    if claims.get("nonce") != nonce:
        raise RefusedToken("The ID token is for another sign-in: its nonce is another one.")
    if not 0 < len(claims["sub"]) <= LONGEST_SUBJECT or not claims["sub"].isprintable():
        raise RefusedToken("The ID token has no subject that can be kept.")
    return claims


def names_key_of(token: object, keys: Mapping[str, Any]) -> bool:
    """Whether the JWKS has the key that the token names."""
    try:
        header = jwt.get_unverified_header(str(token))
        return any(key.get("kid") == header.get("kid") for key in keys["keys"])
    except (jwt.PyJWTError, TypeError, LookupError, AttributeError):
        return False


def _check_party(claims: Claims, client_id: str) -> None:
    """A token for several clients names the one that asked for it."""
    is_shared = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", None if is_shared else client_id) != client_id:
        raise RefusedToken("The ID token was made for another client.")


def _key_for(header: Mapping[str, Any], keys: Mapping[str, Any]) -> Any:
    """The public key that the header names; without a name, the only one that fits. Raises `RefusedToken`."""
    found = [key for key in _usable(keys) if _fits(key, header)]
    if len(found) != 1:
        raise RefusedToken(f"{len(found)} keys of the provider fit the ID token, kid {header.get('kid')!r}.")
    algorithm = jwt.get_algorithm_by_name(header["alg"])
    return algorithm.from_jwk(dict(found[0]))


def _usable(keys: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    kinds = ("RSA", "EC", "OKP")
    return (key for key in keys["keys"] if key.get("kty") in kinds and key.get("use", "sig") == "sig")


def _fits(key: Mapping[str, Any], header: Mapping[str, Any]) -> bool:
    kind = {"R": "RSA", "P": "RSA", "E": "OKP" if header["alg"] == "EdDSA" else "EC"}[header["alg"][0]]
    is_named = "kid" not in header or key.get("kid") == header["kid"]
    return bool(is_named and key["kty"] == kind and key.get("alg", header["alg"]) == header["alg"])
