"""What the sample app has behind it: a release in steps before the version that runs, with a little worse figures than the one before, and
stores that came and went.
"""

from datetime import UTC, datetime, timedelta
from math import sin
from typing import Any, Final

from accounts.models import Business
from config.demo.history.apps import approve, made_installation, write_installations
from config.demo.history.story import INSTALLED, releases
from config.demo.people import merchants_shop
from extensions.models import ApprovedManifest
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from marketplace.enums import ReleaseMode
from marketplace.models import App, AppVersion, Release, Submission

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


# --- A release in steps ------------------------------------------------------------------------------

HOURS: Final = 33
WITHOUT_CALLS: Final = (8, 9)


def release_in_steps(*, app: App) -> None:
    """Of the app's newest version."""
    newest, earlier = app.versions.order_by("-number")
    began = newest.approved_at
    ended = began + timedelta(hours=HOURS)
    Release.objects.create(
        version=newest, earlier=earlier, mode=ReleaseMode.STEPS, started_at=began, step_at=ended - timedelta(hours=9),
        watched_from=began, ended_at=ended, final_health=figures_until(ended),
    )  # fmt: skip


def figures_until(ended: datetime) -> dict[str, Any]:
    """As a release keeps them at its end."""
    hour = ended.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    history = [
        {
            "at": (hour - timedelta(hours=ago)).isoformat(),
            "new": _figures(60, (2, 1, 1, 0)[ago // 3 % 4], 220 + round(40 * sin(ago / 3))),
            "old": _figures(200, (3, 2, 0)[ago // 4 % 3], 190 + round(25 * sin(ago / 4))),
        }
        for ago in range(HOURS)
        if ago not in WITHOUT_CALLS
    ]
    return {
        "new": _figures(2040, 34, 258),
        "old": _figures(6800, 57, 214),
        "unit": "hour",
        "history": history,
    }


def _figures(calls: int, failed: int, p95: int) -> dict[str, Any]:
    return {"calls": calls, "failed": failed, "failureRate": failed / calls, "p95Ms": p95}
