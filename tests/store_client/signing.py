"""Commands as the platform signs them."""

import hashlib
import hmac
import json
import time
from typing import Any


def signed(secret: str, **command: Any) -> tuple[dict[str, str], bytes]:
    about = {"commandId": "c-1", "store": "main", "appId": "a-1", "appName": "Bell", "businessId": "b-1"}
    body = json.dumps(about | command).encode()
    timestamp = str(int(time.time()))
    digest = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return {"X-Webhook-Timestamp": timestamp, "X-Webhook-Signature": f"sha256={digest}"}, body
