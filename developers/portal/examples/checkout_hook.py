"""Answers the hook order.calculate_discounts: 10% off orders of 20.00 and more. Run it with your webhook secret:

WEBHOOK_SECRET=whsec_test_... python checkout_hook.py
"""

import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = os.environ.get("WEBHOOK_SECRET", "").encode()


def is_signed(timestamp: str, signature: str, body: bytes) -> bool:
    """Whether the platform sent this body in the last five minutes."""
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    expected = hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"sha256={expected}", signature)


def discount(data: dict[str, int]) -> dict[str, object]:
    """Amounts are in minor units: 2000 is 20.00."""
    if data["subtotal"] < 2000:
        return {"discount": 0}
    return {"discount": data["subtotal"] // 10, "reason": "10% off orders of 20.00 and more"}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        timestamp = self.headers.get("X-Webhook-Timestamp", "")
        if not is_signed(timestamp, self.headers.get("X-Webhook-Signature", ""), body):
            self.answer(401, {})
        elif self.path == "/discounts":
            self.answer(200, discount(json.loads(body)["data"]))
        else:  # an event
            print(json.loads(body)["event"])
            self.answer(200, {})

    def answer(self, status: int, content: dict[str, object]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    HTTPServer(("", 8787), Handler).serve_forever()
