"""The scene that is searched, and the budget of the search."""

import logging
from collections.abc import Iterator

import pytest

from accounts.models import Business, User
from marketplace.models import App
from tests import factories
from tests.explored.explorer import Explorer
from tests.explored.scenes import Scene


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if given := config.getoption("schedule"):
        items[:] = [
            item
            for item in items
            if getattr(item, "callspec", None) and item.callspec.params.get("known") == given
        ]


@pytest.fixture
def explorer(transactional_db: None, app: App, shop: Business, mira: User) -> Iterator[Explorer]:
    """Dana's app on Mira's store."""
    factories.approve(app)
    logging.disable(logging.CRITICAL)  # a lost session is a warning each time
    with Explorer(Scene(app, shop, mira)) as exploring:
        yield exploring
    logging.disable(logging.NOTSET)
