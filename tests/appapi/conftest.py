"""Apps as they call: with a token in the header, over HTTP."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Business, User
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.clients import client_of


@pytest.fixture
def api(installation: Installation) -> Client:
    """Dana's app on her sandbox, with every scope."""
    return client_of(installation)


@pytest.fixture
def anonymous() -> Client:
    return Client()


@pytest.fixture
def api_with(dana: User, sandbox: Business) -> Callable[..., Client]:
    """Another app of Dana's on her sandbox, with the scopes that are named."""

    def make(*scopes: str) -> Client:
        return client_of(factories.installation(factories.app(dana, scopes=list(scopes)), sandbox))

    return make


@pytest.fixture
def elsewhere(sam: User) -> Installation:
    """Sam's app on Sam's sandbox: the other tenant."""
    return factories.installation(factories.app(sam), Business.objects.sandbox_of(sam))


@pytest.fixture
def second_app(dana: User) -> App:
    return factories.app(dana)


@pytest.fixture
def statements(installation: Installation) -> Callable[[], CaptureQueriesContext]:
    """Counts the SQL of a call by an app that has been seen within the minute."""
    Installation.objects.filter(pk=installation.pk).update(last_used_at=timezone.now())
    return lambda: CaptureQueriesContext(connection)
