"""Deletes deliveries, attempts and events 30 days after they finished (contract, section 5).

Held deliveries can be recovered for 30 days from their creation, and are deleted after that. Waiting ones are kept, no
matter how old they are.

Each batch is a short transaction, so other work never waits long. A run has a limited number of batches and leaves the
rest to the next run. Ids are ordered by time, so the primary key finds old rows without another index.
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
    """Delete up to `batch` times `batches` deliveries with their attempts, then as many events without deliveries.

    Returns the number of deliveries.
    """
    cutoff = (now or timezone.now()) - KEPT
    removed = _in_batches(_remove_deliveries, cutoff, batch, batches)
    _in_batches(_remove_events, cutoff, batch, batches)
    if removed:
        log.info("%s deliveries older than %s days were removed.", removed, KEPT.days)
    return removed


def _in_batches(
    remove: Callable[[datetime, UUID, int], list[UUID]], cutoff: datetime, batch: int, batches: int
) -> int:
    """Continue after the last deleted id, so that rows that are kept are read only once."""
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
    """A delivery that is being resent at this moment is locked or no longer finished, so it is skipped."""
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
    """Safe without a lock: all deliveries of an event are created together with it."""
    old = Event.objects.filter(id__gt=after, id__lt=id_at(cutoff), occurred_at__lt=cutoff)
    unneeded = old.exclude(Exists(Delivery.objects.filter(event=OuterRef("id")))).order_by("id")
    ids = list(unneeded.values_list("id", flat=True)[:limit])
    Event.objects.filter(id__in=ids).only("id").delete()
    return ids
