"""Fixtures: clients of the developer API and of the admin, reviewers, and an app."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from accounts.services import create_reviewer
from accounts.sign_in import tokens
from marketplace.models import App
from tests import documented, factories
from tests.developers.review.reviewing import client_of

Api = Callable[..., Any]


def api_of(user: User) -> Api:
    """`api("post", "/developer/apps", {...})`: JSON as this person, the response with its `json()`, which must fit
    the OpenAPI document."""
    client = Client(headers={"authorization": f"Bearer {tokens.issue(user).access}"})

    def call(method: str, path: str, body: Any = None, **options: Any) -> Any:
        if body is not None:
            options |= {"data": body, "content_type": "application/json"}
        response = getattr(client, method)(path, **options)
        documented.validate(method, path, response)
        return response

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


@pytest.fixture
def rae(db: None) -> User:
    return create_reviewer(email="rae@example.com", name="Rae Ito")


@pytest.fixture
def otto(db: None) -> User:
    return create_reviewer(email="otto@example.com", name="Otto Weiss")


@pytest.fixture
def admin(rae: User) -> Client:
    """The admin as Rae sees it."""
    return client_of(rae)


@pytest.fixture
def stars(dana: User) -> App:
    return factories.app(
        dana, name="Loyalty Stars", slug="stars", scopes=["read_products", "read_orders"], version="1.4.0"
    )
