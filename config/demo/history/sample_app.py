"""What the sample app has behind it: a release before the one that runs, and stores that came and went."""

from datetime import datetime, timedelta
from typing import Final

from accounts.models import Business
from config.demo.history.apps import approve
from config.demo.history.installations import made_installation, write_installations
from config.demo.history.story import INSTALLED, releases
from config.demo.people import merchants_shop
from extensions.models import ApprovedManifest
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from marketplace.models import App, AppVersion, Submission

FIRST_VERSION: Final = "0.9.0"
# The stores of `stores.STORES` by number: days before now of the install, and of the uninstall where one followed.
COME_AND_GONE: Final = ((0, 26, 8), (1, 24, 20), (2, 18, 3))
STAYING: Final = ((1, 15, 0), (2, 2, 0), (3, 22, 0), (4, 10, 0), (5, 6, 0))


def move_back(*, app: App, stores: list[Business], now: datetime) -> Installation:
    """Date its release and its installation on the bakery, and write what was before. Returns that installation."""
    current = app.approved_version
    assert current is not None
    first, second = releases(now)
    AppVersion.objects.filter(pk=current.pk).update(number=2, approved_at=second)
    Submission.objects.filter(app=app).update(submitted_at=second - timedelta(hours=9), decided_at=second)
    App.objects.filter(pk=app.pk).update(created_at=first - timedelta(days=6))
    release = approve(
        app=app, number=1, at=first, waited=timedelta(hours=21), version=FIRST_VERSION,
        how_to_test="Install it, place an order in the shop, and see it ring.",
    )  # fmt: skip
    ApprovedManifest.objects.create(
        version=release, document=ApprovedManifest.objects.get(version=current).document
    )
    installation = Installation.objects.active().get(app=app, business=merchants_shop())
    installed_at = now - INSTALLED
    Installation.objects.filter(pk=installation.pk).update(
        installed_at=installed_at, consented_at=installed_at
    )
    HistoryEntry.objects.filter(installation=installation).update(at=installed_at)
    HistoryEntry.objects.create(
        installation=installation, kind=HistoryKind.AGREED, at=second + timedelta(hours=2),
        actor=installation.installed_by, scopes=installation.granted_scopes, note="",
    )  # fmt: skip
    _come_and_go(app, release, stores, now)
    installation.refresh_from_db()
    return installation


def _come_and_go(app: App, version: AppVersion, stores: list[Business], now: datetime) -> None:
    """Installations of other stores. They never had a token, and no endpoint: nothing happens in these stores."""
    write_installations(
        [
            made_installation(
                app, stores[number], now - timedelta(days=came, hours=came % 7),
                version if went else app.approved_version, now - timedelta(days=went) if went else None,
            )
            for number, came, went in (*COME_AND_GONE, *STAYING)
        ]
    )  # fmt: skip
