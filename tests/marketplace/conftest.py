"""Two reviewers, and a submission of Dana's app."""

from datetime import UTC, datetime

import pytest

from accounts.models import User
from marketplace.models import App, Submission
from marketplace.services import reviews
from tests import factories


@pytest.fixture
def rita(db: None) -> User:
    return factories.reviewer(name="Rita")


@pytest.fixture
def otto(db: None) -> User:
    return factories.reviewer("otto@example.com", name="Otto")


@pytest.fixture
def submission(app: App, dana: User) -> Submission:
    return reviews.submit(app=app, developer=dana, now=datetime(2026, 11, 20, 12, tzinfo=UTC))
