"""Serves an admin page, and checks on the server who is looking. Run it with your Client ID and webhook secret:

CLIENT_ID=... WEBHOOK_SECRET=whsec_test_... python admin_page.py
"""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

CLIENT_ID = os.environ.get("CLIENT_ID", "")
SECRET = os.environ.get("WEBHOOK_SECRET", "").encode()

PAGE = """<!doctype html>
<html lang="en">
<title>Overview</title>
<body style="font: 16px/1.5 system-ui">
<h1 id="greeting">Hello</h1>
<p id="checked"></p>
<script>
addEventListener("message", async (event) => {
  if (event.source !== parent || event.data.type !== "service:init") return;
  document.getElementById("greeting").textContent = "Hello, " + event.data.businessName;
  const answer = await fetch("/session", { method: "POST", body: event.data.sessionToken });
  document.getElementById("checked").textContent = await answer.text();
});
</script>
"""


def decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def read(token: str) -> dict[str, Any] | None:
    """The content of a session token; None if the platform didn't sign it for this app in the last minute."""
    try:
        signed, _, signature = token.rpartition(".")
        expected = hmac.new(SECRET, signed.encode(), hashlib.sha256).digest()
        if not hmac.compare_digest(expected, decoded(signature)):
            return None
        session: dict[str, Any] = json.loads(decoded(signed.partition(".")[2]))
    except ValueError:
        return None
    return session if session["aud"] == CLIENT_ID and session["exp"] > time.time() else None


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer(200 if self.path.startswith("/admin") else 404, PAGE)

    def do_POST(self) -> None:
        session = read(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if session is None:
            self.answer(401, "We don't know who is looking.")
        else:
            self.answer(200, f"Checked: you manage the store {session['businessId']}.")

    def answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    HTTPServer(("", 8787), Handler).serve_forever()
