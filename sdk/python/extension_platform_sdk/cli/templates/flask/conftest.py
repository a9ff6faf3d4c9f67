"""The app as the tests call it."""

from typing import Any

import pytest
from app import app


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
