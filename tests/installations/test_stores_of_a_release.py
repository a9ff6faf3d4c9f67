"""Which stores a release in steps counts."""

from datetime import UTC, datetime, timedelta

from accounts.models import Business, User
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from installations.queries import stores_at
from marketplace.models import App
from tests import factories

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
BEFORE, AFTER = NOW - timedelta(hours=1), NOW + timedelta(hours=1)


def with_entry(app: App, kind: HistoryKind, at: datetime) -> Installation:
    made = factories.installation(app, factories.business(app.developer), installed_at=BEFORE)
    HistoryEntry.objects.create(installation=made, kind=kind, at=at)
    return made


def test_release_counts_the_stores_that_had_the_app_at_its_approval(
    app: App, mira: User, shop: Business, sandbox: Business
) -> None:
    version = factories.approve(app, approved_at=NOW)
    counted = {
        factories.installation(app, shop, installed_at=BEFORE),
        factories.installation(app, factories.business(mira), installed_at=NOW),
        with_entry(app, HistoryKind.CONVERTED, BEFORE),
        with_entry(app, HistoryKind.TERMS_CHANGED, NOW),
    }
    with_entry(app, HistoryKind.CONVERTED, NOW)
    factories.installation(app, factories.business(mira), installed_at=AFTER)
    factories.installation(factories.app(app.developer), factories.business(mira), installed_at=BEFORE)
    factories.installation(app, sandbox, installed_at=BEFORE, is_test=False)
    for fields in ({"is_test": True}, {"is_review": True}, {"uninstalled_at": NOW}):
        factories.installation(app, factories.business(mira), installed_at=BEFORE, **fields)
    assert set(stores_at(version)) == counted
