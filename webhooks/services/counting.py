"""Counts each app's deliveries by day, for its analytics (contract, section 9).

A day is recounted from the rows whenever it may have changed, so counting twice does no harm. Rows are kept for at least 30
times 24 hours after their event, and analytics show 30 UTC days up to today. So nothing is missing from a counted day but what
was resent weeks after its event.
"""

from collections import defaultdict
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, ExtractHour, TruncDate
from django.utils import timezone

from accounts.models import Business
from common.db.replica import may_lag
from webhooks.models import Attempt, DailyDeliveryCount

DAYS: Final = 30
FIGURES: Final = ("successful", "failed", "answered", "duration_ms")


def count_recent(*, now: datetime | None = None) -> None:
    """Count all days since the last count, always yesterday, and earlier days that a later attempt changed."""
    today = (now or timezone.now()).astimezone(UTC).date()
    first = first_day(today)
    since = max(first, _begin(today))
    for day in sorted(_days(since, today) | _changed_since(since, first)):
        count_day(day)


@transaction.atomic
def count_day(day: date) -> None:
    """Write the figures of one UTC day for all apps, replacing earlier ones."""
    rows = [_row(app, day, hours) for app, hours in _hours_by_app(day).items()]
    earlier = DailyDeliveryCount.objects.filter(date=day)
    earlier.exclude(app__in=[row.app_id for row in rows]).delete()
    DailyDeliveryCount.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["app", "date"], update_fields=[*FIGURES, "hours"]
    )


def _hours_by_app(day: date) -> dict[UUID, dict[str, list[int]]]:
    by_hour = figures_by(
        made_on(day), app_id=F("delivery__app_id"), hour=ExtractHour("attempted_at", tzinfo=UTC)
    )
    found: dict[UUID, dict[str, list[int]]] = defaultdict(dict)
    for figures in by_hour:
        found[figures["app_id"]][str(figures["hour"])] = [figures[name] for name in FIGURES]
    return found


def _row(app_id: UUID, day: date, hours: dict[str, list[int]]) -> DailyDeliveryCount:
    sums = map(sum, zip(*hours.values(), strict=True))
    return DailyDeliveryCount(app_id=app_id, date=day, hours=hours, **dict(zip(FIGURES, sums, strict=True)))


def first_day(today: date) -> date:
    """The first of the 30 days that end with `today`."""
    return today - timedelta(days=DAYS - 1)


def made_on(day: date) -> QuerySet[Attempt]:
    """The attempts of a UTC day on production installs of real businesses."""
    return made_between(midnight(day), midnight(day) + timedelta(days=1))


def made_between(start: datetime, end: datetime) -> QuerySet[Attempt]:
    """Those from `start` to before `end`. All test installs are on sandboxes, so the store alone decides."""
    return Attempt.objects.filter(
        attempted_at__gte=start,
        attempted_at__lt=end,
    ).exclude(delivery__business_id__in=Business.objects.sandboxes().values("pk"))


@may_lag
def figures_by(attempts: QuerySet[Attempt], **key: Any) -> list[dict[str, Any]]:
    """One `{"successful", "failed", "answered", "duration_ms"}` and the key for each of its values with such attempts."""
    newest = Q(number=F("delivery__attempt_count"))
    succeeded = Q(http_status__gte=200, http_status__lt=300)
    answered = Q(http_status__isnull=False)
    figures = (
        attempts.order_by()
        .values(**key)
        .annotate(
            successful=Count("number", filter=newest & succeeded),
            failed=Count("number", filter=newest & (~succeeded | ~answered)),
            answered=Count("number", filter=answered),
            duration_ms=Coalesce(Sum("duration_ms", filter=answered), 0),
        )
    )
    return [dict(row) for row in figures]


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _begin(today: date) -> date:
    """The last day that was counted, but yesterday at the latest. `date.min` if no day was counted yet."""
    last = DailyDeliveryCount.objects.order_by("-date").values_list("date", flat=True).first()
    return min(last, today - timedelta(days=1)) if last else date.min


def _days(first: date, last: date) -> set[date]:
    return {first + timedelta(days=number) for number in range((last - first).days + 1)}


def _changed_since(since: date, first: date) -> set[date]:
    """The days, from `first` on, with earlier attempts of deliveries that were retried or resent since."""
    again = Attempt.objects.filter(attempted_at__gte=midnight(since), number__gt=1).values("delivery")
    earlier = Attempt.objects.filter(delivery__in=again, attempted_at__gte=midnight(first))
    return set(earlier.annotate(day=TruncDate("attempted_at", tzinfo=UTC)).values_list("day", flat=True))
