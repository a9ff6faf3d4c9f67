"""The headers that let a receiver check who sent a request, and that nobody changed it.

Two schemes side by side over the same bytes: the service's own (interface, "Signature"), and Standard Webhooks
(https://www.standardwebhooks.com), so that its published libraries verify a delivery as it is.
"""

import base64
import hashlib
import hmac


def hook_signature_headers(secret: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The service's own scheme, which hook calls carry alone.

    HMAC-SHA256 over `<timestamp>.<body>`, keyed with the whole secret string, prefix included. `timestamp` is
    Unix time in seconds at the moment of sending, `body` the exact bytes sent.
    """
    return {
        "X-Webhook-Timestamp": str(timestamp),
        "X-Webhook-Signature": "sha256=" + _hmac(secret.encode(), b"%d.%b" % (timestamp, body)).hex(),
    }


def signature_headers(secret: str, delivery_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Both schemes, as every webhook delivery carries them. Made anew for each attempt.

    The Standard Webhooks signature also covers `delivery_id`. Its key is the base64 part of the secret, decoded:
    what stands behind the last underscore, a letter that standard base64 doesn't use. Raises `ValueError` for a
    secret that has no such part.
    """
    key = base64.b64decode(secret.rpartition("_")[2], validate=True)
    signature = _hmac(key, b"%b.%d.%b" % (delivery_id.encode(), timestamp, body))
    return {
        **hook_signature_headers(secret, timestamp, body),
        "webhook-id": delivery_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": "v1," + base64.b64encode(signature).decode(),
    }


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, hashlib.sha256)
