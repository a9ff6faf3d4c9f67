"""Deletes events, their deliveries and attempts 30 days after the event, whatever has become of them (contract, section 5).

Whole weeks go: on PostgreSQL by dropping their partitions, which are the same for all three. Rows outside of these, and all
rows on SQLite, are deleted in batches, each a short statement, and a limited number per run; the next run continues.
"""

from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from common.db import partitions
from common.ids import first_id_at
from webhooks.models import Attempt, Delivery, Erasure, Event

KEPT: Final = timedelta(days=30)


def remove_old(*, now: datetime | None = None) -> None:
    cutoff = (now or timezone.now()) - KEPT
    # No database constraint leads into a partition.
    removed = Erasure.objects.filter(event__lt=first_id_at(Event.partitions.start(cutoff)))
    removed.update(event=None)
    for model in (Attempt, Delivery, Event):
        partitions.remove_before(model, cutoff)


def removed_before(now: datetime) -> datetime:
    """The moment before which events may have been removed. All later ones are there."""
    weeks = partitions.existing(Event) if partitions.is_split(Event) else []
    return min([now - KEPT, *(each.start for each in weeks[:1])])
