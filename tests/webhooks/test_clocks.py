"""The clocks of the machines that deliver and of the database."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from webhooks import clocks

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def test_clocks_that_agree_are_no_news(caplog: pytest.LogCaptureFixture) -> None:
    ahead = clocks.compare()
    assert ahead is not None
    assert abs(ahead) < clocks.TOLERATED
    assert not caplog.records


@pytest.mark.parametrize("minutes", [-10, 10])
def test_clocks_that_differ_are_reported(minutes: int, caplog: pytest.LogCaptureFixture) -> None:
    with time_machine.travel(timezone.now() + timedelta(minutes=minutes)):
        ahead = clocks.compare()
    assert ahead is not None
    assert abs(ahead + timedelta(minutes=minutes)) < clocks.TOLERATED
    assert "differ by" in caplog.text
