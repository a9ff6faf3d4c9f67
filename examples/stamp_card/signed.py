"""Requests as the platform sends them, for the tests."""

import base64
import hashlib
import hmac
import json
import time
from typing import Any

from extension_platform_sdk import Installation, sign

STORE = Installation("fbat_example", "i-1", "whsec_test_example", "b-1", True, "")


def webhook(
    event: str, data: dict[str, Any], *, request: str = "", store: Installation = STORE
) -> tuple[bytes, dict[str, str]]:
    """``request`` is the ID of the request that caused the event."""
    headers = {"X-Webhook-Id": "w-1", "X-Webhook-Business-Id": store.business_id}
    return _signed({"event": event, "webhookId": "w-1", "data": data}, headers, request, store)


def hook_call(
    point: str, *, shopper: dict[str, Any] | None = None, request: str = "", store: Installation = STORE
) -> tuple[bytes, dict[str, str]]:
    """About an order of 12.00."""
    data = {"items": [], "subtotal": 1200, "promoDiscount": 0, "deliveryFee": 0, "deliveryMethod": "PICKUP"}
    return _signed({"hookPoint": point, "data": data, "shopper": shopper}, {}, request, store)


def block_token(shopper: dict[str, Any] | None, *, client_id: str, store: Installation = STORE) -> str:
    """The session token of a block, as `SERVICE_BLOCK_INIT` has it (RFC 7519)."""
    claims = {"aud": f"{client_id}/storefront", "businessId": store.business_id, "exp": int(time.time()) + 60}
    claims |= {"installationId": store.installation_id} | ({"shopper": shopper} if shopper else {})
    parts = [_encoded(json.dumps(each).encode()) for each in ({"alg": "HS256", "typ": "JWT"}, claims)]
    signature = hmac.digest(store.webhook_secret.encode(), ".".join(parts).encode(), hashlib.sha256)
    return ".".join([*parts, _encoded(signature)])


def _encoded(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).decode().rstrip("=")


def _signed(
    body: dict[str, Any], headers: dict[str, str], request: str, store: Installation
) -> tuple[bytes, dict[str, str]]:
    body |= {"businessId": store.business_id, "timestamp": "2026-11-20T15:04:05.123Z"}
    raw, now = json.dumps(body).encode(), str(int(time.time()))
    headers |= {"X-Request-Id": request} if request else {}
    headers |= {"X-Webhook-Timestamp": now, "Content-Type": "application/json"}
    return raw, headers | {"X-Webhook-Signature": sign(secret=store.webhook_secret, timestamp=now, body=raw)}
