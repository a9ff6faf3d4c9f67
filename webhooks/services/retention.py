"""Removing deliveries, attempts and events that are over for 30 days (docs/contract.md, 5).

In batches of a short transaction each, so that nobody waits for it, and so many per run at most: what is left is
for the next. Ids are ordered by time, so the primary key leads to the old rows, and no index is kept for this.
What is not over, a held delivery included, stays however old it is.
"""

import logging
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from common.ids import id_at
from webhooks.models import Attempt, Delivery, Event

log = logging.getLogger(__name__)

KEPT: Final = timedelta(days=30)
BATCH: Final = 5000
BATCHES_PER_RUN: Final = 200


def remove_old(*, now: datetime | None = None, batch: int = BATCH, batches: int = BATCHES_PER_RUN) -> int:
    """Remove up to `batch` times `batches` deliveries with all that is theirs. Returns how many."""
    cutoff = (now or timezone.now()) - KEPT
    removed, last = 0, None
    for _ in range(batches):
        last, count = _remove_batch(cutoff, after=last, limit=batch)
        removed += count
        if last is None:
            break
    if removed:
        log.info("%s deliveries older than %s days were removed.", removed, KEPT.days)
    return removed


@transaction.atomic
def _remove_batch(cutoff: datetime, *, after: UUID | None, limit: int) -> tuple[UUID | None, int]:
    """Remove the next old deliveries behind `after`: the last one's id, None at the end, and how many."""
    old = Delivery.objects.filter(id__lt=id_at(cutoff), finished_at__lt=cutoff)
    if after:
        old = old.filter(id__gt=after)
    # One that is being sent again just now is locked or no longer over; it is skipped.
    skip = connection.features.has_select_for_update_skip_locked
    rows = list(old.order_by("id").select_for_update(skip_locked=skip).values_list("id", "event_id")[:limit])
    if not rows:
        return None, 0
    ids = [delivery_id for delivery_id, _ in rows]
    Attempt.objects.filter(delivery__in=ids).delete()
    Delivery.objects.filter(id__in=ids).only("id").delete()
    _remove_unneeded({event_id for _, event_id in rows})
    return ids[-1], len(ids)


def _remove_unneeded(event_ids: set[UUID]) -> None:
    """Remove those of the events that no delivery needs any more.

    Locked, so that of two runs that take an event's last two deliveries away, the later one sees that.
    """
    events = Event.objects.filter(id__in=event_ids)
    list(events.order_by("id").select_for_update().values_list("id"))
    events.exclude(Exists(Delivery.objects.filter(event=OuterRef("id")))).only("id").delete()
