"""Dana's app has a client secret that the tests know."""

import pytest

from accounts.models import User
from marketplace.models import App
from tests import factories
from tests.installations.oauth_client import SECRET


@pytest.fixture
def app(dana: User) -> App:
    """Dana's app, a draft that asks for every scope."""
    return factories.app(dana, client_secret=SECRET)


@pytest.fixture
def listed(app: App) -> App:
    """The same, in the marketplace."""
    factories.approve(app)
    return app
