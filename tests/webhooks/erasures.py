"""An uninstall at a known moment, and the data erasure that follows from it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from installations.models import Installation

T0 = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DUE = T0 + timedelta(hours=48)
SECOND = timedelta(seconds=1)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(T0, tick=False) as traveller:
        yield traveller


def kinds(installation: Installation) -> list[str]:
    return list(installation.history.order_by("at", "id").values_list("kind", flat=True))
