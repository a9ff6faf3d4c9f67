"""Looks for rows whose counterpart is missing: no database constraint leads into a partitioned table, or from a delivery.

Each night it looks at the rows since the last audit, and at those that are 8 and 29 days old. So each row is looked at on the day
after it was written, a week later, and before it ends. Each statement reads a day. Findings are logged, and shown at
`/metrics`.

docs/operations-run.md names the columns without a constraint that it leaves out, and why.
"""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from common.db import partitions
from common.ids import first_id_at
from webhooks.models import Attempt, Delivery, Erasure, Event, Webhook

log = logging.getLogger(__name__)

_KEY: Final = "last-audit-of-tables"
_DAY: Final = timedelta(days=1)
AGAIN: Final = (8, 29)  # days after they were written, rows are looked at once more
OLDEST: Final = 38  # days; a week of rows is dropped before


def audit(*, now: datetime | None = None) -> dict[str, int]:
    """How many rows there are of each kind that should not be there."""
    found = dict.fromkeys(("attempts", "deliveries", "erasures", "without_partition"), 0)
    for start, end in _ranges(now or timezone.now()):
        found["attempts"] += _attempts(start, end).count()
        found["deliveries"] += sum(rows.count() for rows in _deliveries(start, end))
    found["erasures"] = _without_event(Erasure.objects.filter(event__isnull=False)).count()
    found["without_partition"] = sum(map(partitions.rows_without_partition, partitions.partitioned_models()))
    for kind, count in found.items():
        if count:
            log.error("The audit of the tables found %s rows of kind %r.", count, kind)
    _remember(found)
    return found


@dataclass(frozen=True, slots=True)
class LastAudit:
    """`age` is in seconds. `found` is what `audit` returned."""

    age: float
    found: dict[str, int]


def last_audit() -> LastAudit | None:
    """The last run to its end; None if the cache knows of none. The cache's errors are raised."""
    remembered: tuple[float, dict[str, int]] | None = cache.get(_KEY)
    return remembered and LastAudit(max(0.0, time.time() - remembered[0]), remembered[1])


def _remember(found: dict[str, int]) -> None:
    try:
        # For ever: once forgotten, neither what it found nor that it stopped would be known.
        cache.set(_KEY, (time.time(), found), timeout=None)
    except Exception as error:  # whatever the cache's client raises; the log has it
        log.warning("The audit can't be shown at /metrics: %s", error)


def _ranges(now: datetime) -> Iterator[tuple[UUID, UUID]]:
    """Ranges of ids, each of a day: those since the last audit, some older ones, and as one what is older than any week."""
    midnight = _midnight(now)
    yield UUID(int=0), first_id_at(midnight - OLDEST * _DAY)
    new = max(1, min((midnight - _midnight(now - _since_the_last())).days, OLDEST))
    for days in sorted({*AGAIN, *range(1, new + 1)}, reverse=True):
        yield first_id_at(midnight - days * _DAY), first_id_at(midnight - (days - 1) * _DAY)
    yield first_id_at(midnight), UUID(int=2**128 - 1)


def _midnight(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _since_the_last() -> timedelta:
    """Zero if the cache knows of no audit, or doesn't respond."""
    try:
        last = last_audit()
    except Exception:  # whatever the cache's client raises
        last = None
    return timedelta(seconds=last.age if last else 0)


def _attempts(start: UUID, end: UUID) -> QuerySet[Attempt]:
    made = Attempt.objects.filter(delivery__gte=start, delivery__lt=end)
    own = Delivery.objects.filter(id__gte=start, id__lt=end)
    return made.exclude(Exists(own.filter(id=OuterRef("delivery_id"))))


def _deliveries(start: UUID, end: UUID) -> Iterator[QuerySet[Delivery]]:
    """Those without an event, and others without a webhook. Two queries, because either in one would read all events."""
    written = Delivery.objects.filter(id__gte=start, id__lt=end)
    yield _without_event(written)
    yield written.filter(_has_event()).exclude(Exists(Webhook.objects.filter(id=OuterRef("webhook_id"))))


def _without_event(rows: QuerySet[Any]) -> QuerySet[Any]:
    return rows.exclude(_has_event())


def _has_event() -> Exists:
    return Exists(Event.objects.filter(id=OuterRef("event_id")))
