"""Who may read the app's page and press its buttons: only the page itself, in the browser of this machine.

Another site open in the same browser could otherwise post the forms (cross-site request forgery), or reach the
page under a name of its own that leads to 127.0.0.1 (DNS rebinding).
"""

from __future__ import annotations

import secrets
from email.message import Message
from urllib.parse import urlsplit


class Guard:
    """``token`` goes into every form. It lasts as long as the process."""

    def __init__(self, *, port: int, public_url: str) -> None:
        self.token = secrets.token_urlsafe(24)
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}", urlsplit(public_url).netloc}

    def knows_host(self, headers: Message) -> bool:
        """Whether the browser believes to be talking to this app."""
        return headers.get("Host") in self._hosts

    def allows_post(self, headers: Message, token: str) -> bool:
        """Whether a form came from this app's own page: by the browser's word, and by the token in it."""
        return is_same_origin(headers) and secrets.compare_digest(token.encode(), self.token.encode())


def is_same_origin(headers: Message) -> bool:
    """Whether a request came from a page of this app, framed or not, by the browser's word."""
    site = headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("Origin")  # of a browser that doesn't send the other here
    return origin is not None and urlsplit(origin).netloc == headers.get("Host")
