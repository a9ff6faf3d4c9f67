"""What became of an app's deliveries over the last 30 days, for its analytics."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

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

    Former days come from the counts, today from the rows.
    """
    today = (now or timezone.now()).astimezone(UTC).date()
    first = counting.first_day(today)
    days = _counted(app, first, today)
    days[today] = _of_today(app, today)
    each_day = (first + timedelta(days=number) for number in range(counting.DAYS))
    return [DeliveryDay(day, **days.get(day, {})) for day in each_day]


def _counted(app: App, first: date, today: date) -> dict[date, dict[str, Any]]:
    counts = DailyDeliveryCount.objects.filter(app=app, date__gte=first, date__lt=today)
    return {figures.pop("date"): figures for figures in counts.values("date", *counting.FIGURES)}


def _of_today(app: App, today: date) -> dict[str, Any]:
    made = counting.made_on(today).filter(delivery__webhook__installation__app=app)
    return {name: figures[name] for figures in counting.figures_by_app(made) for name in counting.FIGURES}
