"""A merchant's pages."""

import pytest
from django.test import Client

from accounts.models import User
from tests.pages import signed_in


@pytest.fixture
def browser(mira: User) -> Client:
    return signed_in(mira)
