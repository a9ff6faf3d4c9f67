"""What an approval does to the installations of its app (contract section 9, "Apps").

A test install becomes a production install with the approved scopes. A production install that lacks scopes asks its
merchant for them. Scopes that are no longer approved are removed from the granted ones, so that a later approval can't
bring them back without asking. Stores that are asked for nothing more count as agreed to the new version, to keep versions in
use few; so what a version dropped is asked for again when a later one brings it back.

The version that a store runs is one column, `Installation.runs`. After an approval for all stores, and after a version was taken back, it is written first,
in large batches that change nothing else. A release in steps (contract, section 10) is followed at each of its steps: the stores of
the step come in. Other stores only lose the scopes that the version removes.

Installations are updated in batches, in the order of their ids, each batch in a short transaction. The rows say what is
left to do, so nothing is done twice if a worker dies or two run at once. Each batch locks the app, which makes the next
approval wait for its end; the version, by which another worker sees that this one is at it; and its installations.
A step that begins between two batches concerns stores that were passed already, so the pass starts over.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Case, QuerySet, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from common.db.rows import for_each
from installations.enums import HistoryKind
from installations.models import Installation, InstallationQuerySet
from installations.queries import Offers
from installations.services import history
from installations.services.lifecycle import follow_version
from installations.signals import approval_begun, approval_followed, versions_that_ask
from marketplace.enums import ReleaseState
from marketplace.models import App, AppVersion, Release
from marketplace.queries import moves_of, release_of
from marketplace.scopes import in_order

BATCH: Final = 500
RUNS_BATCH: Final = 5_000  # where only the version is written
FIRST: Final = UUID(int=0)  # before all ids


def follow_all(*, now: datetime | None = None) -> None:
    """Update installations after every approval that is not followed yet, oldest first.

    Work that can't wait comes first, for all of them. An error in one doesn't stop the others.
    """
    unfollowed = list(AppVersion.objects.filter(followed_at=None).order_by("approved_at"))
    for step in (begin, follow):

        def take(version: AppVersion, step: Any = step) -> None:
            step(version=version, now=now)

        for_each(unfollowed, take, task="follow_approvals")


def begin(*, version: AppVersion, now: datetime | None = None) -> None:
    """Apply the parts of an approval that can't wait for the batches: the version that stores run, and their webhooks."""
    last: UUID | None = FIRST
    while last is not None:
        last = _run_batch(version, last)
    approval_begun.send(App, app=version.app, now=now or timezone.now())


def follow(*, version: AppVersion, now: datetime | None = None, batch: int = BATCH) -> None:
    """Update all active installations of the app after an approval.

    Does nothing if that is done already or another worker does it. A version that a newer one has replaced counts as followed.
    """
    reached: _Reached | None = _Reached() if _is_free(version) else None
    while reached is not None:
        reached = _follow_batch(version, reached, now or timezone.now(), batch)


@transaction.atomic
def _run_batch(version: AppVersion, after: UUID) -> UUID | None:
    """Let stores with the next higher ids run the approved version, or the one before while a release is open, which brings stores in by
    its steps. Returns the last id, None if none is left.

    In one statement what `_go_back` and `_move` do for a single one.
    """
    app = _lock(version)
    if app is None or version.pk not in (app.approved_version_id, app.rolling_version_id):
        return None
    release = release_of(app)
    assert release is not None
    right = _version_outside(app, release)
    behind = _followers(app).filter(id__gt=after)
    behind = behind.exclude(runs__in=[each for each in (right.pk, app.rolling_version_id) if each])
    ids = list(behind.order_by("id").values_list("pk", flat=True)[:RUNS_BATCH])
    returns = When(runs=release.version_id, then=Coalesce("earlier_agreed_version", "agreed_version"))
    agreed = Case(returns, default="agreed_version")
    Installation.objects.filter(pk__in=ids).update(
        runs=right,
        followed_at=_since(right, release),
        agreed_version=agreed,
        earlier_agreed_version=agreed,
    )
    return ids[-1] if len(ids) == RUNS_BATCH else None


def _version_outside(app: App, release: Release) -> AppVersion:
    """What a store runs that no open release has brought in."""
    version = app.approved_version if app.rolling_version_id is None else release.earlier
    assert version is not None, "a release in steps has a version before"
    return version


def _since(version: AppVersion, release: Release) -> datetime:
    """When a store came to it that no worker has reached yet."""
    return version.approved_at if release.ended_at is None else max(version.approved_at, release.step_at)


@dataclass(frozen=True, slots=True)
class _Reached:
    """How far a pass is: the last id, and how often versions had moved when it began."""

    last: UUID = FIRST
    moves: int = -1


@transaction.atomic
def _follow_batch(version: AppVersion, reached: _Reached, now: datetime, limit: int) -> _Reached | None:
    """Update the installations with the next higher ids. Returns how far it is; None if nothing is left."""
    app = _lock(version)
    if app is None:
        return None
    if version.pk in (app.approved_version_id, app.rolling_version_id):
        moves = moves_of(app)
        rows = _lock_installations(app, reached.last if moves == reached.moves else FIRST, limit)
        # Even if clocks differ, the history must not say that the merchant was asked before the approval.
        now = max(now, version.approved_at)
        changes = _changes(rows, app, now)
        _write(changes, now)
        approval_followed.send(
            App, app=app, installations=[change.installation for change in changes], now=now
        )
        if len(rows) == limit:
            return _Reached(rows[-1].pk, moves)
    AppVersion.objects.filter(pk=version.pk).update(followed_at=now)
    return None


@transaction.atomic
def _is_free(version: AppVersion) -> bool:
    """Whether there is something to follow that no other worker is at. Its lock ends here, before the app is locked."""
    return _unfollowed(version).select_for_update(no_key=True, skip_locked=True).first() is not None


def _lock(version: AppVersion) -> App | None:
    """The app as it is now, locked with the version; None if nothing is left to follow."""
    apps = App.objects.select_related("approved_version", "rolling_version")
    app = apps.select_for_update(of=("self",), no_key=True).get(pk=version.app_id)
    left = _unfollowed(version).select_for_update(no_key=True).first()
    return app if left else None


def _unfollowed(version: AppVersion) -> QuerySet[AppVersion]:
    return AppVersion.objects.filter(pk=version.pk, followed_at=None)


def _followers(app: App) -> InstallationQuerySet:
    """Installs of reviewers and checks are left out: they stay test installs of the working copy until they end."""
    return Installation.objects.active().filter(app=app, is_review=False)


def _lock_installations(app: App, after: UUID, limit: int) -> list[Installation]:
    """Read like `with_app()`, but without the secrets, each of which would have to be decrypted."""
    rows = _followers(app).filter(id__gt=after).order_by("id")
    rows = rows.select_related("business", "runs").defer("webhook_secret")
    locked = list(rows.select_for_update(of=("self",), no_key=True)[:limit])
    for row in locked:
        row.app = app
    return locked


# The change of each installation

WRITTEN: Final = (
    "is_test", "granted_scopes", "narrowed_scopes", "left_out_scopes", "lost_scopes", "needs_reconsent", "reconsent_declined_at",
    "reconsent_notified_at", "agreed_version_id", "runs_id", "followed_at", "earlier_agreed_version_id",
)  # fmt: skip

Entries = list[tuple[HistoryKind, str]]  # of the history: kind and note


@dataclass(frozen=True, slots=True)
class _Change:
    """An installation with its new values set; `values` are those that differ."""

    installation: Installation
    values: dict[str, Any]
    entries: Entries


def _changes(rows: Sequence[Installation], app: App, now: datetime) -> list[_Change]:
    """Two statements for any number of rows, and what the receivers of `versions_that_ask` take. An installation that fails is left
    out, and follows with the next approval.
    """
    release, approved = release_of(app), app.approved_version
    assert release is not None
    assert approved is not None, "an approved version is followed"
    approval = _Approval(app, approved, release, Offers(app), _asking(app), now)
    found: list[_Change] = []

    def follow(row: Installation) -> None:
        before = {name: getattr(row, name) for name in WRITTEN}
        entries = approval.follow(row)
        values = {name: getattr(row, name) for name, was in before.items() if getattr(row, name) != was}
        found.append(_Change(row, values, entries))

    for_each(rows, follow, task="follow_approvals")
    return found


def _asking(app: App) -> set[tuple[UUID, bool]]:
    answers: list[tuple[Any, Any]] = versions_that_ask.send(App, app=app)
    return {pair for _, found in answers for pair in found}


@dataclass(frozen=True, slots=True)
class _Approval:
    """What installations follow: the current state of an app and of its newest release."""

    app: App
    approved: AppVersion
    release: Release
    offers: Offers
    asking: set[tuple[UUID, bool]]
    now: datetime

    @property
    def is_open(self) -> bool:
        return self.app.rolling_version_id is not None

    @property
    def newest(self) -> AppVersion:
        return self.app.rolling_version or self.approved

    def follow(self, row: Installation) -> Entries:
        """Set the new values of a locked installation. Returns what its history says about it."""
        entries = self._go_back(row)
        self._move(row)
        is_outside = self.is_open and not row.is_in_release
        if row.is_test and not row.is_in_test_shop:
            entries += self._convert(row)
        elif is_outside:
            entries += self._lose_scopes(row)
        else:
            entries += self._adapt(row)
        is_asked = (row.agreed_version_id, row.is_in_release) in self.asking
        if row.agreed_version_id is not None and not (is_outside or is_asked):
            row.agreed_version_id = row.runs_id
        return entries

    def _go_back(self, row: Installation) -> Entries:
        """After a version was taken back: what the store had agreed to before, scopes included."""
        if self.release.state != ReleaseState.TAKEN_BACK:
            return []
        if row.runs_id == self.release.version_id:
            row.agreed_version_id = row.earlier_agreed_version_id or row.agreed_version_id
        lost = set(row.lost_scopes.get(str(self.release.version_id), ()))
        regained = lost & set(self.approved.scopes) - set(row.granted_scopes)
        if not regained:
            return []
        row.granted_scopes, row.lost_scopes = in_order({*row.granted_scopes, *regained}), {}
        return [(HistoryKind.SCOPES_RETURNED, ", ".join(in_order(regained)))]

    def _move(self, row: Installation) -> None:
        """Let it run the version that it should, if it doesn't yet. While a release is halted, none comes in."""
        if row.runs_id == self.newest.pk:
            return
        right = _version_outside(self.app, self.release)
        if self.is_open and self._is_reached(row):
            follow_version(row, self.approved, self.now)
        elif row.runs_id != right.pk:
            follow_version(row, right, _since(right, self.release))

    def _is_reached(self, row: Installation) -> bool:
        if self.release.state != ReleaseState.ROLLING:
            return False
        return self.release.includes(row.pk) or row.is_own or self._converts(row)

    def _converts(self, row: Installation) -> bool:
        """Whether it is a test install whose terms were not agreed to after the approval."""
        is_convertible = row.is_test and not row.is_in_test_shop
        return is_convertible and max(row.installed_at, row.consented_at) <= self.newest.approved_at

    def _convert(self, row: Installation) -> Entries:
        """Make it a production install, unless its terms were agreed to after the approval."""
        if not self._converts(row):
            return []
        row.is_test, row.granted_scopes, row.narrowed_scopes = False, in_order(self.approved.scopes), None
        row.left_out_scopes, row.needs_reconsent = [], False
        return [(HistoryKind.CONVERTED, "")]

    def _lose_scopes(self, row: Installation) -> Entries:
        """A store that the release hasn't reached only loses the scopes that the version removes, and isn't asked for them any more."""
        version = self.release.version
        if self.release.state == ReleaseState.HALTED and row.consented_at > version.approved_at:
            return []
        removed = set(row.granted_scopes) - set(version.scopes)
        self._take(row, removed)
        row.needs_reconsent = bool(row.asked_scopes)
        return [(HistoryKind.SCOPES_REMOVED, ", ".join(in_order(removed)))] if removed else []

    def _adapt(self, row: Installation) -> Entries:
        """Ask for the scopes that it lacks and that were not left out on purpose; stop asking if there are none."""
        removed = set(row.granted_scopes) - set(row.approved_scopes)
        self._take(row, removed)
        lacking = set(row.asked_scopes)
        unasked = lacking - _asked_before(row, lacking, self.offers)
        row.needs_reconsent = bool(lacking)
        # Its merchant has neither got a mail about such a request nor declined it.
        if unasked or not lacking:
            row.reconsent_declined_at = row.reconsent_notified_at = None
        happened = ((HistoryKind.SCOPES_REMOVED, removed), (HistoryKind.NEEDS_RECONSENT, unasked))
        return [(kind, ", ".join(in_order(scopes))) for kind, scopes in happened if scopes]

    def _take(self, row: Installation, removed: set[str]) -> None:
        """Take granted scopes away, and remember those that the newest version took: they return if that is taken back."""
        row.granted_scopes = in_order(set(row.granted_scopes) - removed)
        if removed:
            version = str(self.release.version_id)
            row.lost_scopes = {version: in_order({*removed, *row.lost_scopes.get(version, ())})}


def _asked_before(row: Installation, lacking: set[str], offers: Offers) -> set[str]:
    """The scopes that its merchant was mailed about or answered. While a mail is due, that is all: it will name all."""
    if not row.needs_reconsent:
        return set()
    times = [at for at in (row.reconsent_notified_at, row.reconsent_declined_at) if at]
    return offers.to(row, max(times)) if times else lacking


def _write(changes: Sequence[_Change], now: datetime) -> None:
    """One statement for each group of equal changes, and one for the history of all."""
    alike: dict[str, list[_Change]] = defaultdict(list)
    for change in changes:
        alike[repr(change.values)].append(change)
    for group in alike.values():
        ids = [change.installation.pk for change in group]
        Installation.objects.filter(pk__in=ids).update(**group[0].values)
    happened = ((change.installation, kind, note) for change in changes for kind, note in change.entries)
    history.record_all(happened, at=now)
