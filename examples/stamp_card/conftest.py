"""The app as the tests call it, with a database of its own for each."""

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import database
import environment
import pytest
from app import app
from werkzeug.serving import make_server

Send = Callable[..., tuple[int, Any]]


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of everything that the app keeps."""
    folder = tmp_path / "kept"
    folder.mkdir()
    monkeypatch.setattr(environment, "DATABASE", folder / "stamp-card.sqlite3")
    database.prepare()
    return folder


@pytest.fixture
def send() -> Send:
    def post(path: str, body: bytes | str, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        response = app.test_client().post(path, data=body, headers=headers)
        return response.status_code, response.json

    return post


@pytest.fixture
def app_port() -> Iterator[int]:
    """Where the app runs while a test on a store of the platform does."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()
