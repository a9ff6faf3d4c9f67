"""Options of `make explore` (docs/faults.md)."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("searches")
    group.addoption("--seed", type=int, default=1, help="of what is made up at random")
    group.addoption("--schedules", type=int, default=None, help="of each search; some for `make coverage`")
    group.addoption("--bound", type=int, default=1, help="unusual things at most, depth first")
    group.addoption("--schedule", default=None, help="run this one, and nothing else")
    group.addoption("--lives", type=int, default=0, help="of an app; some for `make coverage`")
