"""An app's figures (contract, section 9): its installs, and its deliveries over the last 30 UTC days.

Only production installs of real businesses count. Test installs and installs on sandboxes are left out.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from common.db.replica import may_lag
from common.db.totals import COUNTED_EXACTLY, REMEMBERED
from installations.models import Installation
from marketplace.models import App
from webhooks.models import DailyDeliveryCount
from webhooks.services import counting

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DeliveryDay:
    """One UTC day of an app; see `DailyDeliveryCount`. `duration_ms` is the sum over `answered` attempts."""

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
    """Sums over thirty days. A rate or mean is None if there is nothing to divide by."""

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
    before: DeliveryFigures  # of the thirty days before

    @property
    def delivered(self) -> DeliveryFigures:
        return DeliveryFigures.of(self.deliveries)

    @property
    def installed(self) -> int:
        """The installs within the thirty days."""
        return sum(day.installs for day in self.installs)

    @property
    def uninstalled(self) -> int:
        return sum(day.uninstalls for day in self.installs)


def analytics(app: App, *, now: datetime | None = None) -> Analytics:
    """Always seven statements. With more than 10,000 installations the figures may be a minute old."""
    now, key = now or timezone.now(), f"analytics:{app.pk}"
    kept = _from_cache(key)
    if kept is not None:
        return kept
    found = _analytics(app, now)
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
def _analytics(app: App, now: datetime) -> Analytics:
    counted = _counted(app)
    totals = counted.aggregate(total=Count("pk"), active=Count("pk", filter=Q(uninstalled_at=None)))
    return Analytics(
        total_installs=totals["total"],
        active_installs=totals["active"],
        installs=_install_days(counted, now),
        deliveries=delivery_days(app, now=now),
        before=DeliveryFigures.of([thirty_days_before(app, now=now)]),
    )


def delivery_days(app: App, *, now: datetime | None = None) -> list[DeliveryDay]:
    """Thirty days, oldest first and today last, with zeros for days without deliveries.

    Today and yesterday are read from the attempts, earlier days from the daily counts: the last count of a day runs in
    the first hour of the next.
    """
    today = _today(now)
    yesterday, first = today - timedelta(days=1), counting.first_day(today)
    counts = DailyDeliveryCount.objects.filter(app=app, date__gte=first, date__lt=yesterday)
    days = {figures.pop("date"): figures for figures in counts.values("date", *counting.FIGURES)}
    days |= {day: _from_rows(app, day) for day in (yesterday, today)}
    each_day = (first + timedelta(days=number) for number in range(counting.DAYS))
    return [DeliveryDay(day, **days.get(day, {})) for day in each_day]


def thirty_days_before(app: App, *, now: datetime | None = None) -> DeliveryDay:
    """The sums of the thirty days before those of `delivery_days`. `date` is the first of them."""
    until = counting.first_day(_today(now))
    first = until - timedelta(days=counting.DAYS)
    counts = DailyDeliveryCount.objects.filter(app=app, date__gte=first, date__lt=until)
    return DeliveryDay(first, **counts.aggregate(**{name: Sum(name, default=0) for name in counting.FIGURES}))


def thirty_days(app: App, *, now: datetime | None = None) -> DeliveryFigures:
    """The sums of the daily counts of the last 30 days, in one statement. Today is included as far as it's counted."""
    counts = DailyDeliveryCount.objects.filter(app=app, date__gte=counting.first_day(_today(now)))
    return DeliveryFigures(**counts.aggregate(**{name: Sum(name, default=0) for name in counting.FIGURES}))


def _counted(app: App) -> QuerySet[Installation]:
    return Installation.objects.filter(app=app, is_test=False, business__is_sandbox=False)


def _install_days(counted: QuerySet[Installation], now: datetime) -> list[InstallDay]:
    """Thirty days, oldest first and today last."""
    today = _today(now)
    days = [today - timedelta(days=ago) for ago in range(counting.DAYS - 1, -1, -1)]
    made, ended = (_by_day(counted, field, days[0]) for field in ("installed_at", "uninstalled_at"))
    return [InstallDay(day, made.get(day, 0), ended.get(day, 0)) for day in days]


def _by_day(counted: QuerySet[Installation], field: str, first: date) -> dict[date, int]:
    since = datetime(first.year, first.month, first.day, tzinfo=UTC)
    days = counted.filter(**{f"{field}__gte": since}).annotate(day=TruncDate(field, tzinfo=UTC)).order_by()
    return dict(days.values_list("day").annotate(number=Count("pk")))


def _today(now: datetime | None) -> date:
    return (now or timezone.now()).astimezone(UTC).date()


def _from_rows(app: App, day: date) -> dict[str, Any]:
    made = counting.made_on(day).filter(delivery__app_id=app.pk)
    return {name: figures[name] for figures in counting.figures_by_app(made) for name in counting.FIGURES}
