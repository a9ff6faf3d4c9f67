"""What an order costs: its basket, with current prices and stock, and the part of apps in its price."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.models import Business
from common.db.transactions import forbid_transaction
from common.errors import Conflict, Invalid, NotInBody, Refused
from stores import hookpoints, queries
from stores.buyers.shoppers import NOBODY, Buyer
from stores.enums import OrderValidation, ProductStatus
from stores.hookpoints import MAX_MINOR, Flow, HookPart
from stores.models import Product
from stores.services.catalogue.stock import find_products

PRICES_CHANGED = gettext_lazy(
    "The prices or items have changed since you opened this page. Check the summary."
)
DEFAULT_REFUSAL = gettext_lazy("The store can't accept this order.")


@dataclass(frozen=True, slots=True)
class OrderLine:
    product_id: UUID
    quantity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRequest:
    """The customer's request. `promo_discount` is in minor units.

    `locality`, the town, is for shipping apps and is also part of `address`. `expected_subtotal`, in minor units,
    is what the customer was shown; None accepts any.
    """

    items: Sequence[OrderLine]
    customer_name: str
    delivery_method: str
    payment_method: str
    customer_email: str = ""
    customer_phone: str = ""
    address: str = ""
    locality: str = ""
    promo_discount: int = 0
    note: str = ""
    expected_subtotal: int | None = None


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


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a basket, with apps' discounts and delivery fee. Minor units."""

    subtotal: int
    discount: int
    discount_reason: str
    delivery_fee: int

    @property
    def amount(self) -> int:
        return self.subtotal - self.discount + self.delivery_fee


@dataclass(frozen=True, slots=True)
class PricedBasket:
    """The result of asking the apps about a basket."""

    basket: Basket
    price: Price
    parts: tuple[HookPart, ...]
    validation: OrderValidation = OrderValidation.VALID


def merge(lines: Sequence[OrderLine]) -> list[OrderLine]:
    """One line per product; quantities of repeated products are added."""
    wanted: dict[UUID, int] = {}
    for line in lines:
        wanted[line.product_id] = wanted.get(line.product_id, 0) + line.quantity
    return [OrderLine(product_id, quantity) for product_id, quantity in wanted.items()]


def read_basket(
    business: Business, lines: Sequence[OrderLine], *, promo_discount: int = 0, locked: bool = False
) -> Basket:
    """The lines with their products, which are locked with `locked`.

    Raises `NotFound` for an unknown product, `Invalid` if the total is too large or less than `promo_discount`, and
    `Conflict` for an unavailable product.
    """
    ids = [line.product_id for line in lines]
    return _basket(lines, find_products(business, ids, locked=locked), promo_discount)


def _basket(lines: Sequence[OrderLine], products: Mapping[UUID, Product], promo_discount: int) -> Basket:
    for line in lines:
        if line.product_id not in products:
            raise NotInBody(f"Product {line.product_id} not found")
    basket = Basket(lines, products)
    if basket.subtotal > MAX_MINOR:
        raise Invalid.field("items", _("The order is too large."))
    if promo_discount > basket.subtotal:
        raise Invalid.field("promoDiscount", "Must not be more than the subtotal.")
    for line in lines:
        _check_line(products[line.product_id], line.quantity)
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


def quote(
    *,
    business: Business,
    items: Sequence[OrderLine],
    delivery_method: str,
    locality: str = "",
    buyer: Buyer = NOBODY,
) -> Price:
    """The current price of an order of these lines, apps included. Nothing is saved, and `order.validate` is not asked.

    Not inside a transaction. Raises `NotFound` and `Conflict` as `place_order` does.
    """
    forbid_transaction()
    request = OrderRequest(
        items=items, customer_name="", delivery_method=delivery_method, payment_method="", locality=locality
    )
    return agree(business=business, request=request, flow=Flow.start(buyer=buyer)).price


def agree(
    *, business: Business, request: OrderRequest, flow: Flow, order_id: UUID | None = None
) -> PricedBasket:
    """Ask the hook points before an order is saved, in one flow. Without an id nothing will be saved, and no verdict is asked."""
    basket = read_basket(business, merge(request.items), promo_discount=request.promo_discount)
    if request.expected_subtotal not in (None, basket.subtotal):
        raise Conflict(str(PRICES_CHANGED), code="prices_changed")
    built_in_fee = queries.delivery_fee(business, request.delivery_method)
    validation, parts = OrderValidation.VALID, tuple[HookPart, ...]()
    if order_id is not None:
        verdict = hookpoints.ask_verdict(
            business=business, lines=basket.lines, subtotal=basket.subtotal, delivery_method=request.delivery_method,
            flow=flow, order_id=order_id,
        )  # fmt: skip
        if not verdict.answer.valid:
            raise Refused(verdict.answer.reason or str(DEFAULT_REFUSAL))
        if not verdict.answer.all_heard:
            validation = OrderValidation.NOT_VALIDATED
        parts = verdict.parts
    discount = hookpoints.ask_discount(
        business=business, lines=basket.lines, subtotal=basket.subtotal, promo_discount=request.promo_discount,
        delivery_fee=built_in_fee, flow=flow, order_id=order_id,
    )  # fmt: skip
    fee = hookpoints.ask_shipping_fee(
        business=business, delivery_method=request.delivery_method, locality=request.locality, subtotal=basket.subtotal,
        built_in_fee=built_in_fee, flow=flow, order_id=order_id,
    )  # fmt: skip
    price = Price(
        subtotal=basket.subtotal,
        discount=min(request.promo_discount + discount.answer.amount, basket.subtotal),
        discount_reason=discount.answer.reason[:300],
        delivery_fee=fee.answer,
    )
    return PricedBasket(basket, price, parts + discount.parts + fee.parts, validation)
