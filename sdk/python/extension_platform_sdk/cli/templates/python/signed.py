"""Requests as the platform sends them, for the tests."""

import json
import time
from typing import Any

from extension_platform_sdk import sign

BUSINESS, SECRET = "b-1", "whsec_test_example"


def webhook(event: str, data: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
    body = {"event": event, "webhookId": "w-1"}
    return _signed(body | {"data": data}, {"X-Webhook-Id": "w-1", "X-Webhook-Business-Id": BUSINESS})


def hook_call(point: str, data: dict[str, Any], **beside: Any) -> tuple[bytes, dict[str, str]]:
    """`beside` goes beside the data, such as `shopper={"key": "shp_1", "proven": True}`."""
    return _signed({"hookPoint": point, "data": data, **beside}, {})


def _signed(body: dict[str, Any], headers: dict[str, str]) -> tuple[bytes, dict[str, str]]:
    body |= {"businessId": BUSINESS, "timestamp": "2026-11-20T15:04:05.123Z"}
    raw, now = json.dumps(body).encode(), str(int(time.time()))
    signature = sign(secret=SECRET, timestamp=now, body=raw)
    headers = headers | {"X-Webhook-Timestamp": now, "X-Webhook-Signature": signature}
    return raw, headers | {"Content-Type": "application/json"}
