"""The app as the tests call it."""

from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest
from app import app
from werkzeug.serving import make_server


@pytest.fixture
def send() -> Any:
    def post(path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        response = app.test_client().post(path, data=body, headers=headers)
        return response.status_code, response.json

    return post


@pytest.fixture
def get() -> Any:
    def read(path: str) -> tuple[int, Any]:
        response = app.test_client().get(path)
        return response.status_code, dict(response.headers)

    return read


@pytest.fixture
def app_port() -> Iterator[int]:
    """Where the app runs while a test on a store of the platform does."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()
