"""A store's sales of the last days (contract, section 9, "Dashboard").

Days are those of the business's time zone, so a day may have 23 or 25 hours. Money is in minor units.
Cancelled orders count as orders but in no sum: they carry no revenue.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Count, DecimalField, F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Cast, Coalesce, TruncDate
from django.utils import timezone

from accounts.models import Business
from stores.enums import OrderStatus
from stores.models import Order, OrderItem, Product

DEFAULT_DAYS: Final = 30
MAX_DAYS: Final = 90
TOP: Final = 10  # products
WIDE: Final = DecimalField(
    max_digits=40, decimal_places=0
)  # a shop's price times a quantity is beyond 64 bits


@dataclass(frozen=True, slots=True)
class SalesDay:
    date: date
    orders: int
    revenue: int


@dataclass(frozen=True, slots=True)
class TopProduct:
    """Sales of one product, at the prices of the order lines. `name` is the current name, or the last one of a deleted product."""

    product_id: UUID
    name: str
    quantity: int
    revenue: int


@dataclass(frozen=True, slots=True)
class Dashboard:
    currency: str
    daily: list[SalesDay]  # the oldest first, today last
    orders_by_status: Mapping[str, int]  # all of them
    top_products: list[TopProduct]  # the best-selling first

    @property
    def days(self) -> int:
        return len(self.daily)

    @property
    def total_orders(self) -> int:
        return sum(self.orders_by_status.values())

    @property
    def total_revenue(self) -> int:
        return sum(day.revenue for day in self.daily)

    @property
    def average_order_value(self) -> int | None:
        """The average of orders that were not cancelled, rounded to the minor unit; None if there are none."""
        sold = self.total_orders - self.orders_by_status[OrderStatus.CANCELLED]
        if not sold:
            return None
        return int((Decimal(self.total_revenue) / sold).quantize(Decimal(1), rounding=ROUND_HALF_UP))


@dataclass(frozen=True, slots=True)
class DaySpan:
    """Whole days of a time zone, ending today."""

    zone: ZoneInfo
    first: date
    days: int

    @classmethod
    def until(cls, now: datetime, zone: ZoneInfo, days: int) -> "DaySpan":
        return cls(zone, now.astimezone(zone).date() - timedelta(days=days - 1), days)

    @property
    def dates(self) -> list[date]:
        return [self.first + timedelta(days=ahead) for ahead in range(self.days)]

    def since(self, field: str) -> Q:
        """Rows whose `field` is of these days or later."""
        return Q(**{f"{field}__gte": self._midnight(self.first)})

    @property
    def bounds(self) -> tuple[datetime, datetime]:
        """The start of the first day, and the end of the last."""
        return self._midnight(self.first), self._midnight(self.first + timedelta(days=self.days))

    def _midnight(self, day: date) -> datetime:
        """The start of a day; if the clock skips midnight, the moment when it does."""
        return datetime.combine(day, time.min, tzinfo=self.zone)


def dashboard(business: Business, *, days: int = DEFAULT_DAYS, now: datetime | None = None) -> Dashboard:
    """Two statements, no matter how much was sold."""
    span = DaySpan.until(now or timezone.now(), ZoneInfo(business.timezone), days)
    start, end = span.bounds
    orders = Order.objects.filter(business=business, created_at__gte=start, created_at__lt=end).order_by()
    by_status = dict.fromkeys(OrderStatus.values, 0)
    counts, revenues = dict.fromkeys(span.dates, 0), dict.fromkeys(span.dates, 0)
    for day, status, count, revenue in _by_day_and_status(orders, span.zone):
        by_status[status] += count
        counts[day] += count
        if status != OrderStatus.CANCELLED:
            revenues[day] += revenue
    return Dashboard(
        currency=business.currency,
        daily=[SalesDay(day, counts[day], revenues[day]) for day in span.dates],
        orders_by_status=by_status,
        top_products=_top_products(orders),
    )


def _by_day_and_status(
    orders: QuerySet[Order], zone: ZoneInfo
) -> QuerySet[Order, tuple[date, str, int, int]]:
    days = orders.annotate(day=TruncDate("created_at", tzinfo=zone))
    return days.values_list("day", "status").annotate(number=Count("pk"), revenue=Sum("amount"))


def _top_products(orders: QuerySet[Order]) -> list[TopProduct]:
    """Most units first; ties go to the higher revenue, then to the newer product."""
    sold_in = orders.exclude(status=OrderStatus.CANCELLED)
    items = OrderItem.objects.filter(order__in=sold_in, product_id__isnull=False).order_by()
    present = Product.objects.filter(pk=OuterRef("product_id")).values("name")
    sold = items.values("product_id").annotate(
        pieces=Sum("quantity"),
        revenue=Sum(Cast("price", WIDE) * F("quantity")),
        title=Coalesce(Subquery(present), Max("name")),
    )
    best = sold.order_by("-pieces", "-revenue", "-product_id")[:TOP]
    columns = best.values_list("product_id", "title", "pieces", "revenue")
    return [
        TopProduct(product, title, pieces, int(revenue))
        for product, title, pieces, revenue in columns
        if product is not None
    ]
