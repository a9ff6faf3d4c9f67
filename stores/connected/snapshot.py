"""Compares what a shop has with what is here, and repairs what it deleted (contract, section 17)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import ConnectedStore
from common.times import iso
from stores.connected.mirror import locked
from stores.connected.rows import PushedRow, Result, take
from stores.connected.wanted import WantedRows
from stores.enums import Resource
from stores.models import MirroredRow

MOST_ROWS: Final = 5_000
MOST_UNKNOWN: Final = 5_000  # named, and deleted, by one call; the next one goes on


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All rows that the shop has of a resource from `after` on, without it, up to and with `until`: their versions by id.

    Rows that were received after `taken_at` aren't missed there.
    """

    resource: Resource
    after: str | None
    until: str | None
    versions: Mapping[str, int]
    taken_at: datetime | None
    deletes: bool


@dataclass(frozen=True, slots=True)
class Differences:
    """Ids, each list by code points. `deleted` is how many of the unknown ones were deleted."""

    missing: list[str]
    outdated: list[str]
    ahead: list[str]
    unknown: list[str]
    deleted: int


def compare(
    *, store: ConnectedStore, snapshot: Snapshot, wanted: WantedRows, now: datetime | None = None
) -> Differences:
    """Raises `NotFound` for a store that is ending."""
    now, sent = now or timezone.now(), snapshot.versions
    kept: dict[str, tuple[int | None, bool, datetime | None]] = {}
    unknown: dict[str, int] = {}
    rows = _within(store, snapshot).order_by("external_id")
    columns = ("external_id", "version", "is_deleted", "placed_at", "received_at")
    for external_id, version, is_deleted, placed_at, received_at in rows.values_list(*columns).iterator(
        MOST_ROWS
    ):
        if external_id in sent:
            kept[external_id] = version, is_deleted, placed_at
            continue
        came_later = snapshot.taken_at and received_at and received_at > snapshot.taken_at
        if version is not None and not is_deleted and not came_later and len(unknown) < MOST_UNKNOWN:
            unknown[external_id] = version
    missing, outdated, ahead = [], [], []
    for external_id, version in sent.items():
        ours, is_deleted, placed_at = kept.get(external_id, (None, False, None))
        if ours is not None and (ours > version or (is_deleted and ours == version)):
            ahead.append(external_id)
        elif ours is None or is_deleted:
            if _is_missed(snapshot.resource, placed_at, wanted):
                missing.append(external_id)
        elif ours < version:
            outdated.append(external_id)
    deleted = _delete(store, snapshot, unknown, wanted, now) if snapshot.deletes else 0
    found = Differences(missing, outdated, ahead, list(unknown), deleted)
    _note(store, snapshot.resource, found, now)
    return found


def _within(store: ConnectedStore, snapshot: Snapshot) -> QuerySet[MirroredRow]:
    rows = MirroredRow.objects.filter(business=store.pk, resource=snapshot.resource)
    if snapshot.after is not None:
        rows = rows.filter(external_id__gt=snapshot.after)
    return rows if snapshot.until is None else rows.filter(external_id__lte=snapshot.until)


def _is_missed(resource: Resource, placed_at: datetime | None, wanted: WantedRows) -> bool:
    """No row that no app may read, and no order that came before and was too old."""
    if resource == Resource.REVIEWS:
        return wanted.reviews
    if resource != Resource.ORDERS:
        return True
    is_old = placed_at is not None and wanted.orders_since is not None and placed_at < wanted.orders_since
    return wanted.orders and not is_old


def _delete(
    store: ConnectedStore, snapshot: Snapshot, unknown: Mapping[str, int], wanted: WantedRows, now: datetime
) -> int:
    """Under the version that each has. One that came again meanwhile stays."""
    if snapshot.resource == Resource.ORDERS:
        return 0
    gone = [
        PushedRow(
            resource=snapshot.resource,
            external_id=external_id,
            version=version,
            values=None,
            not_since=snapshot.taken_at,
        )
        for external_id, version in unknown.items()
    ]
    outcomes = take(store=store, rows=gone, wanted=wanted, now=now)
    return sum(each.result == Result.DELETED for each in outcomes)


@transaction.atomic
def _note(store: ConnectedStore, resource: Resource, found: Differences, now: datetime) -> None:
    """For the operator."""
    state = locked(store)
    figures: dict[str, Any] = {
        "at": iso(now),
        "missing": len(found.missing),
        "outdated": len(found.outdated),
        "ahead": len(found.ahead),
        "unknown": len(found.unknown),
        "deleted": found.deleted,
    }
    state.last_snapshot_at, state.snapshots = now, state.snapshots | {resource.value: figures}
    state.save(update_fields=["last_snapshot_at", "snapshots"])
