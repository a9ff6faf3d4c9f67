"""The app as the tests call it."""

import os
from collections.abc import Iterator
from threading import Thread
from typing import Any

import django
import pytest

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
django.setup()

from django.conf import settings  # noqa: E402
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.test import Client  # noqa: E402

settings.ALLOWED_HOSTS = ["testserver", "127.0.0.1"]


@pytest.fixture
def send() -> Any:
    def post(path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        response = Client(enforce_csrf_checks=True).post(
            path, body, content_type="application/json", headers=headers
        )
        return response.status_code, response.json()

    return post


@pytest.fixture
def get() -> Any:
    def read(path: str) -> tuple[int, Any]:
        response = Client().get(path)
        return response.status_code, dict(response.headers)

    return read


@pytest.fixture
def app_port() -> Iterator[int]:
    """Where the app runs while a test on a store of the platform does."""
    server = ThreadedWSGIServer(("127.0.0.1", 0), WSGIRequestHandler)
    server.set_app(get_wsgi_application())
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()
