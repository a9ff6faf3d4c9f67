"""What a store sold in the last days, paid and unpaid apart, and how often it was visited, beside the days before."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from django.db.models import Case, Count, F, Sum, Value, When
from django.db.models.functions import TruncDate
from django.urls import reverse
from django.utils import timezone

from accounts.models import Business
from common.money import display
from common.web.charts import Chart, Point, Series, chart
from stores.dashboard import Span
from stores.enums import OrderStatus
from stores.models import Order, StoreVisits
from stores.standing import PAID

RANGES: Final = (7, 30, 90)  # days


@dataclass(slots=True)
class Sums:
    """Amounts in minor units, without what was refunded. Cancelled orders count and carry no revenue, as everywhere."""

    orders: int = 0
    paid: int = 0
    unpaid: int = 0
    visits: int = 0

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
class Sales:
    days: int
    now: Sums
    before: Sums
    by_day: dict[date, Sums] = field(default_factory=dict)  # the oldest first, today last

    @property
    def today(self) -> Sums:
        return next(reversed(self.by_day.values()))

    def chart(self, business: Business) -> Chart:
        """Each day leads to its orders."""
        orders = reverse("merchants:orders")
        return chart(
            "sales",
            "Sales by day",
            [Point(day, f"{orders}?since={day}&until={day}") for day in self.by_day],
            (
                Series("Paid", "first", [each.paid for each in self.by_day.values()], total=""),
                Series("Unpaid", "second", [each.unpaid for each in self.by_day.values()], total=""),
            ),
            empty="No sales in these days.",
            is_stacked=True,
            write=lambda minor: display(round(minor), business.currency, business.locale),
        )


def sales_of(business: Business, *, days: int, now: datetime | None = None) -> Sales:
    """The last `days` days of the store's time zone, and as many before them. Two statements."""
    zone = ZoneInfo(business.timezone)
    span = Span.until(now or timezone.now(), zone, 2 * days)
    first = span.first + timedelta(days=days)
    by_day = {day: Sums() for day in span.dates if day >= first}
    whole, before = Sums(), Sums()
    for day, kind, orders, amount in _by_day_and_kind(business, span, zone):
        for sums in (by_day[day], whole) if day >= first else (before,):
            sums.add(orders, amount, kind)
    visits = StoreVisits.objects.filter(business=business, day__gte=span.first)
    for day, number in visits.values_list("day", "visits"):
        (whole if day >= first else before).visits += number
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
