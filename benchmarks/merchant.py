"""Server time of the merchant's pages of a store with 10,000 orders and as many products, to one with 100 (`portal.py` measures)."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from django.utils import timezone

from accounts.enums import Role
from accounts.models import Business
from benchmarks import shops
from benchmarks.options import Options
from benchmarks.portal import FEW, browser_of, measured
from benchmarks.results import Row
from merchants.constants import NAMED_BY
from stores.enums import OrderStatus
from stores.models import Order, OrderItem, Product, StoreTotals

PAGES: Final = {
    "home": "",
    "home, 90 days": "?days=90",
    "orders": "orders/",
    "orders, open": "orders/?view=open",
    "orders, unpaid": "orders/?view=unpaid",
    "orders, to pick up": "orders/?view=pickup",
    "orders, late": "orders/?view=late",
    "orders, page 4": "orders/?page=4",
    "orders by number": "orders/?q=77",
    "orders by name": "orders/?q=Customer+7",
    "orders by e-mail": "orders/?q=c7%40example.com",
    "orders, a name that is nowhere": "orders/?q=zeppelin",
    "products": "products/",
    "products, page 4": "products/?page=4",
    "products, low": "products/?show=low",
    "products of a category": "products/?category=Category+7",
    "products by name": "products/?q=Product+77",
    "products, a word that is nowhere": "products/?q=zeppelin",
}
SPAN: Final = timedelta(days=120)


def merchant(options: Options) -> Iterator[Row]:
    """Every list of a store, each way to narrow it, and the home page."""
    rows, times = (1_000, 5) if options.quick else (10_000, 20)
    owner = shops.user(Role.MERCHANT)
    few, many = (_seed(owner, count) for count in (FEW, rows))
    client = browser_of(owner)
    for name, text in PAGES.items():
        path = f"/merchant/{text}{'&' if '?' in text else '?'}{NAMED_BY}="
        yield measured("Merchant", name, client, path + few.slug, path + many.slug, times, rows)


def _seed(owner: Any, rows: int) -> Business:
    shop = Business.objects.create(owner=owner, name=f"Shop of {rows}", slug=f"shop-of-{rows}-{owner.pk}")
    Product.objects.bulk_create(
        Product(
            business=shop, name=f"Product {number}", slug=f"product-{number}", price=100 + number,
            category=f"Category {number % 40}", stock=number % 50, low_stock_threshold=5,
        )
        for number in range(rows)
    )  # fmt: skip
    start, statuses = timezone.now(), OrderStatus.values
    orders = Order.objects.bulk_create(
        Order(
            business=shop, number=str(number), status=statuses[number % len(statuses)], subtotal=500, amount=500,
            currency="USD", delivery_method="PICKUP", payment_method="CASH", customer_name=f"Customer {number % 900}",
            customer_email=f"c{number % 900}@example.com", created_at=start - SPAN * number / rows,
        )
        for number in range(rows)
    )  # fmt: skip
    OrderItem.objects.bulk_create(
        OrderItem(order=order, product_id=shop.pk, name=f"Product {number}", price=250, quantity=1)
        for order in orders
        for number in range(2)
    )
    StoreTotals.objects.update_or_create(business=shop, defaults={"orders": rows, "products": rows})
    return shop
