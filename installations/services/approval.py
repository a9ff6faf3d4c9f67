"""What an approval does to the installations of its app (contract section 9, "Apps").

A test install becomes a production install with the approved scopes. A production install that lacks scopes asks
its merchant for them. Scopes that are not approved any more are taken out of what was granted, so that a later
approval can't bring them back without being asked for.

Installations follow in batches, in the order of their ids, with a short transaction for each. What is left to do is
seen from the rows and their history alone, so that a worker that dies on the way, or two at a time, do nothing
twice. Locks are taken in the order version, app, installation: by the first, one worker leaves it to another; the
second keeps the next approval waiting until a batch is written.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from installations.enums import SETTLING, HistoryKind
from installations.models import HistoryEntry, Installation
from installations.queries import Offers
from installations.services import history
from installations.signals import approval_followed
from marketplace.models import App, AppVersion
from marketplace.scopes import in_order

log = logging.getLogger(__name__)

BATCH: Final = 500
FIRST: Final = UUID(int=0)  # before all ids
# The merchant has neither been mailed of what is asked now nor said no to it.
ASKED_ANEW: Final = {"reconsent_declined_at": None, "reconsent_told_at": None}


def follow_all(*, now: datetime | None = None) -> None:
    """Have installations follow every approval that is not followed yet, the oldest first.

    What is wrong with one of them keeps none of the others waiting. An approval that a newer one has overtaken
    is followed with that.
    """
    unfollowed = AppVersion.objects.filter(followed_at=None)
    for version in unfollowed.filter(pk=F("app__approved_version")).order_by("approved_at"):
        try:
            follow(version=version, now=now)
        except Exception:
            log.exception("Installations could not follow %s; it will be tried again.", version)
    overtaken = unfollowed.filter(app__approved_version__followed_at__isnull=False)
    overtaken.update(followed_at=now or timezone.now())


def follow(*, version: AppVersion, now: datetime | None = None, batch: int = BATCH) -> None:
    """Have all active installations of the app follow an approval.

    Changes nothing where they have, where another worker is at it, or where there is a newer approval, which is
    then the one to follow.
    """
    last: UUID | None = FIRST
    while last is not None:
        last = _follow_batch(version, last, now or timezone.now(), batch)


@transaction.atomic
def _follow_batch(version: AppVersion, after: UUID, now: datetime, limit: int) -> UUID | None:
    """The installations with the next higher ids. Returns the last id, None where nothing is left."""
    app = _lock_app(version, wait=after != FIRST)
    if app is None:
        return None
    rows = _lock_installations(app, after, limit)
    # A history must not say that somebody was asked before there was anything to ask for, whatever the clocks say.
    now = max(now, version.approved_at)
    _write(_changes(rows, app), now)
    approval_followed.send(App, app=app, installations=rows, now=now)
    if len(rows) == limit:
        return rows[-1].pk
    AppVersion.objects.filter(pk=version.pk).update(followed_at=now)
    return None


def _lock_app(version: AppVersion, *, wait: bool) -> App | None:
    """The app as it is now, or None where there is nothing to follow or another worker is at it.

    Who has begun waits for one who came in between, and goes on: else the two would begin anew in turns.
    """
    unfollowed = AppVersion.objects.filter(pk=version.pk, followed_at=None)
    if unfollowed.select_for_update(no_key=True, skip_locked=not wait).first() is None:
        return None
    apps = App.objects.select_related("approved_version").select_for_update(of=("self",), no_key=True)
    app = apps.get(pk=version.app_id)
    return app if app.approved_version_id == version.pk else None


def _lock_installations(app: App, after: UUID, limit: int) -> list[Installation]:
    """Read like `with_app()`, apart from the secrets: each would have to be decrypted."""
    rows = Installation.objects.active().filter(app=app, id__gt=after).order_by("id")
    rows = rows.select_related("business").defer("webhook_secret")
    locked = list(rows.select_for_update(of=("self",), no_key=True)[:limit])
    for row in locked:
        row.app = app
    return locked


# What becomes of each


@dataclass(frozen=True, slots=True)
class _Change:
    installation: Installation
    values: dict[str, Any]
    entries: Sequence[tuple[HistoryKind, str]] = ()  # of the history: kind and note


def _changes(rows: Sequence[Installation], app: App) -> list[_Change]:
    """Three statements at most, whatever the number of rows."""
    offers, past = Offers(app), _past(rows)
    found = (_convert(row, past) if row.is_test else _adapt(row, offers, past) for row in rows)
    return [change for change in found if change]


Past = dict[tuple[UUID, str], datetime]


def _past(rows: Iterable[Installation]) -> Past:
    """When each kind of thing happened to each of them for the last time."""
    entries = HistoryEntry.objects.filter(
        installation__in=[row.pk for row in rows], kind__in=(*SETTLING, HistoryKind.NEEDS_RECONSENT)
    )
    newest = entries.order_by().values_list("installation", "kind").annotate(Max("at"))
    return {(installation, kind): at for installation, kind, at in newest}


def _terms_since(row: Installation, past: Past) -> datetime:
    """Since when it has the terms that it has."""
    return max(row.installed_at, *(past.get((row.pk, kind), row.installed_at) for kind in SETTLING))


def _convert(row: Installation, past: Past) -> _Change | None:
    """Unless it was installed for test after the approval."""
    version = row.app.approved_version
    assert version is not None
    if _terms_since(row, past) > version.approved_at:
        return None
    values = {
        "is_test": False,
        "granted_scopes": in_order(version.scopes),
        "narrowed_scopes": None,
        "needs_reconsent": False,
        **ASKED_ANEW,
    }
    return _Change(row, values, [(HistoryKind.CONVERTED, "")])


def _adapt(row: Installation, offers: Offers, past: Past) -> _Change | None:
    """Ask for what it lacks and was not left out by choice; no more where nothing of that is left."""
    granted = set(row.app.approved_scopes) & set(row.granted_scopes)
    removed = set(row.granted_scopes) - granted
    lacking = offers.lacked_by(row)
    asked_at = past.get((row.pk, HistoryKind.NEEDS_RECONSENT)) if row.needs_reconsent else None
    unasked = lacking - offers.at(asked_at) if asked_at else lacking
    values: dict[str, Any] = {"granted_scopes": in_order(granted), "needs_reconsent": bool(lacking)}
    if unasked or not lacking:
        values |= ASKED_ANEW
    is_same = all(getattr(row, name) == value for name, value in values.items())
    if is_same and not unasked:
        return None
    happened = ((HistoryKind.SCOPES_REMOVED, removed), (HistoryKind.NEEDS_RECONSENT, unasked))
    return _Change(row, values, [(kind, ", ".join(in_order(scopes))) for kind, scopes in happened if scopes])


def _write(changes: Sequence[_Change], now: datetime) -> None:
    """One statement for those that change alike, and one for the history of all."""
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
