"""Whether an app runs in a store: `running` and `usable` in SQL say the same as the properties."""

from datetime import UTC, datetime
from itertools import product

import pytest

from accounts.models import Business, User
from installations.models import Installation
from tests import factories

NOW = datetime(2026, 11, 20, 15, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def test_running_and_usable_agree_with_their_properties(dana: User, shop: Business) -> None:
    for ended, paused, suspended, deleted in product((None, NOW), repeat=4):
        app = factories.app(dana, suspended_at=suspended, deleted_at=deleted)
        factories.installation(app, shop, uninstalled_at=ended, paused_at=paused)
    rows = list(Installation.objects.with_app())
    assert len(rows) == 16
    running = set(Installation.objects.running())
    assert running == {each for each in rows if each.is_running}
    assert [
        (each.uninstalled_at, each.paused_at, each.app.suspended_at, each.app.deleted_at) for each in running
    ] == [(None, None, None, None)]
    usable = set(Installation.objects.usable())
    assert usable == {each for each in rows if each.is_usable}
    assert {each.paused_at for each in usable} == {None, NOW}
    assert len(usable) == 2
