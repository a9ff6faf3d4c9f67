"""The app as the tests call it."""

import os
from typing import Any

import django
import pytest

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
django.setup()

from django.conf import settings  # noqa: E402
from django.test import Client  # noqa: E402

settings.ALLOWED_HOSTS = ["testserver"]


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
