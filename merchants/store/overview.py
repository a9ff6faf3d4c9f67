"""What the home page shows of a store: its sales, what waits, the newest orders, the first steps."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cache, partial
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.db.models import Count, DateField, DateTimeField, F, Q, Sum
from django.db.models.functions import TruncDate
from django.urls import reverse
from django.utils import timezone

from accounts.models import Business
from common.db.compiled import Compiled, Param
from common.money import decimals, display
from common.web.charts import Chart, Number, Point, Scale, Series, chart
from merchants.frame import Concern
from merchants.store.queries import Waiting
from stores.dashboard import DaySpan
from stores.enums import OrderStatus
from stores.models import Order, StoreSettings, StoreVisits
from stores.queries import BUSINESS
from stores.standing import PAID

RANGES: Final = (7, 30, 90)  # days
NEWEST: Final = 6  # as high as the apps beside them
NEW: Final = timedelta(days=30)  # for which a store is shown its first steps
_ORDERS: Final = Compiled(
    lambda: Order.objects.filter(business=BUSINESS).select_related("payment").order_by("-id")
)
_SETUP: Final[Compiled[Any]] = Compiled(
    lambda: StoreSettings.objects.filter(business=BUSINESS).values_list(
        "logo_id", "hero_picture_id", "seen_at"
    ),
    prepared_as="merchants_setup",
)


def newest_orders(business: Business) -> list[Order]:
    orders = _ORDERS.rows(limit=NEWEST, business=business.pk)
    for each in orders:
        each.business = business
    return orders


def store_concerns(to_confirm: int, found: Waiting) -> list[Concern]:
    """Orders and products that wait for the merchant."""
    concerns = []
    if to_confirm:
        title = _counted(to_confirm, "order to confirm", "orders to confirm")
        concerns.append(
            _concern("info", "receipt", title, "Customers are waiting for confirmation.", "status=PENDING")
        )
    if found.unpaid:
        title = _counted(found.unpaid, "order is unpaid online", "orders are unpaid online")
        kind, text = "info", "The customer can still pay."
        if found.failed:
            kind, text = "warn", _counted(found.failed, "payment", "payments") + " failed or expired."
        concerns.append(_concern(kind, "credit-card", title, text, "payment=online"))
    if found.low:
        title = _counted(found.low, "product is low or sold out", "products are low or sold out")
        concerns.append(
            Concern("info", "package", title, "Restock them, or change their stock.", "View products",
                    f"{reverse('merchants:products')}?show=low")
        )  # fmt: skip
    return concerns


def _counted(number: int, one: str, several: str) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {several}"


def _concern(kind: str, icon_name: str, title: str, text: str, query: str) -> Concern:
    return Concern(kind, icon_name, title, text, "View orders", f"{reverse('merchants:orders')}?{query}")


@dataclass(frozen=True, slots=True)
class SetupStep:
    title: str
    text: str
    link: str
    address: str
    is_done: bool


def first_steps(business: Business, *, has_products: bool, has_apps: bool) -> list[SetupStep]:
    """None for a sandbox store, for one that is older than 30 days, and once all are done."""
    if business.is_sandbox or business.created_at < timezone.now() - NEW:
        return []
    logo, picture, seen_at = _SETUP.first(business=business.pk) or (None, None, None)
    steps = [
        SetupStep("Describe your store", "Its name and address, as customers see them.", "Open store settings",
             reverse("merchants:store"), bool(business.address)),
        SetupStep("Add a logo or a picture", "So that your store looks like yours.", "Open store settings",
             reverse("merchants:store"), bool(logo or picture)),
        SetupStep("Add a product", "With a price, a picture and what you have in stock.", "Add product",
             reverse("merchants:product_add"), has_products),
        SetupStep("Look at your store", "As your customers see it.", "View store",
             reverse("merchants:view_store"), bool(seen_at)),
        SetupStep("Install an app", "Payment methods, delivery prices, loyalty and more.", "Browse apps",
             reverse("merchants:marketplace"), has_apps),
    ]  # fmt: skip
    return [] if all(each.is_done for each in steps) else steps


# What a store sold in the last days, paid and unpaid apart, and how often it was visited, beside the days
# before.


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

    def add(self, orders: int, revenue: int, paid: int) -> None:
        self.orders += orders
        self.paid += paid
        self.unpaid += revenue - paid


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
            scale=Scale(partial(_whole, business), unit=10 ** decimals(business.currency)),
        )


def _whole(business: Business, minor: Number, _top: Number) -> str:
    """An amount of whole dollars, as the grid of a plot names it."""
    return display(round(minor), business.currency, business.locale, is_whole=True)


def sales_of(business: Business, *, days: int, now: datetime | None = None) -> Sales:
    """The last `days` days of the store's time zone, and as many before them. Two statements."""
    zone = ZoneInfo(business.timezone)
    span = DaySpan.until(now or timezone.now(), zone, 2 * days)
    first = span.first + timedelta(days=days)
    by_day = {day: Sums() for day in span.dates if day >= first}
    whole, before = Sums(), Sums()
    start, end = span.bounds
    for day, *sold in _by_day(zone).rows(business=business.pk, start=start, end=end):
        for sums in (by_day[day], whole) if day >= first else (before,):
            sums.add(*sold)
    for day, number in _VISITS.rows(business=business.pk, first=span.first):
        (whole if day >= first else before).visits += number
    return Sales(days, whole, before, by_day)


_VISITS: Final[Compiled[Any]] = Compiled(
    lambda: StoreVisits.objects.filter(business=BUSINESS, day__gte=Param("first", DateField())).values_list(
        "day", "visits"
    ),
    prepared_as="merchants_visits",
)


@cache
def _by_day(zone: ZoneInfo) -> Compiled[Any]:
    """The day, the number of its orders, their amounts, and what is paid of these."""
    start, end = (Param(name, DateTimeField()) for name in ("start", "end"))
    rows = Order.objects.filter(business=BUSINESS, created_at__gte=start, created_at__lt=end).order_by()
    counts, net = ~Q(status=OrderStatus.CANCELLED), F("amount") - F("refunded")
    revenue, paid = (Sum(net, filter=which, default=0) for which in (counts, counts & PAID))
    days = rows.annotate(day=TruncDate("created_at", tzinfo=zone)).values_list("day")
    return Compiled(lambda: days.annotate(number=Count("pk"), revenue=revenue, paid=paid))
