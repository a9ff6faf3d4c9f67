"""What webhooks delivered in each of the last 24 hours, at a cost that doesn't grow with their deliveries.

Each hour is a range of the index `delivery_outcome`, of which at most `MOST` entries are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import DateTimeField, UUIDField
from django.utils import timezone

from common.ids import first_id_at
from webhooks.enums import DeliveryStatus

HOURS: Final = 24
MOST: Final = 100
# Deliveries of earlier events, which were resent, aren't counted: their partitions needn't be asked.
OLDEST: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Hour:
    """Deliveries that ended in the hour that begins at `begin`. More than `MOST` are counted as `MOST`."""

    begin: datetime
    succeeded: int
    failed: int


@dataclass(frozen=True, slots=True)
class LastDay:
    """The hours, oldest first, and the deliveries that have failed and will be retried."""

    hours: Sequence[Hour]
    retrying: int

    @property
    def succeeded(self) -> int:
        return sum([hour.succeeded for hour in self.hours])

    @property
    def failed(self) -> int:
        return sum([hour.failed for hour in self.hours])


_COUNT: Final = """(
    SELECT COUNT(*) FROM (
        SELECT 1 FROM webhooks_delivery AS delivery
        WHERE delivery.webhook_id = webhook.id AND delivery.status = %s AND delivery.id >= %s {in_the_hour}
        LIMIT {most}
    ) AS counted
)"""
_IN_THE_HOUR: Final = "AND delivery.finished_at >= hours.begins AND delivery.finished_at < hours.ends"


def last_days(webhooks: Sequence[UUID], now: datetime | None = None) -> dict[UUID, LastDay]:
    """By the id of the webhook, in one statement. The last hour is the one that hasn't ended yet."""
    if not webhooks:
        return {}
    now = now or timezone.now()
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    begins = [this_hour - timedelta(hours=ago) for ago in range(HOURS - 1, -1, -1)]
    hours: dict[UUID, list[Hour]] = {webhook: [] for webhook in webhooks}
    retrying: dict[UUID, int] = {}
    for row_id, number, succeeded, failed, waiting in _by_hour(webhooks, begins, now):
        webhook = row_id if isinstance(row_id, UUID) else UUID(row_id)
        hours[webhook].append(Hour(begins[number], succeeded, failed))
        retrying.setdefault(webhook, waiting)
    return {webhook: LastDay(found, retrying[webhook]) for webhook, found in hours.items() if found}


def _by_hour(webhooks: Sequence[UUID], begins: Sequence[datetime], now: datetime) -> list[Any]:
    """Rows of webhook, number of the hour, and what succeeded and failed in it. With the first hour, also the retries."""
    in_hour, any_time = (_COUNT.format(in_the_hour=part, most=MOST) for part in (_IN_THE_HOUR, ""))
    statement = f"""
        WITH hours (number, begins, ends) AS (VALUES {", ".join(["(%s, %s, %s)"] * len(begins))})
        SELECT webhook.id, hours.number, {in_hour}, {in_hour}, CASE hours.number WHEN 0 THEN {any_time} END
        FROM webhooks_webhook AS webhook CROSS JOIN hours
        WHERE webhook.id IN ({", ".join(["%s"] * len(webhooks))}) ORDER BY hours.number
    """  # noqa: S608  nothing but the number of values is put in
    bounds = [
        value
        for number, begin in enumerate(begins)
        for value in (number, _time(begin), _time(begin + timedelta(hours=1)))
    ]
    oldest = _id(first_id_at(now - OLDEST))
    counted = (DeliveryStatus.SUCCEEDED, DeliveryStatus.EXHAUSTED, DeliveryStatus.RETRYING)
    outcomes = [value for status in counted for value in (status.value, oldest)]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*bounds, *outcomes, *map(_id, webhooks)])
        rows: list[Any] = cursor.fetchall()
    return rows


def _time(moment: datetime) -> Any:
    return DateTimeField().get_db_prep_value(moment, connection)


def _id(value: UUID) -> Any:
    return UUIDField().get_db_prep_value(value, connection)
