"""Signatures of commands.

The header ``X-Webhook-Signature`` is ``sha256=`` followed by the hex HMAC-SHA256 of ``<timestamp>.<rawBody>``. The
timestamp is the text of ``X-Webhook-Timestamp``, the body is the bytes exactly as they came, and the key is the whole
secret of the connection, its ``whsec_`` included.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Mapping

TOLERANCE = 300
"""Seconds that a timestamp may differ from the receiver's clock, into the past and into the future."""

_TIMESTAMP = re.compile(r"[0-9]{1,12}")


class InvalidSignature(Exception):
    """Raised for an invalid signature. Respond with 401. The message is safe to log."""


def verify(secret: str, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> None:
    """Return if the request was signed with ``secret`` within the last five minutes.

    ``headers`` are those of the request, in any case; ``body`` is the raw body. ``now`` is Unix time, the clock's unless given.

    Raises ``InvalidSignature``, and ``ValueError`` for an empty secret, under which anybody could sign.
    """
    if not secret:
        raise ValueError("the secret of the connection is empty")
    given = {name.lower(): value for name, value in headers.items()}
    timestamp, signature = given.get("x-webhook-timestamp", ""), given.get("x-webhook-signature", "")
    if _TIMESTAMP.fullmatch(timestamp) is None:
        raise InvalidSignature("X-Webhook-Timestamp is missing, or is not a Unix time in seconds")
    signed = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(f"sha256={signed}".encode(), signature.encode()):
        raise InvalidSignature("X-Webhook-Signature is missing, or does not match the body")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE:
        raise InvalidSignature(f"the timestamp is more than {TOLERANCE} seconds away")
