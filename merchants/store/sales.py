"""What a store sold in the last days, paid and unpaid apart, beside the days before."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from django.db.models import Case, Count, F, Sum, Value, When
from django.db.models.functions import TruncDate
from django.utils import timezone

from accounts.models import Business
from stores.dashboard import Span
from stores.enums import OrderStatus
from stores.models import Order
from stores.standing import PAID

RANGES: Final = (7, 30, 90)  # days


@dataclass(slots=True)
class Sums:
    """Amounts in minor units, without what was refunded. Cancelled orders count and carry no revenue, as everywhere."""

    orders: int = 0
    paid: int = 0
    unpaid: int = 0

    @property
    def revenue(self) -> int:
        return self.paid + self.unpaid

    @property
    def paid_share(self) -> int | None:
        """In per cent of the revenue; None without any. 100 only if nothing is unpaid."""
        return self.paid * 100 // self.revenue if self.revenue else None

    def add(self, orders: int, amount: int, kind: str) -> None:
        self.orders += orders
        if kind == "paid":
            self.paid += amount
        elif kind == "unpaid":
            self.unpaid += amount


@dataclass(frozen=True, slots=True)
class Bar:
    """One day. `x`, `width`, `y` and the heights are in per cent of the drawing; the paid part is below."""

    date: date
    sums: Sums
    x: float
    width: float
    paid: float
    unpaid: float

    @property
    def paid_y(self) -> float:
        return 100 - self.paid

    @property
    def unpaid_y(self) -> float:
        return 100 - self.paid - self.unpaid


@dataclass(frozen=True, slots=True)
class Sales:
    days: int
    now: Sums
    before: Sums
    by_day: dict[date, Sums] = field(default_factory=dict)  # the oldest first, today last

    @property
    def today(self) -> Sums:
        return next(reversed(self.by_day.values()))

    @property
    def most(self) -> int:
        """What the highest bar stands for."""
        return max(sums.revenue for sums in self.by_day.values())

    @property
    def bars(self) -> list[Bar]:
        step = 100 / self.days
        return [
            Bar(
                day,
                sums,
                round(step * place, 2),
                round(step * 0.8, 2),
                _height(sums.paid, self.most),
                _height(sums.unpaid, self.most),
            )
            for place, (day, sums) in enumerate(self.by_day.items())
        ]

    @property
    def ticks(self) -> list[date]:
        """Days to name below the plot: each of a week, else the first and today."""
        days = list(self.by_day)
        return days if len(days) == 7 else [days[0], days[-1]]


def sales_of(business: Business, *, days: int, now: datetime | None = None) -> Sales:
    """The last `days` days of the store's time zone, and as many before them. One statement."""
    zone = ZoneInfo(business.timezone)
    span = Span.until(now or timezone.now(), zone, 2 * days)
    first = span.first + timedelta(days=days)
    by_day = {day: Sums() for day in span.dates if day >= first}
    whole, before = Sums(), Sums()
    for day, kind, orders, amount in _by_day_and_kind(business, span, zone):
        for sums in (by_day[day], whole) if day >= first else (before,):
            sums.add(orders, amount, kind)
    return Sales(days, whole, before, by_day)


def _by_day_and_kind(business: Business, span: Span, zone: ZoneInfo) -> list[tuple[date, str, int, int]]:
    kind = Case(
        When(status=OrderStatus.CANCELLED, then=Value("cancelled")),
        When(PAID, then=Value("paid")),
        default=Value("unpaid"),
    )
    rows = Order.objects.filter(span.bounds, business=business).order_by()
    parts = rows.annotate(day=TruncDate("created_at", tzinfo=zone), kind=kind).values_list("day", "kind")
    return list(parts.annotate(number=Count("pk"), sum=Sum(F("amount") - F("refunded"))))


def _height(amount: int, most: int) -> float:
    """What is little can still be seen."""
    return max(round(100 * amount / most, 1), 2) if amount else 0
