"""Signatures of webhook and hook calls.

The header ``X-Webhook-Signature`` is ``sha256=`` followed by the hex HMAC-SHA256 of
``<timestamp>.<rawBody>``. The timestamp is the text of ``X-Webhook-Timestamp``, the body is the bytes exactly as
they came, and the key is the whole secret, its ``whsec_`` prefix included, as UTF-8.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time

SIGNATURE_HEADER = "X-Webhook-Signature"
TIMESTAMP_HEADER = "X-Webhook-Timestamp"

TOLERANCE = 300
"""Seconds that a timestamp may differ from the receiver's clock, into the past and into the future."""

_TIMESTAMP = re.compile(r"[0-9]{1,12}")
_SIGNATURE = re.compile(r"sha256=[0-9a-fA-F]{64}")


class InvalidSignature(Exception):
    """Raised for an invalid signature. Respond with 401. The message is safe to log."""


def sign(*, secret: str, timestamp: int | str, body: bytes) -> str:
    """Return the value of ``X-Webhook-Signature`` for a call: for the tests of your own receiver.

    ``timestamp`` is Unix time in seconds, and must be sent as ``X-Webhook-Timestamp``.

    Raises ``ValueError`` for an empty secret, under which anybody could sign.
    """
    if not secret:
        raise ValueError("the webhook secret is empty")
    digest = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"


def verify(
    *,
    secret: str,
    timestamp: str | None,
    signature: str | None,
    body: bytes,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> None:
    """Return if the call was signed with ``secret`` not long ago.

    ``timestamp`` and ``signature`` are the values of the two headers, ``None`` where one is missing; ``body`` is
    the raw request body, before any parsing. ``now`` is Unix time, the clock's unless given.

    Raises ``InvalidSignature`` when a header is missing or malformed, when the signature is not that of the body
    (compared in constant time), and when the timestamp is more than ``tolerance`` seconds away from ``now``.
    """
    if not timestamp:
        raise InvalidSignature(f"{TIMESTAMP_HEADER} is missing")
    if not signature:
        raise InvalidSignature(f"{SIGNATURE_HEADER} is missing")
    if not _TIMESTAMP.fullmatch(timestamp):
        raise InvalidSignature(f"{TIMESTAMP_HEADER} is not a Unix time in seconds")
    if not _SIGNATURE.fullmatch(signature):
        raise InvalidSignature(f"{SIGNATURE_HEADER} is not sha256= and 64 hexadecimal digits")

    expected = sign(secret=secret, timestamp=timestamp, body=body)
    if not hmac.compare_digest(expected, signature.lower()):
        raise InvalidSignature("the signature does not match the body")

    age = (time.time() if now is None else now) - int(timestamp)
    if age > tolerance:
        raise InvalidSignature(f"the timestamp is {age:.0f} seconds old, {tolerance:.0f} are allowed")
    if age < -tolerance:
        raise InvalidSignature(f"the timestamp is {-age:.0f} seconds ahead, {tolerance:.0f} are allowed")
