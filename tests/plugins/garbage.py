"""Keeps Python's garbage collector from looking at what the whole run needs: imported modules and collected tests."""

import gc

import pytest

from common.observability import garbage


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _no_regular_collections() -> None:
    """A test that loads `config.wsgi` starts them for the rest of the run; each stops all threads for a second."""
    garbage.EVERY = 86_400.0  # type: ignore[misc]
