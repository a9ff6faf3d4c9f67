"""An app's figures (contract, section 9): its installs, and its deliveries over the last 30 UTC days or another span.

Only production installs of real businesses count. Test installs and installs on sandboxes are left out.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from django.core.cache import cache
from django.db.models import Count, QuerySet, Sum, Value
from django.db.models.functions import TruncDate, TruncHour
from django.utils import timezone

from common.db.replica import may_lag
from common.db.totals import COUNTED_EXACTLY, REMEMBERED
from installations.models import Installation
from marketplace.models import App
from webhooks.models import Attempt, DailyDeliveryCount
from webhooks.services import counting

log = logging.getLogger(__name__)

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
READ_HOURS: Final = 2  # counts are at most an hour old


@dataclass(frozen=True, slots=True)
class Span:
    """UTC days or hours that figures are of, today or this hour last."""

    number: int = counting.DAYS
    step: timedelta = DAY

    @property
    def is_hours(self) -> bool:
        return self.step == HOUR

    def begins(self, now: datetime) -> list[date]:
        """Dates; of hours, times. The oldest first."""
        hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        last = hour if self.is_hours else hour.date()
        return [last - ago * self.step for ago in range(self.number - 1, -1, -1)]


THIRTY_DAYS = Span()


@dataclass(frozen=True, slots=True)
class DeliveryDay:
    """One UTC day or hour of an app; see `DailyDeliveryCount`. `duration_ms` is the sum over `answered` attempts."""

    date: date
    successful: int = 0
    failed: int = 0
    answered: int = 0
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class InstallDay:
    date: date
    installs: int
    uninstalls: int


@dataclass(frozen=True, slots=True)
class DeliveryFigures:
    """Sums over a span. A rate or mean is None if there is nothing to divide by."""

    successful: int
    failed: int
    answered: int  # attempts
    duration_ms: int

    @classmethod
    def of(cls, days: Sequence[DeliveryDay]) -> "DeliveryFigures":
        return cls(
            successful=sum(day.successful for day in days),
            failed=sum(day.failed for day in days),
            answered=sum(day.answered for day in days),
            duration_ms=sum(day.duration_ms for day in days),
        )

    @property
    def success_rate(self) -> float | None:
        """From 0 to 1."""
        total = self.successful + self.failed
        return self.successful / total if total else None

    @property
    def average_latency_ms(self) -> float | None:
        """Over the attempts that got an HTTP response, with any status."""
        return self.duration_ms / self.answered if self.answered else None


@dataclass(frozen=True, slots=True)
class Analytics:
    total_installs: int
    active_installs: int
    installs: list[InstallDay]
    deliveries: list[DeliveryDay]
    before: DeliveryFigures  # of as long a span before

    @property
    def delivered(self) -> DeliveryFigures:
        return DeliveryFigures.of(self.deliveries)

    @property
    def installed(self) -> int:
        """The installs within the span."""
        return sum(day.installs for day in self.installs)

    @property
    def uninstalled(self) -> int:
        return sum(day.uninstalls for day in self.installs)


def analytics(app: App, span: Span = THIRTY_DAYS, *, now: datetime | None = None) -> Analytics:
    """At most five statements. With more than 10,000 installations the figures may be a minute old."""
    now, key = now or timezone.now(), f"analytics:{app.pk}:{span.number}:{span.is_hours}"
    kept = _from_cache(key)
    if kept is not None:
        return kept
    found = _analytics(app, span, now)
    if found.total_installs > COUNTED_EXACTLY:
        with suppress(Exception):  # as below
            cache.set(key, found, REMEMBERED)
    return found


def _from_cache(key: str) -> Analytics | None:
    try:
        found: Analytics | None = cache.get(key)
    except Exception as error:  # whatever the cache's client raises; the cache only saves work
        log.debug("The cache can't be reached: %s", error)
        return None
    return found


@may_lag
def _analytics(app: App, span: Span, now: datetime) -> Analytics:
    counted = Installation.objects.in_stores().filter(app=app)
    totals = counted.aggregate(total=Count("*"), ended=Count("uninstalled_at"))
    deliveries, before = (
        _delivery_hours(app, span, now) if span.is_hours else _days_and_before(app, span, now)
    )
    return Analytics(
        total_installs=totals["total"],
        active_installs=totals["total"] - totals["ended"],
        installs=install_days(counted, span, now=now),
        deliveries=deliveries,
        before=before,
    )


def _days_and_before(app: App, span: Span, now: datetime) -> tuple[list[DeliveryDay], DeliveryFigures]:
    return delivery_days(app, span, now=now), DeliveryFigures.of([deliveries_before(app, span, now=now)])


def delivery_days(app: App, span: Span = THIRTY_DAYS, *, now: datetime | None = None) -> list[DeliveryDay]:
    """The oldest day first and today last, with zeros for days without deliveries.

    Today and yesterday are read from the attempts, if no more than 10,000 deliveries were counted for them. All else is from the
    daily counts, which are at most an hour old.
    """
    begins = span.begins(now or timezone.now())
    *_, yesterday, today = begins
    counts = DailyDeliveryCount.objects.filter(app=app, date__gte=begins[0])
    days = {figures.pop("date"): figures for figures in counts.values("date", *counting.FIGURES)}
    lately = [days[day] for day in (yesterday, today) if day in days]
    if sum(figures["successful"] + figures["failed"] for figures in lately) <= COUNTED_EXACTLY:
        days |= _counted_now(app, yesterday, today)
    return [DeliveryDay(day, **days.get(day, {})) for day in begins]


def _counted_now(app: App, yesterday: date, today: date) -> dict[date, dict[str, Any]]:
    made = _of(app, counting.made_between(counting.midnight(yesterday), counting.midnight(today) + DAY))
    rows = counting.figures_by(made, day=TruncDate("attempted_at", tzinfo=UTC))
    # What the last count had may have moved to a later day since.
    nothing = dict.fromkeys(counting.FIGURES, 0)
    return {yesterday: nothing, today: nothing} | {figures.pop("day"): figures for figures in rows}


def _delivery_hours(app: App, span: Span, now: datetime) -> tuple[list[DeliveryDay], DeliveryFigures]:
    """The hours of the span, and the sums of as long a span before.

    They are read from the attempts, if no more than 10,000 deliveries were counted for their days. Otherwise only the last two
    are, and those before are from the daily counts, which are at most an hour old.
    """
    twice = replace(span, number=2 * span.number)
    begins = [each for each in twice.begins(now) if isinstance(each, datetime)]
    counted = _counted_hours(app, begins[0].date(), begins[-1].date())
    since = begins[-READ_HOURS] if counted else begins[0]
    made = _of(app, counting.made_between(since, begins[-1] + HOUR))
    rows = counting.figures_by(made, hour=TruncHour("attempted_at", tzinfo=UTC))
    read = {figures.pop("hour"): figures for figures in rows}
    both = [DeliveryDay(hour, **(read if hour >= since else counted).get(hour, {})) for hour in begins]
    return both[span.number :], DeliveryFigures.of(both[: span.number])


def _counted_hours(app: App, first: date, last: date) -> dict[datetime, dict[str, int]]:
    """Nothing if these days had few deliveries, or if one was counted before hours were."""
    days = DailyDeliveryCount.objects.filter(app=app, date__range=(first, last))
    deliveries = sum(day.successful + day.failed for day in days)
    if deliveries <= COUNTED_EXACTLY or not all(day.hours for day in days):
        return {}
    return {
        counting.midnight(day.date) + int(hour) * HOUR: dict(zip(counting.FIGURES, figures, strict=True))
        for day in days
        for hour, figures in day.hours.items()
    }


def deliveries_before(app: App, span: Span = THIRTY_DAYS, *, now: datetime | None = None) -> DeliveryDay:
    """The sums of as many days before. `date` is the first."""
    until = span.begins(now or timezone.now())[0]
    first = until - span.number * DAY
    counts = DailyDeliveryCount.objects.filter(app=app, date__gte=first, date__lt=until)
    return DeliveryDay(first, **counts.aggregate(**{name: Sum(name, default=0) for name in counting.FIGURES}))


def thirty_days(app: App, *, now: datetime | None = None) -> DeliveryFigures:
    """The sums of the daily counts of the last 30 days, in one statement. Today is included as far as it's counted."""
    counts = DailyDeliveryCount.objects.filter(app=app, date__gte=counting.first_day(_today(now)))
    return DeliveryFigures(**counts.aggregate(**{name: Sum(name, default=0) for name in counting.FIGURES}))


def install_days(
    counted: QuerySet[Installation], span: Span = THIRTY_DAYS, *, now: datetime | None = None
) -> list[InstallDay]:
    """The oldest day or hour first, the one that is running last. One statement."""
    begins = span.begins(now or timezone.now())
    made, ended = (_by_begin(counted, span, begins[0], name) for name in ("installed_at", "uninstalled_at"))
    found = {(field, begin): number for field, begin, number in made.union(ended, all=True)}
    return [
        InstallDay(each, found.get(("installed_at", each), 0), found.get(("uninstalled_at", each), 0))
        for each in begins
    ]


def _by_begin(counted: QuerySet[Installation], span: Span, first: date, field: str) -> QuerySet[Any, Any]:
    """Rows of the field's name, the day or hour, and how many."""
    since = first if isinstance(first, datetime) else counting.midnight(first)
    cut = TruncHour(field, tzinfo=UTC) if span.is_hours else TruncDate(field, tzinfo=UTC)
    rows = counted.filter(**{f"{field}__gte": since}).annotate(field=Value(field), begin=cut).order_by()
    return rows.values_list("field", "begin").annotate(number=Count("*"))


def _today(now: datetime | None) -> date:
    return (now or timezone.now()).astimezone(UTC).date()


def _of(app: App, attempts: QuerySet[Attempt]) -> QuerySet[Attempt]:
    return attempts.filter(delivery__app_id=app.pk)
