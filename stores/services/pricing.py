"""The basket of an order, with current prices and stock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Business
from common.errors import Conflict, Invalid, NotFound
from stores.enums import ProductStatus
from stores.hookpoints import MAX_MINOR
from stores.models import Product
from stores.services.catalogue.stock import find_products


@dataclass(frozen=True, slots=True)
class OrderLine:
    product_id: UUID
    quantity: int


@dataclass(frozen=True)
class Basket:
    """Lines of different products, in the customer's order."""

    lines: Sequence[OrderLine]
    products: Mapping[UUID, Product]

    @property
    def subtotal(self) -> int:
        return sum(self.products[line.product_id].price * line.quantity for line in self.lines)

    @property
    def taken(self) -> dict[UUID, int]:
        """The changes of stock that the order causes."""
        return {line.product_id: -line.quantity for line in self.lines}

    def check_available(self) -> None:
        """Raises `Conflict` for the first product that is unavailable or has too little stock."""
        for line in self.lines:
            _check_line(self.products[line.product_id], line.quantity)


def merge(lines: Sequence[OrderLine]) -> list[OrderLine]:
    """One line per product; quantities of repeated products are added."""
    wanted: dict[UUID, int] = {}
    for line in lines:
        wanted[line.product_id] = wanted.get(line.product_id, 0) + line.quantity
    return [OrderLine(product_id, quantity) for product_id, quantity in wanted.items()]


def find_basket(business: Business, lines: Sequence[OrderLine]) -> Basket:
    """The lines with their products, available or not.

    Raises `NotFound` for an unknown product, and `Invalid` if the total is too large.
    """
    return _basket(lines, find_products(business, [line.product_id for line in lines]))


def read_basket(business: Business, lines: Sequence[OrderLine]) -> Basket:
    """Like `find_basket`, but raises `Conflict` for an unavailable product."""
    basket = find_basket(business, lines)
    basket.check_available()
    return basket


def lock_basket(business: Business, lines: Sequence[OrderLine]) -> Basket:
    """Like `read_basket`, with the products locked."""
    basket = _basket(lines, find_products(business, [line.product_id for line in lines], locked=True))
    basket.check_available()
    return basket


def _basket(lines: Sequence[OrderLine], products: Mapping[UUID, Product]) -> Basket:
    for line in lines:
        if line.product_id not in products:
            raise NotFound(f"Product {line.product_id} not found")
    basket = Basket(lines, products)
    if basket.subtotal > MAX_MINOR:
        raise Invalid.field("items", _("The order is too large."))
    return basket


def _check_line(product: Product, quantity: int) -> None:
    named = {"product": product.name}
    if product.status != ProductStatus.ACTIVE or not product.is_available:
        raise Conflict(_("%(product)s is not available.") % named, code="product_unavailable")
    if product.stock is None or product.stock >= quantity:
        return
    if product.stock == 0:
        raise Conflict(_("%(product)s is sold out.") % named, code="product_sold_out")
    words = ngettext(
        "There is not enough of %(product)s: %(number)d left.",
        "There is not enough of %(product)s: %(number)d left.",
        product.stock,
    )
    raise Conflict(words % {**named, "number": product.stock}, code="not_enough_stock")
