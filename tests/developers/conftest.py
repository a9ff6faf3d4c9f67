"""Fixtures: clients of the developer API and of the admin, reviewers, and an app."""

import pytest
from django.test import Client

from accounts.models import User
from accounts.services import create_reviewer
from marketplace.models import App
from tests import factories
from tests.clients import Api, api_of
from tests.developers.review.reviewing import client_of
from tests.pages import signed_in


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
def browser(dana: User) -> Client:
    return signed_in(dana)


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
