"""Making and comparing the credentials of the specification's table "Credentials".

Each carries at least 160 random bits, so a plain SHA-256 is a sound way to keep those that are only
ever compared: there is no dictionary to try.
"""

import base64
import hashlib
import secrets

CLIENT_SECRET_PREFIX = "fbcs_"  # noqa: S105
TEST_PREFIX = "test_"


def new_client_secret() -> str:
    return CLIENT_SECRET_PREFIX + secrets.token_urlsafe(32)


def new_access_token(*, test: bool) -> str:
    """`fbat_…`, or `fbat_test_…` for a test install."""
    return "fbat_" + (TEST_PREFIX if test else "") + secrets.token_urlsafe(32)


def new_webhook_secret(*, test: bool) -> str:
    """`whsec_…` or `whsec_test_…`: the prefix, then standard base64 of 32 random bytes."""
    return "whsec_" + (TEST_PREFIX if test else "") + base64.b64encode(secrets.token_bytes(32)).decode()


def digest(token: str) -> str:
    """What is stored of an access token: SHA-256 in hex."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def hint(secret: str) -> str:
    """What people may still see of a secret: its last four characters."""
    return secret[-4:]
