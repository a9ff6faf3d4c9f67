"""What an approval does to the installations of its app (contract section 9, "Apps").

A test install becomes a production install with the approved scopes. A production install that lacks scopes asks its
merchant for them. Scopes that are no longer approved are removed from the granted ones, so that a later approval can't
bring them back without asking. Stores that are asked for nothing more count as agreed to the new version, to keep versions in
use few; so what a version dropped is asked for again when a later one brings it back.

Installations are updated in batches, in the order of their ids, each batch in a short transaction. The rows say what is
left to do, so nothing is done twice if a worker dies or two run at once. Locks are taken in the order version,
app, installation. The first makes a worker skip a version that another is working on; the second makes the next
approval wait for the end of a batch.
"""

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from installations.enums import HistoryKind
from installations.models import Installation
from installations.queries import Offers
from installations.services import history
from installations.signals import approval_begun, approval_followed, versions_that_ask
from marketplace.models import App, AppVersion
from marketplace.scopes import in_order

log = logging.getLogger(__name__)

BATCH: Final = 500
FIRST: Final = UUID(int=0)  # before all ids
# The merchant has not yet got a mail about the request, nor declined it.
NOT_ASKED_YET: Final = {"reconsent_declined_at": None, "reconsent_notified_at": None}


def follow_all(*, now: datetime | None = None) -> None:
    """Update installations after every approval that is not followed yet, oldest first.

    What can't wait comes first, for all of them. An error in one doesn't stop the others. A version that a newer one
    has replaced is skipped and counts as followed.
    """
    unfollowed = AppVersion.objects.filter(followed_at=None)
    current = list(unfollowed.filter(pk=F("app__approved_version")).order_by("approved_at"))
    for step, version in product((begin, follow), current):
        try:
            step(version=version, now=now)
        except Exception:
            log.exception("Installations could not follow %s; it will be tried again.", version)
    overtaken = unfollowed.filter(app__approved_version__followed_at__isnull=False)
    overtaken.update(followed_at=now or timezone.now())


def begin(*, version: AppVersion, now: datetime | None = None) -> None:
    """Apply the parts of an approval that can't wait for the batches."""
    approval_begun.send(App, app=version.app, now=now or timezone.now())


def follow(*, version: AppVersion, now: datetime | None = None, batch: int = BATCH) -> None:
    """Update all active installations of the app after an approval.

    Does nothing if that is done already, if another worker does it, or if there is a newer approval.
    """
    last: UUID | None = FIRST
    while last is not None:
        last = _follow_batch(version, last, now or timezone.now(), batch)


@transaction.atomic
def _follow_batch(version: AppVersion, after: UUID, now: datetime, limit: int) -> UUID | None:
    """Update the installations with the next higher ids. Returns the last id; None if nothing is left."""
    app = _lock_app(version, wait=after != FIRST)
    if app is None:
        return None
    rows = _lock_installations(app, after, limit)
    # Even if clocks differ, the history must not say that the merchant was asked before the approval.
    now = max(now, version.approved_at)
    _write(_changes(rows, app), now)
    approval_followed.send(App, app=app, installations=rows, now=now)
    if len(rows) == limit:
        return rows[-1].pk
    AppVersion.objects.filter(pk=version.pk).update(followed_at=now)
    return None


def _lock_app(version: AppVersion, *, wait: bool) -> App | None:
    """The app as it is now, or None if there is nothing to follow or another worker does it.

    With `wait`, for later batches, it waits for the other worker: otherwise two workers could stop each other forever.
    """
    unfollowed = AppVersion.objects.filter(pk=version.pk, followed_at=None)
    if unfollowed.select_for_update(no_key=True, skip_locked=not wait).first() is None:
        return None
    apps = App.objects.select_related("approved_version").select_for_update(of=("self",), no_key=True)
    app = apps.get(pk=version.app_id)
    return app if app.approved_version_id == version.pk else None


def _lock_installations(app: App, after: UUID, limit: int) -> list[Installation]:
    """Read like `with_app()`, but without the secrets, each of which would have to be decrypted.

    Installs of reviewers and checks are left out: they stay test installs of the working copy until they end.
    """
    rows = Installation.objects.active().filter(app=app, is_review=False, id__gt=after).order_by("id")
    rows = rows.select_related("business").defer("webhook_secret")
    locked = list(rows.select_for_update(of=("self",), no_key=True)[:limit])
    for row in locked:
        row.app = app
    return locked


# The change of each installation


@dataclass(frozen=True, slots=True)
class _Change:
    installation: Installation
    values: dict[str, Any]
    entries: Sequence[tuple[HistoryKind, str]] = ()  # of the history: kind and note

    @property
    def changes_nothing(self) -> bool:
        return all(getattr(self.installation, name) == value for name, value in self.values.items())


def _changes(rows: Sequence[Installation], app: App) -> list[_Change]:
    """One statement for any number of rows, and what the receivers of `versions_that_ask` take."""
    offers = Offers(app)
    answers: list[tuple[Any, Any]] = versions_that_ask.send(App, app=app)
    asking = {version for _, found in answers for version in found}
    found = [_convert(row) if row.is_test else _adapt(row, offers) for row in rows]
    for change in found:
        version = change.installation.version
        if version and change.installation.agreed_version_id not in (None, *asking):
            change.values["agreed_version_id"] = version.pk
    return [change for change in found if not change.changes_nothing]


def _convert(row: Installation) -> _Change:
    """Make it a production install, unless its terms were agreed to after the approval."""
    version = row.version
    assert version is not None
    if max(row.installed_at, row.consented_at) > version.approved_at:
        return _Change(row, {})
    values = {
        "is_test": False,
        "granted_scopes": in_order(version.scopes),
        "narrowed_scopes": None,
        "needs_reconsent": False,
        **NOT_ASKED_YET,
    }
    return _Change(row, values, [(HistoryKind.CONVERTED, "")])


def _adapt(row: Installation, offers: Offers) -> _Change:
    """Ask for the scopes that it lacks and that were not left out on purpose; stop asking if there are none."""
    granted = set(row.approved_scopes) & set(row.granted_scopes)
    removed = set(row.granted_scopes) - granted
    lacking = offers.lacked_by(row)
    unasked = lacking - _asked_before(row, lacking, offers)
    values: dict[str, Any] = {"granted_scopes": in_order(granted), "needs_reconsent": bool(lacking)}
    if unasked or not lacking:
        values |= NOT_ASKED_YET
    happened = ((HistoryKind.SCOPES_REMOVED, removed), (HistoryKind.NEEDS_RECONSENT, unasked))
    return _Change(row, values, [(kind, ", ".join(in_order(scopes))) for kind, scopes in happened if scopes])


def _asked_before(row: Installation, lacking: set[str], offers: Offers) -> set[str]:
    """The scopes that its merchant was mailed about or answered. While a mail is due, that is all: it will name all."""
    if not row.needs_reconsent:
        return set()
    times = [at for at in (row.reconsent_notified_at, row.reconsent_declined_at) if at]
    return offers.at(max(times)) if times else lacking


def _write(changes: Sequence[_Change], now: datetime) -> None:
    """One statement for each group of equal changes, and one for the history of all."""
    alike: dict[str, list[_Change]] = defaultdict(list)
    for change in changes:
        alike[repr(change.values)].append(change)
        for name, value in change.values.items():
            setattr(change.installation, name, value)
    for group in alike.values():
        ids = [change.installation.pk for change in group]
        Installation.objects.filter(pk__in=ids).update(**group[0].values)
    happened = ((change.installation, kind, note) for change in changes for kind, note in change.entries)
    history.record_all(happened, at=now)
