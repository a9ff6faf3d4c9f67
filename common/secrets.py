"""Creates credentials, and hashes those that are only compared.

Each has at least 160 random bits, so a plain SHA-256 is safe: dictionary attacks can't find it.
"""

import base64
import hashlib
import secrets

CLIENT_SECRET_PREFIX = "fbcs_"  # noqa: S105
DEVELOPER_TOKEN_PREFIX = "fbdt_"  # noqa: S105
SHOP_KEY_PREFIX = "fbsk_"
TEST_PREFIX = "test_"


def new_client_secret() -> str:
    return CLIENT_SECRET_PREFIX + secrets.token_urlsafe(32)


def new_developer_token() -> str:
    return DEVELOPER_TOKEN_PREFIX + secrets.token_urlsafe(32)


def new_shop_key() -> str:
    return SHOP_KEY_PREFIX + secrets.token_urlsafe(32)


def new_ticket() -> str:
    return secrets.token_urlsafe(32)


def new_access_token(*, test: bool) -> str:
    """`fbat_…`, or `fbat_test_…` for a test install."""
    return "fbat_" + (TEST_PREFIX if test else "") + secrets.token_urlsafe(32)


def new_webhook_secret(*, test: bool) -> str:
    """`whsec_…` or `whsec_test_…`: the prefix, then standard base64 of 32 random bytes."""
    return "whsec_" + (TEST_PREFIX if test else "") + base64.b64encode(secrets.token_bytes(32)).decode()


def standard_webhooks_secret(secret: str) -> str:
    """A webhook secret as the libraries of Standard Webhooks take it: `whsec_` and the base64, without `test_`.

    Base64 of the standard has no underscore, so the part behind the last one is the key. A production secret stays the same.
    """
    return "whsec_" + secret.rpartition("_")[2]


def digest(token: str) -> str:
    """The stored form of an access token: SHA-256 in hex."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def last_four(secret: str) -> str:
    """The last four characters, by which people recognize a secret."""
    return secret[-4:]
