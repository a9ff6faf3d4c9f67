"""What a shopper has gathered: kept in the session, for each shop apart.

Only product ids, numbers and the names as they were; prices and stock are read each time it is looked at. A
product that can't be had any more stays in the cart and says so, until the shopper takes it out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.sessions.backends.base import SessionBase

from accounts.models import Business
from common.errors import Conflict
from stores.enums import ProductStatus
from stores.models import Order, Product
from stores.services.checkout import OrderLine

MAX_LINES = 100  # as for a guest order
MAX_QUANTITY = 999
KEPT_ORDERS = 5


@dataclass(frozen=True, slots=True)
class CartLine:
    """`product` is None where it is gone; `problem` says why the line can't be ordered."""

    product_id: UUID
    name: str
    quantity: int
    product: Product | None

    @property
    def amount(self) -> int:
        """Minor units; 0 where there is nothing to be had."""
        return 0 if self.product is None or self.problem else self.product.price * self.quantity

    @property
    def problem(self) -> str:
        if self.product is None:
            return "The shop has taken it out of its range."
        return shortage(self.product, self.quantity)


def shortage(product: Product, quantity: int) -> str:
    """Why a shopper can't have so many of a product; empty where they can."""
    if product.status != ProductStatus.ACTIVE:
        return "It is no longer sold."
    if not product.is_available:
        return "It is not available at the moment."
    if product.stock is None or product.stock >= quantity:
        return ""
    return "It is sold out." if product.stock == 0 else f"Only {product.stock} left."


class Cart:
    """One shopper's cart in one shop, and the orders that came of it."""

    def __init__(self, session: SessionBase, business: Business) -> None:
        self._session = session
        self._business = business
        self._key = f"store:{business.pk}"
        self._kept: dict[str, Any] = session.get(self._key) or {}
        self._quantities: dict[str, int] = self._kept.setdefault("quantities", {})
        self._names: dict[str, str] = self._kept.setdefault("names", {})

    @property
    def count(self) -> int:
        """How many pieces are in it."""
        return sum(self._quantities.values())

    def add(self, product: Product, quantity: int) -> None:
        """Raises `Conflict` where so many can't be had."""
        key = str(product.pk)
        already = self._quantities.get(key, 0)
        if problem := shortage(product, already + quantity):
            raise Conflict(f"{problem} You have {already} already." if already else problem)
        if already + quantity > MAX_QUANTITY:
            raise Conflict(f"An order takes at most {MAX_QUANTITY} of a product.")
        if key not in self._quantities and len(self._quantities) >= MAX_LINES:
            raise Conflict(f"An order takes at most {MAX_LINES} different products.")
        self._quantities[key] = already + quantity
        self._names[key] = product.name
        self._save()

    def change(self, product_id: str, quantity: int) -> None:
        """Another number of what is in it already; 0 takes it out."""
        if product_id not in self._quantities:
            return
        if quantity <= 0:
            del self._quantities[product_id]
            del self._names[product_id]
        else:
            self._quantities[product_id] = min(quantity, MAX_QUANTITY)
        self._save()

    def lines(self) -> list[CartLine]:
        """In the order in which they were put in, with the products of this moment."""
        products = Product.objects.filter(business=self._business).in_bulk(map(UUID, self._quantities))
        return [
            CartLine(
                product_id=UUID(key),
                name=product.name if (product := products.get(UUID(key))) else self._names[key],
                quantity=quantity,
                product=product,
            )
            for key, quantity in self._quantities.items()
        ]

    # --- Orders -------------------------------------------------------------------------------------

    def order_placed(self, order: Order, key: str) -> None:
        """Take out what was ordered, and remember the order's page; once, however often this is called.

        What has got another number meanwhile was put in anew, and stays.
        """
        if any(known["key"] == key for known in self.orders):
            return
        for item in order.items.all():
            if self._quantities.get(str(item.product_id)) == item.quantity:
                del self._quantities[str(item.product_id)]
                del self._names[str(item.product_id)]
        self._kept["orders"] = [{"key": key, "number": order.number}, *self.orders][:KEPT_ORDERS]
        self._save()

    @property
    def orders(self) -> list[dict[str, str]]:
        """The latest orders of this session, newest first: `{"key", "number"}`."""
        found: list[dict[str, str]] = self._kept.get("orders", [])
        return found

    def _save(self) -> None:
        self._session[self._key] = self._kept


def order_lines(lines: Sequence[CartLine]) -> list[OrderLine]:
    return [OrderLine(line.product_id, line.quantity) for line in lines]


def subtotal(lines: Sequence[CartLine]) -> int:
    return sum(line.amount for line in lines)
