"""The processes of a test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.processes import Processes


@pytest.fixture
def processes(transactional_db: None, tmp_path: Path, without: str | None) -> Iterator[Processes]:
    """What the test starts, without the protection that this run is to do without."""
    started = Processes(tmp_path, FAULT_WITHOUT=without or "")
    yield started
    started.end()
