"""Callers of the developer API: a Django test client that sends somebody's JWT."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts import tokens
from accounts.models import User

Api = Callable[..., Any]


def api_of(user: User) -> Api:
    """`api("post", "/developer/apps", {...})`: JSON as this person, the answer with its `json()`."""
    client = Client(headers={"authorization": f"Bearer {tokens.issue(user).access}"})

    def call(method: str, path: str, body: Any = None, **options: Any) -> Any:
        if body is not None:
            options |= {"data": body, "content_type": "application/json"}
        return getattr(client, method)(path, **options)

    return call


@pytest.fixture
def api(dana: User) -> Api:
    return api_of(dana)


@pytest.fixture
def sams_api(sam: User) -> Api:
    return api_of(sam)


@pytest.fixture
def miras_api(mira: User) -> Api:
    return api_of(mira)
