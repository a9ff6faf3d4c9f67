"""Which scopes a token has had, in the past too: for whom an app must be asked to erase what it may have read."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from uuid import UUID

from installations.enums import CHANGES_ACCESS
from installations.models import HistoryEntry, Installation
from marketplace.models import AppVersion

_FOREVER = datetime.max.replace(tzinfo=UTC)
# From when on, until when, and what was granted or approved.
Period = tuple[datetime, datetime, frozenset[str]]


def scopes_since(installations: Sequence[Installation], since: datetime) -> dict[UUID, set[str]]:
    """The scopes that each installation's token had at any time from `since` on. Two statements.

    They are read by `Installation.objects.with_app()`. A pause or a suspension doesn't count: it ends, and then the token reads
    all that there is.
    """
    granted = _granted(installations)
    approved = _approved({each.app_id for each in installations})
    found = {}
    for each in installations:
        had = _overlap(granted[each.pk], None if each.runs_working_copy else approved[each.app_id], since)
        found[each.pk] = had | (set(each.effective_scopes) if each.is_active else set())
    return found


def _granted(installations: Sequence[Installation]) -> dict[UUID, list[Period]]:
    entries = HistoryEntry.objects.filter(
        installation__in=[each.pk for each in installations], kind__in=CHANGES_ACCESS
    )
    by_id: dict[UUID, list[tuple[datetime, list[str]]]] = defaultdict(list)
    for pk, at, scopes in entries.order_by("at", "id").values_list("installation_id", "at", "scopes"):
        by_id[pk].append((at, scopes))
    periods = {}
    for each in installations:
        changes = by_id[each.pk] or [(each.installed_at, each.granted_scopes)]
        periods[each.pk] = _periods(changes, each.uninstalled_at or _FOREVER)
    return periods


def _approved(apps: Iterable[UUID]) -> dict[UUID, list[Period]]:
    """By each app's versions. One that was put back counts as well, since `effective_scopes` are those of now."""
    rows = AppVersion.objects.filter(app__in=apps).order_by("approved_at", "id")
    by_app: dict[UUID, list[tuple[datetime, list[str]]]] = defaultdict(list)
    for app, at, scopes in rows.values_list("app_id", "approved_at", "scopes"):
        by_app[app].append((at, scopes))
    return defaultdict(list, {app: _periods(changes, _FOREVER) for app, changes in by_app.items()})


def _periods(changes: Sequence[tuple[datetime, list[str]]], end: datetime) -> list[Period]:
    starts = [*changes, (end, [])]
    return [(at, until, frozenset(scopes)) for (at, scopes), (until, _) in pairwise(starts)]


def _overlap(granted: Iterable[Period], approved: Sequence[Period] | None, since: datetime) -> set[str]:
    """`approved` is None for one that follows the working copy, where only the grant is known."""
    had: set[str] = set()
    for begin, end, scopes in granted:
        begin = max(begin, since)
        if begin > end:
            continue
        if approved is None:
            had |= scopes
        else:
            had.update(*(scopes & other for start, stop, other in approved if start < end and stop > begin))
    return had
