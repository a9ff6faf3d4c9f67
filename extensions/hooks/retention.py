"""Deleting hook calls, and those in the shadow, older than 30 days.

Whole days go, by dropping their partitions. On SQLite rows are deleted in batches, each a short statement, and a limited
number per run; the next run continues.
"""

from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from common.db import partitions
from extensions.models import HookCall, ShadowCall

KEPT: Final = timedelta(days=30)


def remove_old(*, now: datetime | None = None) -> None:
    before = (now or timezone.now()) - KEPT
    partitions.remove_before(HookCall, before)
    partitions.remove_before(ShadowCall, before)
