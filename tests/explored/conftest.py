"""The scene that is searched, and the budget of the search."""

import logging
from collections.abc import Iterator

import pytest

from accounts.models import Business, User
from marketplace.models import App
from tests import factories
from tests.explored.explorer import Explorer
from tests.explored.scenes import Scene


def pytest_addoption(parser: pytest.Parser) -> None:
    """Known where this folder is named on the command line, as `make explore` does."""
    parser.addoption("--schedules", type=int, default=None, help="of each search; some for `make coverage`")
    parser.addoption("--seed", type=int, default=1, help="of the schedules made at random")
    parser.addoption("--bound", type=int, default=1, help="unusual things at most, depth first")
    parser.addoption("--schedule", default=None, help="run this one, and nothing else")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if given := config.getoption("schedule", None):
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
