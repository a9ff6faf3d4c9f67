"""How long authorization codes are kept."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.models import Business, User
from installations.models import Grant, Installation
from installations.services import uninstall
from installations.services.authorization import remove_old_grants
from installations.tasks import remove_old_grants as task
from marketplace.models import App
from tests import factories
from tests.installations.oauth_client import call, code_for, exchange

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def codes() -> set[str]:
    return set(Grant.objects.values_list("code", flat=True))


def test_unused_code_is_kept_for_a_day_after_it_expired(listed: App, mira: User, shop: Business) -> None:
    with time_machine.travel(NOW, tick=False):
        code = code_for(mira, listed)
    expired = NOW + timedelta(seconds=60)
    assert remove_old_grants(now=expired + timedelta(hours=24)) == 0
    assert codes() == {code}
    assert remove_old_grants(now=expired + timedelta(hours=24, seconds=1)) == 1
    assert not codes()


@pytest.mark.long
def test_used_code_is_kept_as_long_as_its_token(listed: App, mira: User, shop: Business) -> None:
    """Tokens of other stores don't count, whenever they were issued."""
    other = factories.merchant("max@example.com")
    with time_machine.travel(NOW, tick=False) as clock:
        first = code_for(mira, listed)
        exchange(listed, first)
        clock.shift(30)
        exchange(listed, code_for(other, listed))
        second = code_for(mira, listed)
        token = exchange(listed, second).json()["access_token"]
        uninstall(installation=Installation.objects.get(business__owner=other))
        clock.shift(timedelta(days=90))
        task()
        assert codes() == {second}
        assert call(token).status_code == 200
        exchange(listed, second)  # a second use
        assert call(token).status_code == 401
        task()
        assert not codes()


@pytest.mark.long
def test_removal_goes_on_after_a_batch(listed: App, mira: User, shop: Business) -> None:
    with time_machine.travel(NOW, tick=False):
        for _ in range(5):
            code_for(mira, listed)
    assert remove_old_grants(now=NOW + timedelta(days=2), batch=2) == 5
    assert not codes()
