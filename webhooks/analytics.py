"""What became of an app's deliveries over the last 30 days, for its analytics."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import Sum
from django.utils import timezone

from marketplace.models import App
from webhooks.models import DailyDeliveryCount
from webhooks.services import counting


@dataclass(frozen=True, slots=True)
class DeliveryDay:
    """One UTC day of an app; see `DailyDeliveryCount`. `duration_ms` is the sum over `answered` attempts."""

    date: date
    successful: int = 0
    failed: int = 0
    answered: int = 0
    duration_ms: int = 0


def delivery_days(app: App, *, now: datetime | None = None) -> list[DeliveryDay]:
    """Thirty days, the oldest first and today last, with zeros where nothing was sent.

    Today and yesterday come from the rows, former days from the counts: each is counted for the last time in the
    first hour of the next.
    """
    today = _today(now)
    yesterday, first = today - timedelta(days=1), counting.first_day(today)
    counts = DailyDeliveryCount.objects.filter(app=app, date__gte=first, date__lt=yesterday)
    days = {figures.pop("date"): figures for figures in counts.values("date", *counting.FIGURES)}
    days |= {day: _from_rows(app, day) for day in (yesterday, today)}
    each_day = (first + timedelta(days=number) for number in range(counting.DAYS))
    return [DeliveryDay(day, **days.get(day, {})) for day in each_day]


def thirty_days_before(app: App, *, now: datetime | None = None) -> DeliveryDay:
    """The sums of the thirty days that ended before those of `delivery_days`, under the first one's date."""
    until = counting.first_day(_today(now))
    first = until - timedelta(days=counting.DAYS)
    counts = DailyDeliveryCount.objects.filter(app=app, date__gte=first, date__lt=until)
    return DeliveryDay(first, **counts.aggregate(**{name: Sum(name, default=0) for name in counting.FIGURES}))


def _today(now: datetime | None) -> date:
    return (now or timezone.now()).astimezone(UTC).date()


def _from_rows(app: App, day: date) -> dict[str, Any]:
    made = counting.made_on(day).filter(delivery__webhook__installation__app=app)
    return {name: figures[name] for figures in counting.figures_by_app(made) for name in counting.FIGURES}
