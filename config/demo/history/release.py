"""A release in steps, with a little worse figures than the version before it."""

from datetime import UTC, datetime, timedelta
from math import sin
from typing import Any, Final

from marketplace.enums import ReleaseMode
from marketplace.models import App, Release

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
