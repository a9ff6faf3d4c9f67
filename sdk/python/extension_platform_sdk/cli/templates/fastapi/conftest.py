"""The app as the tests call it."""

from typing import Any

import pytest
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
