"""Looks at releases that roll: halts those that are worse, and goes on with those that are not (contract, section 10)."""

import logging
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.enums import MailKind
from accounts.services.outbox import post_each
from common.db.rows import for_each
from common.errors import Conflict
from common.mails.letters import MailDraft
from extensions.models import CountedCalls
from extensions.releases.health import (
    SETTLED,
    WATCHED,
    as_json,
    count_settled,
    health_of,
    stores_of,
    worst_store,
)
from extensions.releases.sequential import LEAST_CALLS, why_worse
from marketplace.access import people_to_notify
from marketplace.enums import ReleaseState
from marketplace.models import App, Release
from marketplace.services import releases

TEMPLATE: Final = "extensions/mail/halted.txt"
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
    for rows, work in (
        (rolling.select_related("version__app").order_by("step_at"), partial(_look_at, now=now)),
        (_to_count(now), _count_calls),
        (_to_keep(now), _keep_figures),
    ):
        for_each(rows, partial(_unless_moved, work), task="watch_releases")


def _unless_moved(work: Callable[[Release], object], release: Release) -> None:
    try:
        work(release)
    except Conflict:
        log.info("%s has moved meanwhile.", release)


def _count_calls(release: Release) -> None:
    count_settled(release, release.started_at)


def _keep_figures(release: Release) -> None:
    releases.keep_figures(release=release)


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
    }


def _look_at(release: Release, now: datetime) -> None:
    for since in {release.started_at, release.watched_from}:
        count_settled(release, since)
    health = health_of(release, release.watched_from)
    app = release.version.app
    if reason := why_worse(health.new, health.old, partial(worst_store, release, release.watched_from)):
        with transaction.atomic():
            halted = releases.halt(app=app, reason=reason, watched_from=release.watched_from, now=now)
            if halted.state == ReleaseState.HALTED:
                mail_halt(halted)
        return
    over = now - step_ends_at(release)
    if over >= LONGEST_WAIT or (over >= timedelta() and health.new.number >= LEAST_CALLS):
        releases.advance(app=app, step=release.percent, now=now)


# Mails developers that a release has halted by itself.


def mail_halt(release: Release) -> None:
    """For the transaction of the halt. The portal shows the same."""
    version = release.version
    subject = halt_subject(version.name, version.version)
    context = halt_context(version.name, version.version, version.app.slug, release.percent, release.reason)
    post_each(people_to_notify(version.app), MailDraft(subject, TEMPLATE, context), kind=MailKind.RELEASES)


def halt_subject(name: str, version: str) -> str:
    return f"{name} {version}: the release has halted"


def halt_context(name: str, version: str, slug: str, percent: int, reason: str) -> dict[str, Any]:
    page = f"{settings.BASE_URL}/portal/apps/{slug}/release/"
    return {"app_name": name, "version": version, "percent": percent, "reason": reason, "page": page}
