"""The app as the tests call it."""

import socket
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest
import uvicorn
from app import app
from fastapi.testclient import TestClient


@pytest.fixture
def send() -> Any:
    def post(path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        response = TestClient(app).post(path, content=body, headers=headers)
        return response.status_code, response.json()

    return post


@pytest.fixture
def get() -> Any:
    def read(path: str) -> tuple[int, Any]:
        response = TestClient(app).get(path)
        return response.status_code, dict(response.headers)

    return read


@pytest.fixture
def app_port() -> Iterator[int]:
    """Where the app runs while a test on a store of the platform does."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join()
