"""An app in figures (contract section 9, "Analytics"): installs, and what became of its deliveries.

Production installs on real businesses alone: test installs and whatever stands on a sandbox are left out. Days are
UTC days.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone

from installations.models import Installation
from marketplace.models import App
from webhooks.analytics import DeliveryDay, delivery_days, thirty_days_before

DAYS: Final = 30


@dataclass(frozen=True, slots=True)
class InstallDay:
    date: date
    installs: int
    uninstalls: int


@dataclass(frozen=True, slots=True)
class DeliveryFigures:
    """Sums over thirty days. A rate or mean of nothing is None."""

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
        """Of the attempts that got an HTTP answer, whatever it was."""
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
        """In the thirty days."""
        return sum(day.installs for day in self.installs)

    @property
    def uninstalled(self) -> int:
        return sum(day.uninstalls for day in self.installs)


def analytics(app: App, *, now: datetime | None = None) -> Analytics:
    """Seven statements, however much there is to count."""
    now = now or timezone.now()
    counted = _counted(app)
    totals = counted.aggregate(total=Count("pk"), active=Count("pk", filter=Q(uninstalled_at=None)))
    return Analytics(
        total_installs=totals["total"],
        active_installs=totals["active"],
        installs=_install_days(counted, now),
        deliveries=delivery_days(app, now=now),
        before=DeliveryFigures.of([thirty_days_before(app, now=now)]),
    )


def _counted(app: App) -> QuerySet[Installation]:
    return Installation.objects.filter(app=app, is_test=False, business__is_sandbox=False)


def _install_days(counted: QuerySet[Installation], now: datetime) -> list[InstallDay]:
    """Thirty, the oldest first and today last."""
    today = now.astimezone(UTC).date()
    days = [today - timedelta(days=ago) for ago in range(DAYS - 1, -1, -1)]
    made, ended = (_by_day(counted, field, days[0]) for field in ("installed_at", "uninstalled_at"))
    return [InstallDay(day, made.get(day, 0), ended.get(day, 0)) for day in days]


def _by_day(counted: QuerySet[Installation], field: str, first: date) -> dict[date, int]:
    since = datetime(first.year, first.month, first.day, tzinfo=UTC)
    days = counted.filter(**{f"{field}__gte": since}).annotate(day=TruncDate(field, tzinfo=UTC)).order_by()
    return dict(days.values_list("day").annotate(number=Count("pk")))
