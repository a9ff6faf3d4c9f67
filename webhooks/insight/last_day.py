"""What webhooks delivered in each of the last 24 hours, at a cost that doesn't grow with their deliveries.

Each day is a range of the index `delivery_outcome`, of which at most `MOST` entries are read, and each hour of those that have more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import Count, DateTimeField, UUIDField
from django.db.models.functions import TruncHour
from django.utils import timezone

from common.db.compiled import AmongIds, Compiled, Param
from common.ids import first_id_at
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery

HOURS: Final = 24
MOST: Final = 100
# Deliveries of earlier events, which were resent, aren't counted: their partitions needn't be asked.
OLDEST: Final = timedelta(days=7)
_HOUR: Final = timedelta(hours=1)


class Hour(NamedTuple):
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
        WHERE delivery.webhook_id = webhook.id AND delivery.status = %s AND delivery.id >= %s {in_the_range}
        LIMIT {most}
    ) AS counted
)"""
_IN_THE_RANGE: Final = "AND delivery.finished_at >= ranges.begins AND delivery.finished_at < ranges.ends"


def last_days(webhooks: Sequence[UUID], now: datetime | None = None) -> dict[UUID, LastDay]:
    """By the id of the webhook, in at most three statements. The last hour is the one that hasn't ended yet."""
    if not webhooks:
        return {}
    now = now or timezone.now()
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    begins = [this_hour - ago * _HOUR for ago in range(HOURS - 1, -1, -1)]
    days = {
        webhook: (succeeded, failed, waiting)
        for webhook, _, succeeded, failed, waiting in _counted(webhooks, begins[:1], HOURS * _HOUR, now)
    }
    # Looks at each hour are for those that have more in the day than may be read.
    busy = [webhook for webhook, (*done, _) in days.items() if max(done) >= MOST]
    few = [webhook for webhook, (*done, _) in days.items() if 0 < max(done) < MOST]
    hours = {
        (webhook, begins[number]): done for webhook, number, *done, _ in _counted(busy, begins, _HOUR, now)
    }
    for webhook, status, begin, number in _read(few, begins, now):
        hours.setdefault((webhook, begin), [0, 0])[status == DeliveryStatus.EXHAUSTED] = number
    nothing = [Hour(begin, 0, 0) for begin in begins]
    return {
        webhook: LastDay(
            [Hour(begin, *hours.get((webhook, begin), (0, 0))) for begin in begins] if max(done) else nothing,
            waiting,
        )
        for webhook, (*done, waiting) in days.items()
    }


def _read(webhooks: Sequence[UUID], begins: Sequence[datetime], now: datetime) -> Iterable[Any]:
    """Rows of webhook, status, begin of an hour, and the number of deliveries that ended in it."""
    if not webhooks:
        return ()
    since, until = begins[0], begins[-1] + _HOUR
    return _OF_HOURS.rows(ids=webhooks, first=first_id_at(now - OLDEST), since=since, until=until)


def _of_hours() -> Any:
    since, until = (Param(name, DateTimeField()) for name in ("since", "until"))
    ended = Delivery.objects.filter(
        AmongIds("webhook", "ids"), status__in=(DeliveryStatus.SUCCEEDED, DeliveryStatus.EXHAUSTED),
        id__gte=Param("first", UUIDField()), finished_at__gte=since, finished_at__lt=until,
    )  # fmt: skip
    of_hours = ended.order_by().values_list("webhook", "status", TruncHour("finished_at", tzinfo=UTC))
    return of_hours.annotate(Count("pk"))


_OF_HOURS: Final[Compiled[Any]] = Compiled(_of_hours)


def _counted(
    webhooks: Sequence[UUID], begins: Sequence[datetime], length: timedelta, now: datetime
) -> list[tuple[UUID, int, int, int, int]]:
    """Rows of webhook, number of a range, and what succeeded and failed in it. With the first range, also the retries."""
    if not webhooks:
        return []
    in_range, any_time = (_COUNT.format(in_the_range=part, most=MOST) for part in (_IN_THE_RANGE, ""))
    statement = f"""
        WITH ranges (number, begins, ends) AS (VALUES {", ".join(["(%s, %s, %s)"] * len(begins))})
        SELECT webhook.id, ranges.number, {in_range}, {in_range}, CASE ranges.number WHEN 0 THEN {any_time} END
        FROM webhooks_webhook AS webhook CROSS JOIN ranges
        WHERE webhook.id IN ({", ".join(["%s"] * len(webhooks))}) ORDER BY ranges.number
    """  # noqa: S608  nothing but the number of values is put in
    bounds = [
        value
        for number, begin in enumerate(begins)
        for value in (number, _time(begin), _time(begin + length))
    ]
    oldest = _id(first_id_at(now - OLDEST))
    counted = (DeliveryStatus.SUCCEEDED, DeliveryStatus.EXHAUSTED, DeliveryStatus.RETRYING)
    outcomes = [value for status in counted for value in (status.value, oldest)]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*bounds, *outcomes, *map(_id, webhooks)])
        rows: list[Any] = cursor.fetchall()
    return [(each if isinstance(each, UUID) else UUID(each), *counts) for each, *counts in rows]


def _time(moment: datetime) -> Any:
    return DateTimeField().get_db_prep_value(moment, connection)


def _id(value: UUID) -> Any:
    return UUIDField().get_db_prep_value(value, connection)
