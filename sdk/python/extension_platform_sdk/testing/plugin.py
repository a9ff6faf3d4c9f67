"""The fixtures, for pytest, which finds them by the entry point ``pytest11``."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from .platform import TestPlatform
from .stores import TestStore

NEEDED = ("EXTENSION_PLATFORM_URL", "EXTENSION_PLATFORM_TOKEN")


@pytest.fixture(scope="session")
def platform() -> Iterator[TestPlatform]:
    """The platform of ``EXTENSION_PLATFORM_URL`` and ``EXTENSION_PLATFORM_TOKEN``. Without them the test is skipped."""
    if not all(os.environ.get(name) for name in NEEDED):
        pytest.skip(f"Set {' and '.join(NEEDED)} to test on a store of the platform.")
    with TestPlatform.from_environment() as found:
        yield found


@pytest.fixture
def app_port() -> int:
    """Where your app listens on this machine: ``PORT``, else 3000. Override it where your tests start the app."""
    return int(os.environ.get("PORT") or 3000)


@pytest.fixture
def store(platform: TestPlatform, app_port: int) -> Iterator[TestStore]:
    """A store with your app installed. Its events reach the app's port. It is deleted after the test."""
    with platform.open_store(port=app_port) as opened:
        yield opened
