"""The merchant's pages of a store with 10,000 orders and as many products, and of one with 100, to a stock page (`pages.py` measures)."""

import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from django.utils import timezone

from accounts.enums import Role
from accounts.models import Business
from benchmarks import shops
from benchmarks.options import Options
from benchmarks.pages import FEW, FRAME, Area, Asked, browser_of, stock_page
from benchmarks.results import Row
from installations.models import Installation
from merchants.lists import NAMED_BY
from stores.enums import OrderStatus
from stores.models import Order, Product, StoreTotals
from stores.samples.store import write_orders

PAGES: Final = {
    "home": "",
    "home, 90 days": "?days=90",
    "orders": "orders/",
    "orders, open": "orders/?view=open",
    "orders, unpaid": "orders/?view=unpaid",
    "orders, to pick up": "orders/?view=pickup",
    "orders, late": "orders/?view=late",
    "orders, page 4": "orders/?page=4",
    "orders by number": "orders/?q=1077",
    "orders by name": "orders/?q=Customer+7",
    "orders by e-mail": "orders/?q=c7%40example.com",
    "orders, a name that is nowhere": "orders/?q=zeppelin",
    "products": "products/",
    "products, page 4": "products/?page=4",
    "products, low": "products/?show=low",
    "products of a category": "products/?category=Category+7",
    "products by name": "products/?q=Product+77",
    "products, a word that is nowhere": "products/?q=zeppelin",
    "one order": "orders/{order}/",
    "one product": "products/{product}/",
    "apps": "apps/",
    "one app": "apps/{installation}/",
    "notices": "notices/",
    "reviews": "reviews/",
    "customers": "customers/",
    "scripts": "scripts/",
    "staff": "staff/",
    "settings": "store/",
}
FRAME_OF: Final = "pages/"  # an empty list: nothing but the frame
APPS: Final = 8
SPAN: Final = timedelta(days=120)


def merchant(options: Options) -> Iterator[Row]:
    """Every list of a store, each way to narrow it, details, forms, and the home page. The store has some apps."""
    rows = 1_000 if options.quick else 10_000
    owner = shops.user(Role.MERCHANT)
    few, many = (seed(owner, count) for count in (FEW, rows))
    with stock_page(options) as stock:
        area, client = Area("Merchant", options, stock, rows), browser_of(owner)
        yield area.row(
            Asked(
                "the frame: a list without rows", client, _path(few, FRAME_OF), _path(many, FRAME_OF), FRAME
            )
        )
        for name, text in PAGES.items():
            yield area.row(Asked(name, client, _path(few, text), _path(many, text)))
        yield area.slowest()
        yield from area.served()


def _path(shop: Business, text: str) -> str:
    """`text` with the ids of this store filled in."""
    order, product = (
        Order.objects.filter(business=shop).latest("id"),
        Product.objects.filter(business=shop).latest("id"),
    )
    app = Installation.objects.filter(business=shop).latest("id")
    found = text.format(order=order.pk, product=product.pk, installation=app.pk)
    return f"/merchant/{found}{'&' if '?' in found else '?'}{NAMED_BY}={shop.slug}"


def seed(owner: Any, rows: int) -> Business:
    shop = Business.objects.create(owner=owner, name=f"Shop of {rows}", slug=f"shop-of-{rows}-{owner.pk}")
    Product.objects.bulk_create(
        Product(
            business=shop, name=f"Product {number}", slug=f"product-{number}", price=100 + number,
            category=f"Category {number % 40}", stock=number % 50, low_stock_threshold=5,
        )
        for number in range(rows)
    )  # fmt: skip
    start, statuses = timezone.now(), OrderStatus.values
    write_orders(
        shop,
        Product.objects.filter(business=shop),
        (
            (start - SPAN * ago / rows, OrderStatus(statuses[ago % len(statuses)]))
            for ago in reversed(range(rows))
        ),
        chance=random.Random(rows),
        now=start,
        customers=[(f"Customer {number}", f"c{number}@example.com", "", "") for number in range(900)],
    )
    developer = shops.user(Role.DEVELOPER)
    Installation.objects.bulk_create(shops.installation(shops.app(developer), shop) for _ in range(APPS))
    StoreTotals.objects.update_or_create(business=shop, defaults={"orders": rows, "products": rows})
    return shop
