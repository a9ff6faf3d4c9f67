"""Moves a release through its states (contract, section 10). No other code changes a `Release`, or which versions stores run.

    approval --STEPS--> ROLLING 1, 5, 25% --advance--> COMPLETE
       |                  |        ^                       ^  |
       |                halt    resume                     |  |
       |                  v        |                       |  |
       |                 HALTED ---+---back--> TAKEN_BACK <---+
       +--ALL, first, or no store to reach-----------------+

Each function locks the app's row first. In the same transaction it writes which versions run (`App.approved_version` is the one
that is listed and newly installed), so all readers change with its commit. Installations follow in batches
(`installations.services.approval`).
"""

from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from common.errors import Conflict, NotFound
from marketplace.access import require_role
from marketplace.enums import ReleaseMode, ReleaseState, ReviewKind, SubmissionStatus
from marketplace.models import STEPS, App, AppVersion, Release, ReviewEntry
from marketplace.queries import release_of, scope_changes
from marketplace.services.locks import lock_app, require_not_suspended
from marketplace.signals import figures_to_keep, release_moved, stores_to_reach

REASON_LENGTH: Final = 500  # at most; the doors check it
ACTIONS: Final = {
    ReleaseState.ROLLING: ("advance", "halt", "back"),
    ReleaseState.HALTED: ("resume", "back"),
    ReleaseState.COMPLETE: ("back",),
    ReleaseState.TAKEN_BACK: (),
}


def actions_of(app: App, release: Release) -> tuple[str, ...]:
    """What can be done with a release now."""
    found = ACTIONS[ReleaseState(release.state)]
    if app.suspended_at is not None:
        found = tuple(each for each in found if each == "back")
    can_go_back = release.earlier_id is not None and app.newest_version == release.version
    return found if can_go_back else ()  # only a complete release can have no way back


def begin(*, app: App, version: AppVersion, earlier: AppVersion | None, mode: str, now: datetime) -> Release:
    """Begin the release of a version that was approved just now. The app is the locked row, and the version its approved one.

    In steps, that of a suspended app begins halted.
    """
    release = Release(
        version=version, earlier=earlier, mode=mode, started_at=now, step_at=now, watched_from=now
    )
    places = _places(version) if mode == ReleaseMode.STEPS else []  # none before the first version
    if places:
        release.state, release.percent = ReleaseState.ROLLING, STEPS[0]
        _widen(release, places)
        app.rolling_version, app.earlier_version = version, earlier
        app.save(update_fields=["rolling_version", "earlier_version"])
    else:
        release.ended_at = now
    release.save(force_insert=True)
    if places and app.suspended_at is not None:
        _halt(app, release, None, "The app is suspended.", now)
    return release


@transaction.atomic
def advance(
    *, app: App, by: User | None = None, step: int | None = None, now: datetime | None = None
) -> Release:
    """Go on to the next step; after the last one the release is complete.

    `by` is empty for the platform itself. It names the `step` that ended, so that two processes don't end it twice. Raises
    `Conflict` in another state, and while the app is suspended.
    """
    locked, release = _locked(app, by, "advance")
    now = now or timezone.now()
    if step is not None and release.percent != step:
        return release
    release.percent = STEPS[STEPS.index(release.percent) + 1]
    if release.percent == STEPS[-1]:
        release.state, release.ended_at = ReleaseState.COMPLETE, now
        _close(locked)
    _begin_step(release, now)
    _record(release, ReviewKind.ADVANCED, by, now, f"{release.percent}% of the stores")
    release_moved.send(App, app=locked, release=release, now=now)
    return release


@transaction.atomic
def halt(
    *,
    app: App,
    by: User | None = None,
    reason: str = "",
    watched_from: datetime | None = None,
    now: datetime | None = None,
) -> Release:
    """No store comes in and none goes back; new installs and the listing have the version before.

    `by` is empty for the platform itself, which judged calls since `watched_from`: if the release was resumed meanwhile, nothing
    happens. Without a `reason`, `by` is named. Raises `Conflict` in another state.
    """
    reason = reason.strip()
    locked, release = _locked(app, by, "halt")
    if watched_from not in (None, release.watched_from):
        return release
    _halt(locked, release, by, reason, now or timezone.now())
    return release


def halt_suspended(*, app: App, reviewer: User, now: datetime) -> None:
    """For `reviews.suspend`, with the row locked: a suspension halts a release that rolls."""
    release = release_of(app)
    if release is not None and release.state == ReleaseState.ROLLING:
        _halt(app, release, reviewer, "A reviewer suspended the app.", now)


@transaction.atomic
def resume(*, app: App, by: User, now: datetime | None = None) -> Release:
    """Begin the step again, and judge the version by its calls from now on. Raises `Conflict` in another state, and while the app is
    suspended.
    """
    locked, release = _locked(app, by, "resume")
    now = now or timezone.now()
    release.state, release.reason, release.watched_from = ReleaseState.ROLLING, "", now
    locked.approved_version = release.version
    locked.save(update_fields=["approved_version"])
    _begin_step(release, now)
    _record(release, ReviewKind.RESUMED, by, now, f"{release.percent}% of the stores")
    release_moved.send(App, app=locked, release=release, now=now)
    return release


@transaction.atomic
def take_back(*, app: App, by: User, reason: str = "", now: datetime | None = None) -> Release:
    """Every store runs the version before, without a review. The working copy stays.

    Raises `Conflict` in another state, if no version came before, and if the newest version isn't the one that runs.
    """
    reason = reason.strip()
    figures = _figures(release_of(app))
    locked, release = _locked(app, by, "back")
    earlier = release.earlier
    if earlier is None:
        raise Conflict(
            "No version came before this one, so it can't be taken back.", code="no_earlier_version"
        )
    if locked.newest_version != release.version:
        raise Conflict(
            "Another version was restored since. This one doesn't run.", code="version_not_running"
        )
    now = now or timezone.now()
    release.state, release.ended_at = ReleaseState.TAKEN_BACK, now
    release.reason = reason or f"Taken back by {by.name}."
    release.final_health = release.final_health or figures
    release.save()
    _close(locked)
    locked.approved_version, locked.taken_back_at = earlier, now
    locked.save(update_fields=["approved_version", "taken_back_at"])
    AppVersion.objects.filter(pk=release.version_id, followed_at=None).update(followed_at=now)
    earlier.followed_at = None
    earlier.save(update_fields=["followed_at"])
    in_review = locked.submissions.filter(status=SubmissionStatus.PENDING_REVIEW)
    in_review.update(checks_due_at=now, **scope_changes(locked))
    _record(release, ReviewKind.TAKEN_BACK, by, now, release.reason)
    release_moved.send(App, app=locked, release=release, now=now)
    return release


@transaction.atomic
def keep_figures(*, release: Release) -> None:
    """Keep the figures of a complete release, so that later calls neither change them nor make them slow to read."""
    figures = _figures(release)
    lock_app(release.version.app)
    still = Release.objects.filter(pk=release.pk, ended_at=release.ended_at, final_health__isnull=True)
    still.update(final_health=figures)


def restored(*, version: AppVersion, now: datetime) -> None:
    """For `versions.restore`, with the app's row locked: a version that was taken back is released once more, to all stores at once."""
    taken_back = Release.objects.filter(version=version, state=ReleaseState.TAKEN_BACK)
    taken_back.update(
        state=ReleaseState.COMPLETE, percent=STEPS[-1], reason="", final_health=None,
        started_at=now, step_at=now, ended_at=now,
    )  # fmt: skip


def require_closed(app: App) -> None:
    """Raise `Conflict` while a release is rolling or halted. The app is the locked row."""
    if app.rolling_version_id is not None:
        raise Conflict(
            "The last version is still being released. Wait until its release is complete, or take it back.",
            code="release_open",
        )


def _locked(app: App, by: User | None, action: str) -> tuple[App, Release]:
    locked = lock_app(app)
    if by is not None:
        require_role(locked, by)
    release = release_of(locked)
    if release is None:
        raise NotFound("The app has no approved version yet")
    if action not in ACTIONS[ReleaseState(release.state)]:
        state = release.get_state_display().lower()
        raise Conflict(f"The release is {state}, so it can't {_VERBS[action]}.", code="release_state")
    if action in ("advance", "resume"):
        require_not_suspended(
            locked, "The app is suspended. Its release can go on when a reviewer lifts that."
        )
    return locked, release


_VERBS: Final = {
    "advance": "go on to the next step",
    "halt": "be halted",
    "resume": "be resumed",
    "back": "be taken back",
}


def _halt(app: App, release: Release, by: User | None, reason: str, now: datetime) -> None:
    release.state = ReleaseState.HALTED
    release.reason = reason or (f"Halted by {by.name}." if by else "")
    release.save()
    app.approved_version = release.earlier
    app.save(update_fields=["approved_version"])
    _record(release, ReviewKind.HALTED, by, now, release.reason)
    release_moved.send(App, app=app, release=release, now=now)


def _close(app: App) -> None:
    app.rolling_version = app.earlier_version = None
    app.save(update_fields=["rolling_version", "earlier_version"])


def _begin_step(release: Release, now: datetime) -> None:
    """The stores of the step are found by the worker that follows approvals, as often as that takes."""
    release.step_at = now
    if release.state == ReleaseState.ROLLING:  # all have the version of a complete one
        _widen(release, _places(release.version))
    release.save()
    AppVersion.objects.filter(pk=release.version_id).update(followed_at=None)


def _figures(release: Release | None) -> Any:
    """Read before the app is locked, since that may take seconds. None if they are kept already."""
    if release is None or release.final_health is not None:
        return None
    answers: list[tuple[Any, Any]] = figures_to_keep.send(AppVersion, release=release)
    return next((figures for _, figures in answers), None)


def _places(version: AppVersion) -> list[int]:
    answers: list[tuple[Any, Any]] = stores_to_reach.send(AppVersion, version=version)
    return sorted(place for _, found in answers for place in found)


def _widen(release: Release, places: list[int]) -> None:
    """As many of the places, lowest first, as the step has per cent, and at least one."""
    if not places:
        return
    number = max(1, round(len(places) * release.percent / 100))
    release.bound = max(places[number - 1], release.bound or 0)


def _record(release: Release, kind: ReviewKind, by: User | None, now: datetime, note: str) -> None:
    ReviewEntry.objects.create(
        app_id=release.version.app_id,
        kind=kind,
        actor=by,
        at=now,
        note=f"Version {release.version.version}: {note}",
    )
