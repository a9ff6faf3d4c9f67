"""What the sample app has behind it: a release before the one that runs, and stores that came and went."""

from datetime import datetime, timedelta
from typing import Final

from accounts.models import Business, User
from config.demo.history.installations import made_installation, write_installations
from config.demo.history.story import INSTALLED, releases
from config.demo.people import REVIEWER, merchants_shop
from extensions.models import ApprovedManifest
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from marketplace.enums import ReviewKind, SubmissionStatus
from marketplace.models import FROZEN_FIELDS, App, AppVersion, ReviewEntry, Submission

FIRST_VERSION: Final = "0.9.0"
# The stores of `stores.STORES` by number: days before now of the install, and of the uninstall where one followed.
COME_AND_GONE: Final = ((0, 26, 8), (1, 24, 20), (2, 18, 3))
STAYING: Final = ((1, 15), (2, 2), (3, 22), (4, 10), (5, 6))


def move_back(*, app: App, stores: list[Business], now: datetime) -> Installation:
    """Date its release and its installation on the bakery, and write what was before. Returns that installation."""
    current = app.approved_version
    assert current is not None
    first, second = releases(now)
    AppVersion.objects.filter(pk=current.pk).update(number=2, approved_at=second)
    Submission.objects.filter(app=app).update(submitted_at=second - timedelta(hours=9), decided_at=second)
    App.objects.filter(pk=app.pk).update(created_at=first - timedelta(days=6))
    release = _first_release(app, first)
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


def _first_release(app: App, at: datetime) -> AppVersion:
    """The version of before, with what the current one has frozen."""
    frozen = {name: getattr(app.approved_version, name) for name in FROZEN_FIELDS}
    version = AppVersion.objects.create(
        app=app, number=1, approved_at=at, followed_at=at, developer_name=app.developer.name,
        **(frozen | {"version": FIRST_VERSION}),
    )  # fmt: skip
    document = ApprovedManifest.objects.get(version=app.approved_version).document
    ApprovedManifest.objects.create(version=version, document=document)
    reviewer = User.objects.get(email=REVIEWER)
    submission = Submission.objects.create(
        app=app, status=SubmissionStatus.APPROVED, version=FIRST_VERSION, developer_name=app.developer.name,
        submitted_at=at - timedelta(hours=21), reviewer=reviewer, decided_at=at, approved_version=version,
        added_scopes=version.scopes, how_to_test="Install it, place an order in the shop, and see it ring.",
    )  # fmt: skip
    ReviewEntry.objects.bulk_create(
        ReviewEntry(app=app, submission=submission, kind=kind, actor=actor, at=moment)
        for kind, actor, moment in (
            (ReviewKind.SUBMITTED, app.developer, submission.submitted_at),
            (ReviewKind.APPROVED, reviewer, at),
        )
    )
    return version


def _come_and_go(app: App, version: AppVersion, stores: list[Business], now: datetime) -> None:
    """Installations of other stores. They never had a token, and no endpoint: nothing happens in these stores."""
    visits = [
        *(_visit(app, version, stores[number], now, came, went) for number, came, went in COME_AND_GONE),
        *(_visit(app, version, stores[number], now, came) for number, came in STAYING),
    ]
    write_installations(visits)


def _visit(
    app: App, version: AppVersion, store: Business, now: datetime, came: int, went: int | None = None
) -> Installation:
    installed_at = now - timedelta(days=came, hours=came % 7)
    return made_installation(
        app,
        store,
        installed_at,
        version if went else app.approved_version,
        None if went is None else now - timedelta(days=went),
    )
