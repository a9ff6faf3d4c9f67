"""Receives webhooks and prints them. Run it with the webhook secret of your test install:

WEBHOOK_SECRET=whsec_test_... python webhook_receiver.py
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


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        timestamp = self.headers.get("X-Webhook-Timestamp", "")
        if is_signed(timestamp, self.headers.get("X-Webhook-Signature", ""), body):
            event = json.loads(body)
            print(event["event"], json.dumps(event["data"], indent=2))
            self.answer(200)
        else:
            self.answer(401)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


if __name__ == "__main__":
    HTTPServer(("", 8787), Handler).serve_forever()
