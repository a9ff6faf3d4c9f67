"""What the home page shows of a store besides its sales: what waits, the newest orders, the first steps."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.urls import reverse
from django.utils import timezone

from accounts.models import Business
from merchants.attention import Concern
from merchants.store.queries import Waiting
from stores.models import Order, Product
from stores.queries import store_settings

NEWEST: Final = 5
NEW: Final = timedelta(days=30)  # for which a store is shown its first steps


def newest_orders(business: Business) -> list[Order]:
    rows = Order.objects.filter(business=business).select_related("business", "payment")
    return list(rows.order_by("-id")[:NEWEST])


def store_concerns(found: Waiting) -> list[Concern]:
    """Orders and products that wait for the merchant."""
    concerns = []
    if found.waiting:
        title = _counted(found.waiting, "order to confirm", "orders to confirm")
        concerns.append(
            _concern("info", "receipt", title, "Customers wait for your answer.", "status=PENDING")
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
