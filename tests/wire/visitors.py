"""Asks the WSGI application that servers run, in this process."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from django.conf import settings
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client

from accounts.models import User
from config.wsgi import application

CSRF = "x" * 32
HTML = "text/html"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def is_page(self) -> bool:
        return self.headers.get("content-type", "").startswith(HTML)


class Visitor:
    """A person with a fresh sign-in, or someone without an account."""

    def __init__(self, person: User | None) -> None:
        self.cookies = f"{settings.CSRF_COOKIE_NAME}={CSRF}"
        if person:
            client = Client()
            client.force_login(person)
            session = client.session
            session["account_authentication_methods"] = [{"method": "password", "at": time.time()}]
            session.save()
            self.cookies += (
                f"; {settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
            )

    def ask(self, method: str, url: str, body: bytes = b"", *, host: str = "", **headers: str) -> Answer:
        """`headers` by their names in WSGI: `CONTENT_TYPE`, `HTTP_ACCEPT`."""
        path, _, query = url.partition("?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
            "SERVER_NAME": "testserver",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_HOST": host or urlsplit(settings.BASE_URL).netloc,
            "HTTP_ACCEPT": HTML,
            "HTTP_COOKIE": self.cookies,
            "HTTP_X_CSRFTOKEN": CSRF,
            "HTTP_SEC_FETCH_SITE": "same-origin",
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.url_scheme": "http",
            "wsgi.input": BytesIO(body),
            **headers,
        }
        started: list[Any] = []
        with _kept_connections():
            content = _read(environ, started)
        status, given, *_ = started
        return Answer(int(status[:3]), {name.lower(): value for name, value in given}, content)


@contextmanager
def _kept_connections() -> Iterator[None]:
    """The end of a request would close the connection of a test's transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def _read(environ: dict[str, Any], started: list[Any]) -> bytes:
    parts = application(environ, lambda *answer: started.extend(answer))
    try:
        return b"".join(parts)
    finally:
        getattr(parts, "close", lambda: None)()
