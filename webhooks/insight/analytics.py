"""An app's figures (contract, section 9): its installs, and its deliveries over the last 30 UTC days, or another period.

Only production installs of real businesses count. Test installs and installs on sandboxes are left out.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from django.core.cache import cache
from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import TruncDate, TruncHour
from django.utils import timezone

from common.db.replica import may_lag
from common.db.totals import COUNTED_EXACTLY, REMEMBERED
from installations.models import Installation
from marketplace.models import App
from webhooks.models import DailyDeliveryCount
from webhooks.services import counting

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Period:
    """The time that figures are about: UTC days, of which the last is today, or hours."""

    name: str
    points: int
    step: timedelta = timedelta(days=1)

    @property
    def is_hours(self) -> bool:
        return self.step < timedelta(days=1)

    def begins(self, now: datetime | None = None) -> list[datetime]:
        """Of each point, the oldest first."""
        last = (now or timezone.now()).astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        last = last if self.is_hours else last.replace(hour=0)
        return [last - ago * self.step for ago in range(self.points - 1, -1, -1)]


MONTH: Final = Period("30d", counting.DAYS)
PERIODS: Final = {
    each.name: each
    for each in (Period("24h", 24, timedelta(hours=1)), Period("7d", 7), MONTH, Period("90d", 90))
}


@dataclass(frozen=True, slots=True)
class DeliveryDay:
    """One UTC day of an app, or an hour by its beginning; see `DailyDeliveryCount`. `duration_ms` is the sum over `answered`
    attempts.
    """

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
    """Sums over a period. A rate or mean is None if there is nothing to divide by."""

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
    before: DeliveryFigures  # of as much time before

    @property
    def delivered(self) -> DeliveryFigures:
        return DeliveryFigures.of(self.deliveries)

    @property
    def installed(self) -> int:
        """The installs within the period."""
        return sum(day.installs for day in self.installs)

    @property
    def uninstalled(self) -> int:
        return sum(day.uninstalls for day in self.installs)


def analytics(app: App, *, period: Period = MONTH, now: datetime | None = None) -> Analytics:
    """At most seven statements. With more than 10,000 installations the figures may be a minute old."""
    now, key = now or timezone.now(), f"analytics:{app.pk}:{period.name}"
    kept = _from_cache(key)
    if kept is not None:
        return kept
    found = _analytics(app, period, now)
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
def _analytics(app: App, period: Period, now: datetime) -> Analytics:
    counted = _counted(app)
    totals = counted.aggregate(total=Count("pk"), active=Count("pk", filter=Q(uninstalled_at=None)))
    return Analytics(
        total_installs=totals["total"],
        active_installs=totals["active"],
        installs=_install_days(counted, period, now),
        deliveries=delivery_days(app, period=period, now=now),
        before=DeliveryFigures.of([sums_before(app, period=period, now=now)]),
    )


def delivery_days(app: App, *, period: Period = MONTH, now: datetime | None = None) -> list[DeliveryDay]:
    """The oldest first, with zeros for days without deliveries.

    Hours, today and yesterday are read from the attempts, earlier days from the daily counts: the last count of a day runs
    in the first hour of the next.
    """
    begins = period.begins(now)
    if period.is_hours:
        made = counting.made_between(begins[0], begins[-1] + period.step).filter(delivery__app_id=app.pk)
        found = counting.figures_by(made, hour=TruncHour("attempted_at", tzinfo=UTC))
        hours = {figures.pop("hour"): figures for figures in found}
        return [DeliveryDay(hour, **hours.get(hour, {})) for hour in begins]
    dates = [begin.date() for begin in begins]
    counts = DailyDeliveryCount.objects.filter(app=app, date__gte=dates[0], date__lt=dates[-2])
    days = {figures.pop("date"): figures for figures in counts.values("date", *counting.FIGURES)}
    days |= {begin.date(): _from_rows(app, begin, begin + period.step) for begin in begins[-2:]}
    return [DeliveryDay(day, **days.get(day, {})) for day in dates]


def sums_before(app: App, *, period: Period = MONTH, now: datetime | None = None) -> DeliveryDay:
    """The sums of as much time before `delivery_days`. `date` is where it begins."""
    until = period.begins(now)[0]
    first = until - period.points * period.step
    if period.is_hours:
        return DeliveryDay(first, **_from_rows(app, first, until))
    counts = DailyDeliveryCount.objects.filter(app=app, date__gte=first.date(), date__lt=until.date())
    sums = counts.aggregate(**{name: Sum(name, default=0) for name in counting.FIGURES})
    return DeliveryDay(first.date(), **sums)


def thirty_days(app: App, *, now: datetime | None = None) -> DeliveryFigures:
    """The sums of the daily counts of the last 30 days, in one statement. Today is included as far as it's counted."""
    counts = DailyDeliveryCount.objects.filter(app=app, date__gte=counting.first_day(_today(now)))
    return DeliveryFigures(**counts.aggregate(**{name: Sum(name, default=0) for name in counting.FIGURES}))


def _counted(app: App) -> QuerySet[Installation]:
    return Installation.objects.filter(app=app, is_test=False, business__is_sandbox=False)


def _install_days(counted: QuerySet[Installation], period: Period, now: datetime) -> list[InstallDay]:
    """The oldest first."""
    begins = period.begins(now)
    made, ended = (
        _by_point(counted, field, period, begins[0]) for field in ("installed_at", "uninstalled_at")
    )
    points = begins if period.is_hours else [begin.date() for begin in begins]
    return [InstallDay(point, made.get(point, 0), ended.get(point, 0)) for point in points]


def _by_point(
    counted: QuerySet[Installation], field: str, period: Period, since: datetime
) -> dict[date, int]:
    cut = TruncHour if period.is_hours else TruncDate
    rows = counted.filter(**{f"{field}__gte": since}).annotate(point=cut(field, tzinfo=UTC)).order_by()
    return dict(rows.values_list("point").annotate(number=Count("pk")))


def _today(now: datetime | None) -> date:
    return (now or timezone.now()).astimezone(UTC).date()


def _from_rows(app: App, start: datetime, end: datetime) -> dict[str, Any]:
    made = counting.made_between(start, end).filter(delivery__app_id=app.pk)
    return {name: figures[name] for figures in counting.figures_by_app(made) for name in counting.FIGURES}
