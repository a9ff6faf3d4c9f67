"""Deleting hook calls older than 30 days.

In batches, each a short statement, and a limited number per run; the next run continues.
"""

from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from extensions.models import HookCall

KEPT: Final = timedelta(days=30)
BATCH: Final = 5000
BATCHES_PER_RUN: Final = 200


def remove_old(*, now: datetime | None = None, batch: int = BATCH, batches: int = BATCHES_PER_RUN) -> int:
    """Returns the number of deleted calls."""
    old = HookCall.objects.filter(called_at__lt=(now or timezone.now()) - KEPT).order_by("called_at")
    removed = 0
    for _ in range(batches):
        ids = list(old.values_list("pk", flat=True)[:batch])
        HookCall.objects.filter(pk__in=ids).delete()
        removed += len(ids)
        if len(ids) < batch:
            break
    return removed
