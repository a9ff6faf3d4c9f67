"""Removes grants that are no longer needed.

A grant is kept for a day after it expired. A used one is kept as long as its token lives, because a replay of its code
ends that token.
"""

from datetime import datetime, timedelta
from typing import Final

from django.db.models import Exists, OuterRef
from django.utils import timezone

from installations.models import Grant, Installation

KEPT: Final = timedelta(days=1)
BATCH: Final = 1000


def remove_old_grants(*, now: datetime | None = None, batch: int = BATCH) -> int:
    """Remove them in batches, each with its own statement. Returns their number."""
    expired = Grant.objects.filter(expires__lt=(now or timezone.now()) - KEPT)
    alive = Installation.objects.filter(pk=OuterRef("installation")).exclude(token_digest=None)
    needed = Exists(alive.filter(token_issued_at=OuterRef("used_at")))
    unneeded = list(expired.exclude(needed).values_list("pk", flat=True))
    for start in range(0, len(unneeded), batch):
        Grant.objects.filter(pk__in=unneeded[start : start + batch]).delete()
    return len(unneeded)
