"""Looks at releases that roll: halts those that are worse, and goes on with those that are not (contract, section 10)."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from common.errors import Conflict
from common.processes.background import enqueue_after_commit
from extensions.hooks import shadow
from extensions.models import CountedCalls
from extensions.releases.calls import as_json
from extensions.releases.health import SETTLED, WATCHED, count_settled, health_of, stores_of
from extensions.releases.sequential import LEAST_CALLS, why_worse
from marketplace.enums import ReleaseState
from marketplace.models import App, Release
from marketplace.services import releases

log = logging.getLogger(__name__)

KEPT_AT_ONCE: Final = 20
COUNTED_AT_ONCE: Final = 20
RECOUNTED_EVERY: Final = timedelta(hours=1)  # of those that don't roll
LONGEST_WAIT: Final = timedelta(days=7)  # for enough calls


def look(*, now: datetime | None = None) -> None:
    """An error with one release doesn't stop the others."""
    now = now or timezone.now()
    rolling = Release.objects.filter(
        state=ReleaseState.ROLLING, version__app__suspended_at=None, version__app__deleted_at=None
    )
    for release in rolling.select_related("version__app").order_by("step_at"):
        with _alone("%s could not be judged; it will be tried again.", release):
            _look_at(release, now)
    for release in _to_count(now):
        with _alone("The calls of %s could not be counted; it will be tried again.", release):
            count_settled(release, release.started_at)
    for release in _to_keep(now):
        with _alone("The figures of %s could not be kept; it will be tried again.", release):
            releases.keep_figures(release=release)


@contextmanager
def _alone(failed: str, release: Release) -> Iterator[None]:
    try:
        yield
    except Conflict:
        log.info("%s has moved meanwhile.", release)
    except Exception:
        log.exception(failed, release)


def _to_count(now: datetime) -> QuerySet[Release]:
    """Those that don't roll, and whose calls still count: while they are halted, and for a week after they came to all stores at once."""
    unfinished = Release.objects.filter(final_health__isnull=True, version__app__deleted_at=None)
    at_once = Q(state=ReleaseState.COMPLETE, ended_at=F("started_at"), started_at__gt=now - WATCHED)
    counted = CountedCalls.objects.filter(
        release=OuterRef("pk"), since=OuterRef("started_at"), until__gt=now - SETTLED - RECOUNTED_EVERY
    )
    waits = unfinished.filter(
        Q(state=ReleaseState.HALTED) | at_once, ~Exists(counted), started_at__lt=now - SETTLED
    )
    return waits.select_related("version__app").order_by("started_at")[:COUNTED_AT_ONCE]


def _to_keep(now: datetime) -> QuerySet[Release]:
    """Complete releases whose calls count no more. No page shows those of versions that don't run."""
    runs = Release.objects.filter(version=F("version__app__approved_version"), version__app__deleted_at=None)
    over = Q(ended_at__gt=F("started_at")) | Q(started_at__lte=now - WATCHED)
    kept = runs.filter(over, state=ReleaseState.COMPLETE, final_health__isnull=True)
    return kept.select_related("version__app").order_by("started_at")[:KEPT_AT_ONCE]


def step_ends_at(release: Release) -> datetime:
    """When the step's time is over."""
    return release.step_at + timedelta(seconds=settings.RELEASE_STEP_SECONDS)


def next_step_at(release: Release, calls: int, now: datetime) -> datetime | None:
    """When the step will end by itself; None while it waits for calls, and where no step is under way."""
    if release.state != ReleaseState.ROLLING:
        return None
    ends = step_ends_at(release)
    return ends if now < ends or calls >= LEAST_CALLS else None


def shown(app: App, release: Release, now: datetime, figures: dict[str, Any] | None = None) -> dict[str, Any]:
    """What people and programs read about a release, with its `figures` if they are read already. At most nine statements."""
    version, state = release.version, release.state
    health = figures or release.final_health or as_json(health_of(release, release.started_at))
    calls = health["new"]["calls"]
    if state == ReleaseState.ROLLING and release.watched_from != release.started_at:
        calls = health_of(release, release.watched_from).new.number
    return {
        "number": version.number,
        "version": version.version,
        "mode": release.mode,
        "state": state,
        "percent": release.percent,
        "stores": asdict(stores_of(app, release)),
        "started_at": release.started_at,
        "next_step_at": next_step_at(release, calls, now),
        "ended_at": release.ended_at,
        "reason": release.reason,
        "health": health,
        "shadow": shadow.figures_of(release),
    }


def _look_at(release: Release, now: datetime) -> None:
    for since in {release.started_at, release.watched_from}:
        count_settled(release, since)
    health = health_of(release, release.watched_from)
    app = release.version.app
    if reason := why_worse(health.new, health.old):
        halted = releases.halt(app=app, reason=reason, watched_from=release.watched_from, now=now)
        if halted.state == ReleaseState.HALTED:
            enqueue_after_commit("extensions.tasks.mail_halt", str(halted.pk), run_here=True)
        return
    over = now - step_ends_at(release)
    if over >= LONGEST_WAIT or (over >= timedelta() and health.new.number >= LEAST_CALLS):
        releases.advance(app=app, step=release.percent, now=now)
