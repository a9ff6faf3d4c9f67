"""Builds the headers with which a receiver verifies the sender and the content of a request.

Two schemes sign the same bytes: this service's own (docs/contract.md, section 5), and Standard Webhooks
(https://www.standardwebhooks.com), so that its published libraries can verify deliveries and hook calls.
"""

import base64
import hashlib
import hmac


def own_signature_headers(secret: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The service's own scheme.

    HMAC-SHA256 over `<timestamp>.<body>`. The key is the whole secret string with its prefix. `timestamp` is the Unix
    time of sending in seconds, and `body` the exact bytes sent.
    """
    return {
        "X-Webhook-Timestamp": str(timestamp),
        "X-Webhook-Signature": "sha256=" + _hmac(secret.encode(), b"%d.%b" % (timestamp, body)).hex(),
    }


def signature_headers(secret: str, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Both schemes, for a delivery or a hook call. Each attempt needs new ones.

    The Standard Webhooks signature also covers `message_id`. Its key is the base64 part of the secret, decoded: the
    part after the last underscore, a character that standard base64 doesn't use. Raises `ValueError` if that part
    can't be decoded.
    """
    key = base64.b64decode(secret.rpartition("_")[2], validate=True)
    signature = _hmac(key, b"%b.%d.%b" % (message_id.encode(), timestamp, body))
    return {
        **own_signature_headers(secret, timestamp, body),
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": "v1," + base64.b64encode(signature).decode(),
    }


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, hashlib.sha256)
