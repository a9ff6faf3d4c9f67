"""What the home page shows of a store besides today's figures: the last days, the newest orders, the first steps."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from django.urls import reverse
from django.utils import timezone

from accounts.models import Business
from common.web.charts import Bar, Plot
from merchants.attention import Concern
from merchants.store.queries import Today
from stores.dashboard import dashboard
from stores.models import Order, Product
from stores.queries import store_settings

DAYS: Final = 7
NEWEST: Final = 5
NEW: Final = timedelta(days=30)  # for which a store is shown its first steps


@dataclass(frozen=True, slots=True)
class DayOfSales:
    """One day. Its bars are in per cent of the drawing: one, or none without revenue."""

    date: date
    orders: int
    revenue: int  # minor units
    bars: list[Bar]


@dataclass(frozen=True, slots=True)
class Week:
    days: list[DayOfSales]  # the oldest first, today last
    revenue: int
    orders: int


def week_of(business: Business) -> Week:
    days = dashboard(business, days=DAYS).daily
    plot = Plot(step=100 / DAYS, width=11)
    bars = plot.bars([(each.revenue,) for each in days], "bar")
    sales = [
        DayOfSales(each.date, each.orders, each.revenue, row) for each, row in zip(days, bars, strict=True)
    ]
    return Week(sales, sum(each.revenue for each in days), sum(each.orders for each in days))


def newest_orders(business: Business) -> list[Order]:
    rows = Order.objects.filter(business=business).select_related("business")
    return list(rows.order_by("-id")[:NEWEST])


def store_concerns(today: Today) -> list[Concern]:
    """Orders and products that wait for the merchant."""
    found = []
    if today.waiting:
        title = "1 order to confirm" if today.waiting == 1 else f"{today.waiting:,} orders to confirm"
        found.append(
            Concern("info", "receipt", title, "Customers wait for your answer.", "View orders",
                    f"{reverse('merchants:orders')}?status=PENDING")
        )  # fmt: skip
    if today.low:
        title = (
            "1 product is low or sold out"
            if today.low == 1
            else f"{today.low:,} products are low or sold out"
        )
        found.append(
            Concern("info", "package", title, "Restock them, or change their stock.", "View products",
                    f"{reverse('merchants:products')}?show=low")
        )  # fmt: skip
    return found


@dataclass(frozen=True, slots=True)
class SetupStep:
    title: str
    text: str
    link: str
    address: str
    is_done: bool


def first_steps(business: Business, *, has_apps: bool) -> list[SetupStep]:
    """None for a sandbox store, for one that is older than 30 days, and once all are done."""
    if business.is_sandbox or business.created_at < timezone.now() - NEW:
        return []
    products = Product.objects.filter(business=business)
    look = store_settings(business)
    steps = [
        SetupStep("Describe your store", "Its name and address, as customers see them.", "Open store settings",
             reverse("merchants:store"), bool(business.address)),
        SetupStep("Add a logo or a picture", "So that your store looks like yours.", "Open store settings",
             reverse("merchants:store"), bool(look.logo_id or look.hero_picture_id)),
        SetupStep("Add a product", "With a price, a picture and what you have in stock.", "Add product",
             reverse("merchants:product_add"), products.exists()),
        SetupStep("Look at your store", "As your customers see it.", "View store",
             reverse("merchants:view_store"), bool(look.seen_at)),
        SetupStep("Install an app", "Payment methods, delivery prices, loyalty and more.", "Browse apps",
             reverse("merchants:marketplace"), has_apps),
    ]  # fmt: skip
    return [] if all(each.is_done for each in steps) else steps
