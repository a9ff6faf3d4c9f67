"""The clocks of the machines that deliver and of the database."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from webhooks.engine import clocks
from webhooks.engine.clocks import DatabaseClock, database_ahead

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

CLOSE = timedelta(seconds=1)


@pytest.fixture
def _agreeing_clocks() -> None:
    """These tests do ask the database."""


def test_clocks_that_agree_are_no_news(caplog: pytest.LogCaptureFixture) -> None:
    clock = DatabaseClock()
    clock.compare()
    assert abs(database_ahead()) < clocks.TOLERATED
    assert abs(clock.now() - timezone.now()) < timedelta(milliseconds=10)
    assert not caplog.records


@pytest.mark.parametrize("minutes", [-10, 10])
def test_wrong_clock_is_reported_and_the_database_s_is_kept(
    minutes: int, caplog: pytest.LogCaptureFixture
) -> None:
    clock, right = DatabaseClock(), timezone.now()
    with time_machine.travel(right + timedelta(minutes=minutes)):
        assert abs(clock.now() - right - timedelta(minutes=minutes)) < CLOSE
        clock.compare()
        assert abs(clock.now() - right) < CLOSE
    assert "differ by 600" in caplog.text or "differ by 599" in caplog.text
    clock.compare()
    assert abs(clock.now() - timezone.now()) < timedelta(milliseconds=10)
