"""Deletes deliveries, attempts and events 30 days after they finished (contract, section 5).

Held deliveries can be recovered for 30 days from their creation, and are deleted after that. Waiting ones are kept, no
matter how old they are.

On PostgreSQL, a week of all three tables is dropped at once when it has been over for 30 days. What is still needed from it,
such as a delivery that was resent later, is put back, into the DEFAULT partitions. Rows there, and all rows on SQLite, are
deleted in batches, each a short transaction, so other work never waits long. A run has a limited number of batches and
leaves the rest to the next run. Ids are ordered by time, so the primary key finds old rows without another index.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import OperationalError, connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from common.db import partitions
from common.ids import first_id_at, id_at
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, Event

log = logging.getLogger(__name__)

KEPT: Final = timedelta(days=30)
BATCH: Final = 5000
BATCHES_PER_RUN: Final = 200
_TABLES: Final = (Event, Delivery, Attempt)


def remove_old(*, now: datetime | None = None, batch: int = BATCH, batches: int = BATCHES_PER_RUN) -> int:
    """Drop weeks. Then delete up to `batch` times `batches` deliveries with their attempts, and as many events without
    deliveries.

    Returns the number of deliveries that were deleted one by one.
    """
    cutoff = (now or timezone.now()) - KEPT
    end = id_at(cutoff)
    if partitions.is_split(Delivery):
        _drop_weeks(cutoff)
        # The rows of partitions go with their partition.
        end = min([end, *(first_id_at(each.start) for each in partitions.existing(Delivery)[:1])])
    removed = _in_batches(_remove_deliveries, cutoff, end, batch, batches)
    _in_batches(_remove_events, cutoff, end, batch, batches)
    if removed:
        log.info("%s deliveries older than %s days were removed.", removed, KEPT.days)
    return removed


def removed_before(now: datetime) -> datetime:
    """The moment before which events may have been removed. All later ones are there."""
    weeks = partitions.existing(Event) if partitions.is_split(Event) else []
    return min([now - KEPT, *(each.start for each in weeks[:1])])


# By week


def _drop_weeks(cutoff: datetime) -> None:
    weeks = {(each.start, each.end) for model in _TABLES for each in partitions.existing(model)}
    for start, end in sorted(weeks):
        if end > cutoff:
            break
        try:
            for model in _TABLES:  # one that is missing takes its rows from the DEFAULT partition
                partitions.make(model, start, end)
            _drop_week(start, end, cutoff)
        except OperationalError as error:
            log.warning("The deliveries of the week from %s were not dropped: %s", start.date(), error)
        else:
            log.info("The deliveries of the week from %s were dropped.", start.date())


# What must be kept of a week. The first two read it all, so they come before the locks. Deliveries that have become due
# since then are found by an index.
_FINISHED_LATE: Final = """
CREATE TEMPORARY TABLE kept_ids ON COMMIT DROP AS
SELECT id FROM "{delivery}"
WHERE NOT COALESCE(finished_at < %(cutoff)s OR (status = 'HELD' AND created_at < %(cutoff)s), false);
CREATE TEMPORARY TABLE kept_event_ids ON COMMIT DROP AS
SELECT id FROM "{event}" WHERE occurred_at >= %(cutoff)s;
"""
# All six within half a second, in which others wait for these tables.
_LOCK: Final = """
SET LOCAL lock_timeout = '80ms';
LOCK TABLE ONLY webhooks_event, ONLY webhooks_delivery, ONLY webhooks_attempt, "{event}", "{delivery}", "{attempt}";
"""
# By index.
_SET_ASIDE: Final = """
SET LOCAL lock_timeout = '{lock_timeout}';
SET LOCAL enable_seqscan = off;
INSERT INTO kept_ids
SELECT id FROM "{delivery}" WHERE due_at IS NOT NULL AND lease_until IS NULL
UNION SELECT id FROM "{delivery}" WHERE lease_until IS NOT NULL
EXCEPT SELECT id FROM kept_ids;
CREATE TEMPORARY TABLE kept_delivery ON COMMIT DROP AS
SELECT delivery.* FROM "{delivery}" AS delivery JOIN kept_ids USING (id);
CREATE TEMPORARY TABLE kept_attempt ON COMMIT DROP AS
SELECT attempt.* FROM "{attempt}" AS attempt JOIN kept_ids ON kept_ids.id = attempt.delivery_id;
CREATE TEMPORARY TABLE kept_event ON COMMIT DROP AS
SELECT event.* FROM "{event}" AS event
JOIN (SELECT id FROM kept_event_ids UNION SELECT event_id FROM kept_delivery) AS kept USING (id);
UPDATE webhooks_erasure SET event_id = NULL
WHERE event_id >= %(first)s AND event_id < %(end)s AND event_id NOT IN (SELECT id FROM kept_event);
"""


def _drop_week(start: datetime, end: datetime, cutoff: datetime) -> None:
    names = {
        str(model._meta.model_name): each.table
        for model in _TABLES
        for each in partitions.existing(model)
        if (each.start, each.end) == (start, end)
    }
    values: dict[str, Any] = {"cutoff": cutoff, "first": first_id_at(start), "end": first_id_at(end)}
    with partitions.changing(*_TABLES) as cursor:
        for statements in (_FINISHED_LATE, _LOCK, _SET_ASIDE):
            cursor.execute(statements.format(**names, lock_timeout=partitions.LOCK_TIMEOUT), values)
        cursor.execute("DROP TABLE {}".format(", ".join(f'"{name}"' for name in names.values())))
        for model in _TABLES:
            columns = ", ".join(f'"{each.column}"' for each in model._meta.local_concrete_fields)
            kept = f"kept_{model._meta.model_name}"
            cursor.execute(f'INSERT INTO "{model._meta.db_table}" ({columns}) SELECT {columns} FROM {kept}')  # noqa: S608
        cursor.execute("DROP TABLE kept_ids, kept_event_ids, kept_event, kept_delivery, kept_attempt")


# In batches


def _in_batches(
    remove: Callable[[datetime, UUID, UUID, int], list[UUID]],
    cutoff: datetime,
    end: UUID,
    batch: int,
    batches: int,
) -> int:
    """Continue after the last deleted id, so that rows that are kept are read only once."""
    removed, last = 0, UUID(int=0)
    for _ in range(batches):
        ids = remove(cutoff, last, end, batch)
        removed += len(ids)
        if len(ids) < batch:
            break
        last = ids[-1]
    return removed


@transaction.atomic
def _remove_deliveries(cutoff: datetime, after: UUID, end: UUID, limit: int) -> list[UUID]:
    """A delivery that is being resent at this moment is locked or no longer finished, so it is skipped."""
    skip = connection.features.has_select_for_update_skip_locked
    over = Q(finished_at__lt=cutoff) | Q(status=DeliveryStatus.HELD, created_at__lt=cutoff)
    old = Delivery.objects.filter(over, id__gt=after, id__lt=end)
    locked = old.order_by("id").select_for_update(skip_locked=skip)
    ids = list(locked.values_list("id", flat=True)[:limit])
    Attempt.objects.filter(delivery__in=ids).delete()
    Delivery.objects.filter(id__in=ids).only("id").delete()
    return ids


@transaction.atomic
def _remove_events(cutoff: datetime, after: UUID, end: UUID, limit: int) -> list[UUID]:
    """Safe without a lock: all deliveries of an event are created together with it."""
    old = Event.objects.filter(id__gt=after, id__lt=end, occurred_at__lt=cutoff)
    unneeded = old.exclude(Exists(Delivery.objects.filter(event=OuterRef("id")))).order_by("id")
    ids = list(unneeded.values_list("id", flat=True)[:limit])
    Event.objects.filter(id__in=ids).only("id").delete()
    return ids
