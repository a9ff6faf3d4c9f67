"""Removing deliveries, attempts and events that are over for 30 days (docs/contract.md, 5).

What is held has no end of its own: it is kept for 30 days from its creation, and can be recovered that long.

In batches of a short transaction each, so that nobody waits for it, and so many per run at most: what is left is
for the next. Ids are ordered by time, so the primary key leads to the old rows, and no index is kept for this.
What still waits to be sent stays however old it is.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from common.ids import id_at
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, Event

log = logging.getLogger(__name__)

KEPT: Final = timedelta(days=30)
BATCH: Final = 5000
BATCHES_PER_RUN: Final = 200


def remove_old(*, now: datetime | None = None, batch: int = BATCH, batches: int = BATCHES_PER_RUN) -> int:
    """Remove up to `batch` times `batches` deliveries with their attempts, then as many events that no delivery
    needs any more. Returns the number of deliveries."""
    cutoff = (now or timezone.now()) - KEPT
    removed = _in_batches(_remove_deliveries, cutoff, batch, batches)
    _in_batches(_remove_events, cutoff, batch, batches)
    if removed:
        log.info("%s deliveries older than %s days were removed.", removed, KEPT.days)
    return removed


def _in_batches(
    remove: Callable[[datetime, UUID, int], list[UUID]], cutoff: datetime, batch: int, batches: int
) -> int:
    """Go on behind the last id that was removed, so that what stays is looked at once."""
    removed, last = 0, UUID(int=0)
    for _ in range(batches):
        ids = remove(cutoff, last, batch)
        removed += len(ids)
        if len(ids) < batch:
            break
        last = ids[-1]
    return removed


@transaction.atomic
def _remove_deliveries(cutoff: datetime, after: UUID, limit: int) -> list[UUID]:
    """One that is being sent again at this moment is locked, or is not over any more; it is skipped."""
    skip = connection.features.has_select_for_update_skip_locked
    over = Q(finished_at__lt=cutoff) | Q(status=DeliveryStatus.HELD, created_at__lt=cutoff)
    old = Delivery.objects.filter(over, id__gt=after, id__lt=id_at(cutoff))
    locked = old.order_by("id").select_for_update(skip_locked=skip)
    ids = list(locked.values_list("id", flat=True)[:limit])
    Attempt.objects.filter(delivery__in=ids).delete()
    Delivery.objects.filter(id__in=ids).only("id").delete()
    return ids


@transaction.atomic
def _remove_events(cutoff: datetime, after: UUID, limit: int) -> list[UUID]:
    """An event gets its deliveries as it is written, and none later."""
    old = Event.objects.filter(id__gt=after, id__lt=id_at(cutoff), occurred_at__lt=cutoff)
    unneeded = old.exclude(Exists(Delivery.objects.filter(event=OuterRef("id")))).order_by("id")
    ids = list(unneeded.values_list("id", flat=True)[:limit])
    Event.objects.filter(id__in=ids).only("id").delete()
    return ids
