"""Changes of stock by orders."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from accounts.models import Business
from stores import signals
from stores.enums import StockCrossing, stock_crossing
from stores.models import Order, Product

Crossing = tuple[Product, StockCrossing]


def lock_products(business: Business, ids: Iterable[UUID]) -> dict[UUID, Product]:
    """The current rows, locked until the transaction ends, without deleted ones.

    Always locked in the order of ids, so that two orders with the same products wait instead of deadlocking.
    `no_key` allows other rows to reference them meanwhile.
    """
    rows = Product.objects.filter(business=business, pk__in=set(ids)).order_by("id")
    return {product.pk: product for product in rows.select_for_update(no_key=True)}


def move_stock(products: Mapping[UUID, Product], by: Mapping[UUID, int], *, now: datetime) -> list[Crossing]:
    """Change the stock of locked products, in one statement. Untracked ones stay unchanged.

    Returns the crossed thresholds, for `announce`: the order's own signal is sent first.
    """
    moved, crossings = [], []
    for product_id, difference in by.items():
        product = products.get(product_id)
        if product is None or product.stock is None:
            continue
        before, product.stock = product.stock, product.stock + difference
        product.updated_at = now
        moved.append(product)
        if crossing := stock_crossing(before, product.stock, product.low_stock_threshold):
            crossings.append((product, crossing))
    Product.objects.bulk_update(moved, ["stock", "updated_at"])
    return crossings


def announce(crossings: Iterable[Crossing], *, now: datetime) -> None:
    for product, crossing in crossings:
        signals.stock_crossed.send(sender=Product, product=product, crossing=crossing, now=now)


def give_back(order: Order, *, now: datetime) -> list[Crossing]:
    """Return the order's stock to the products that still exist and are still tracked."""
    taken: dict[UUID, int] = {}
    for item in order.items.filter(from_stock=True):
        taken[item.product_id] = taken.get(item.product_id, 0) + item.quantity
    return move_stock(lock_products(order.business, taken), taken, now=now)
