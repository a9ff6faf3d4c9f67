"""What an installation's history keeps."""

from datetime import UTC, datetime, timedelta

from accounts.models import Business, User
from installations import services
from installations.enums import HistoryKind
from installations.models import HistoryEntry
from marketplace.models import App
from marketplace.services.apps import update_app
from tests import factories

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_history_tells_install_new_terms_and_uninstall(app: App, dana: User) -> None:
    installation = services.test_install(app=app, developer=dana, now=NOW).installation
    services.test_install(app=app, developer=dana, now=NOW + HOUR)
    services.test_uninstall(app=app, developer=dana, now=NOW + 2 * HOUR)
    assert list(installation.history.order_by("at").values_list("kind", "at")) == [
        (HistoryKind.INSTALLED, NOW),
        (HistoryKind.TERMS_CHANGED, NOW + HOUR),
        (HistoryKind.UNINSTALLED, NOW + 2 * HOUR),
    ]


def test_history_keeps_the_scopes_that_a_save_gave_the_own_test_install(
    app: App, dana: User, sam: User
) -> None:
    own = services.test_install(app=app, developer=dana, now=NOW).installation
    services.test_install(app=factories.app(dana), developer=dana, now=NOW)
    version = factories.approve(app)
    App.objects.update(status="DRAFT")
    factories.installation(app, Business.objects.sandbox_of(sam), runs=version)
    update_app(app=app, changes={"name": "Other name"}, now=NOW)
    update_app(app=app, changes={"scopes": ["read_orders"]}, now=NOW + HOUR)
    entry = HistoryEntry.objects.get(kind=HistoryKind.SCOPES_FOLLOWED)
    assert (entry.installation, entry.at, entry.scopes) == (own, NOW + HOUR, ["read_orders"])


def test_history_of_the_next_installation_begins_anew(app: App, dana: User) -> None:
    services.test_install(app=app, developer=dana, now=NOW)
    services.test_uninstall(app=app, developer=dana, now=NOW + HOUR)
    again = services.test_install(app=app, developer=dana, now=NOW + 2 * HOUR).installation
    assert [entry.kind for entry in HistoryEntry.objects.filter(installation=again)] == ["INSTALLED"]
