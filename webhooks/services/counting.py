"""Counts each app's deliveries by day, for its analytics (contract, section 9).

A day is recounted from the rows whenever it may have changed, so counting twice does no harm. Rows are kept for at least 30
times 24 hours after their event, and analytics show 30 UTC days up to today. So nothing is missing from a counted day but what
was resent weeks after its event.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Case, Count, F, Q, QuerySet, Sum, When
from django.db.models.functions import Coalesce, ExtractHour, TruncDate
from django.utils import timezone

from accounts.models import Business
from common.db.rows import for_each
from webhooks.enums import WAITING
from webhooks.models import Attempt, DailyDeliveryCount

DAYS: Final = 30
STEPS: Final = ((20, 1), (50, 2), (100, 5), (200, 10), (500, 20), (1000, 50), (2000, 100), (5000, 200))
"""Milliseconds of responses are rounded to these steps below each bound, and to 500 beyond: by at most a twentieth."""
BEYOND: Final = 500
FIGURES: Final = ("successful", "failed", "answered", "duration_ms", "retrying")


def count_recent(*, now: datetime | None = None) -> None:
    """Count all days since the last count, always yesterday, and earlier days that a later attempt changed or that were counted
    without latencies, by an earlier release.
    """
    today = (now or timezone.now()).astimezone(UTC).date()
    first = first_day(today)
    since = max(first, _begin(today))
    days = _days(since, today) | _changed_since(since, first) | _without_latencies(first)
    for_each(sorted(days), count_day, task="count_deliveries")


@transaction.atomic
def count_day(day: date) -> None:
    """Write the figures of one UTC day for all apps, replacing earlier ones."""
    rows = [_row(app, day, hours) for app, hours in _hours_by_app(day).items()]
    earlier = DailyDeliveryCount.objects.filter(date=day)
    earlier.exclude(app__in=[row.app_id for row in rows]).delete()
    DailyDeliveryCount.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["app", "date"],
        update_fields=[*FIGURES, "hours", "latencies"],
    )


def _hours_by_app(day: date) -> dict[UUID, dict[str, list[Any]]]:
    by_hour = figures_by(
        made_on(day), app_id=F("delivery__app_id"), hour=ExtractHour("attempted_at", tzinfo=UTC)
    )
    found: dict[UUID, dict[str, list[Any]]] = defaultdict(dict)
    for figures in by_hour:
        found[figures["app_id"]][str(figures["hour"])] = [
            *(figures[name] for name in FIGURES),
            figures["latencies"],
        ]
    return found


def _row(app_id: UUID, day: date, hours: dict[str, list[Any]]) -> DailyDeliveryCount:
    *columns, latencies = zip(*hours.values(), strict=True)
    sums = dict(zip(FIGURES, map(sum, columns), strict=True))
    of_day: Counter[int] = sum(map(Counter, latencies), Counter())
    return DailyDeliveryCount(app_id=app_id, date=day, hours=hours, latencies=of_day, **sums)


def first_day(today: date) -> date:
    """The first of the 30 days that end with `today`."""
    return today - timedelta(days=DAYS - 1)


def made_on(day: date) -> QuerySet[Attempt]:
    """The attempts of a UTC day on production installs of real businesses."""
    return made_between(midnight(day), midnight(day) + timedelta(days=1))


def made_between(start: Any, end: Any) -> QuerySet[Attempt]:
    """Those from `start` to before `end`. All test installs are on sandboxes, so the store alone decides."""
    return Attempt.objects.filter(
        attempted_at__gte=start,
        attempted_at__lt=end,
    ).exclude(delivery__business_id__in=Business.objects.sandboxes().values("pk"))


def figures_by(attempts: QuerySet[Attempt], **key: Any) -> list[dict[str, Any]]:
    """One dict of `FIGURES` and the key for each of its values with such attempts. `failed` includes what is `retrying`: what waits
    for its next attempt, also where that is a resend. `latencies` are numbers of answered attempts by milliseconds.
    """
    return gathered(rows_by(attempts, **key), *key)


def rows_by(attempts: QuerySet[Attempt], **key: Any) -> QuerySet[Any, Any]:
    """The key, a latency and `FIGURES` of the attempts that have both."""
    newest = Q(number=F("delivery__attempt_count"))
    succeeded = Q(http_status__gte=200, http_status__lt=300)
    answered = Q(http_status__isnull=False)
    failed = newest & (~succeeded | ~answered)
    return (
        attempts.order_by()
        .values(**key, milliseconds=Case(When(answered, then=_in_steps())))
        .annotate(
            successful=Count("number", filter=newest & succeeded),
            failed=Count("number", filter=failed),
            answered=Count("number", filter=answered),
            duration_ms=Coalesce(Sum("duration_ms", filter=answered), 0),
            retrying=Count("number", filter=failed & Q(delivery__status__in=WAITING)),
        )
        .values_list(*key, "milliseconds", *FIGURES)
    )


def gathered(rows: Iterable[Sequence[Any]], *key: str) -> list[dict[str, Any]]:
    """The figures of `rows_by` of each key, with all latencies."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        named, milliseconds = tuple(row[: len(key)]), row[len(key)]
        sums = dict(zip(FIGURES, row[len(key) + 1 :], strict=True))
        figures = found.setdefault(
            named, {**dict(zip(key, named, strict=True)), **dict.fromkeys(FIGURES, 0), "latencies": {}}
        )
        for name, value in sums.items():
            figures[name] += value
        if milliseconds is not None:
            latencies = figures["latencies"]
            latencies[milliseconds] = latencies.get(milliseconds, 0) + sums["answered"]
    return list(found.values())


def _in_steps() -> Case:
    def rounded(step: int) -> Any:
        return (F("duration_ms") + step // 2) / step * step

    steps = (When(duration_ms__lt=bound, then=rounded(step)) for bound, step in STEPS)
    return Case(*steps, default=rounded(BEYOND))


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _begin(today: date) -> date:
    """The last day that was counted, but yesterday at the latest. `date.min` if no day was counted yet."""
    last = DailyDeliveryCount.objects.order_by("-date").values_list("date", flat=True).first()
    return min(last, today - timedelta(days=1)) if last else date.min


def _days(first: date, last: date) -> set[date]:
    return {first + timedelta(days=number) for number in range((last - first).days + 1)}


def _without_latencies(first: date) -> set[date]:
    rows = DailyDeliveryCount.objects.filter(date__gte=first, answered__gt=0, latencies={})
    return set(rows.values_list("date", flat=True))


def _changed_since(since: date, first: date) -> set[date]:
    """The days, from `first` on, with earlier attempts of deliveries that were retried or resent since."""
    again = Attempt.objects.filter(attempted_at__gte=midnight(since), number__gt=1).values("delivery")
    earlier = Attempt.objects.filter(delivery__in=again, attempted_at__gte=midnight(first))
    return set(earlier.annotate(day=TruncDate("attempted_at", tzinfo=UTC)).values_list("day", flat=True))
