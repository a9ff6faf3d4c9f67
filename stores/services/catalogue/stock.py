"""Changes of stock by orders."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from uuid import UUID

from django.db import connection
from django.db.models import UUIDField

from accounts.enums import StoreNotice
from accounts.models import Business
from common.db.compiled import AmongIds, Compiled, Param
from stores import signals
from stores.enums import StockCrossing, is_low
from stores.models import Order, Product
from stores.records import ProductRecord
from stores.services.merchant_mails import note

Crossing = tuple[Product, StockCrossing]


def find_products(business: Business, ids: Iterable[UUID], *, locked: bool = False) -> dict[UUID, Product]:
    """The current rows, without deleted ones; with `locked`, locked until the transaction ends.

    Always locked in the order of ids, so that two orders with the same products wait instead of deadlocking.
    """
    if not (wanted := set(ids)):
        return {}
    rows = _products(locked).rows(business=business.pk, ids=wanted)
    return {product.pk: product for product in rows}


@cache
def _products(locked: bool) -> "Compiled[Product]":
    """Products of a business. `no_key` allows other rows to reference them meanwhile."""
    of_business = Product.objects.filter(AmongIds("id", "ids"), business=Param("business", UUIDField()))
    rows = of_business.order_by("id")
    return Compiled(lambda: rows.select_for_update(no_key=True) if locked else rows)


def stock_crossing(before: int | None, after: int | None, threshold: int | None) -> StockCrossing | None:
    """The threshold that a change of stock crossed, if any (contract, section 9, "Orders").

    Low: falls from at least the threshold to below it and stays above 0. Out: reaches 0. Back: rises from 0.
    Untracked stock (None) crosses nothing.
    """
    if before is None or after is None or before == after:
        return None
    if after == 0:
        return StockCrossing.OUT_OF_STOCK
    if before == 0:
        return StockCrossing.BACK_IN_STOCK
    if is_low(after, threshold) and not is_low(before, threshold):
        return StockCrossing.LOW_STOCK
    return None


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
    if moved:
        _save_stock(moved, now)
    return crossings


# `bulk_update` takes ten times as long in Python, to compile a CASE for each product.
_UPDATE = """
UPDATE stores_product SET stock = moved.stock, updated_at = %s
FROM unnest(%s::uuid[], %s::integer[]) AS moved (id, stock) WHERE stores_product.id = moved.id
"""


def _save_stock(products: Sequence[Product], now: datetime) -> None:
    if connection.vendor != "postgresql":
        Product.objects.bulk_update(products, ["stock", "updated_at"])
        return
    with connection.cursor() as cursor:
        cursor.execute(
            _UPDATE, [now, [product.pk for product in products], [product.stock for product in products]]
        )


def announce(business: Business, crossings: Iterable[Crossing], *, now: datetime) -> None:
    for product, crossing in crossings:
        if crossing != StockCrossing.BACK_IN_STOCK:
            note(business=business, kind=StoreNotice.LOW_STOCK, now=now, about_id=product.pk)
        record = ProductRecord.of(product, business.currency)
        signals.stock_crossed.send(sender=Product, product=record, crossing=crossing, now=now)


def give_back(order: Order, *, now: datetime) -> list[Crossing]:
    """Return the order's stock to the products that still exist and are still tracked."""
    taken: dict[UUID, int] = {}
    for item in order.items.filter(from_stock=True):
        assert item.product_id  # it was in stock
        taken[item.product_id] = taken.get(item.product_id, 0) + item.quantity
    return move_stock(find_products(order.business, taken, locked=True), taken, now=now)
