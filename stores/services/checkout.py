"""Placing an order: the one path for the storefront and the app API (contract, section 4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Business
from common.db.inserts import insert
from common.db.transactions import forbid_transaction
from common.errors import Conflict, ErrorDetail, Invalid, Refused
from common.ids import new_id
from common.secrets import digest
from common.validation import field_problems
from stores import hookpoints, queries, signals
from stores.enums import DeliveryMethod, OrderChangeKind, OrderValidation
from stores.hookpoints import Flow, HookPart, PaymentMethod
from stores.models import Order, OrderItem
from stores.services.basket import Basket, OrderLine, find_basket, lock_basket, merge, read_basket
from stores.services.catalogue.stock import announce, move_stock
from stores.services.history import SHOPPER, Actor, record, record_parts
from stores.services.payments import chosen_method, make_payment, open_payment, require_time_for_payment
from stores.services.totals import count_order, has_currency

__all__ = ["PRICES_CHANGED", "OrderLine", "OrderRequest", "Price", "place_order", "quote"]

# If prices change while apps are being asked, their answers are outdated and they are asked again. A store whose
# prices change faster than that can't accept the order.
ROUNDS = 3

PRICES_CHANGED = gettext_lazy(
    "The prices or items have changed since you opened this page. Check the summary."
)
DEFAULT_REFUSAL = gettext_lazy("The store can't accept this order.")

WIRE_NAMES = {
    "customer_name": "customer.name",
    "customer_email": "customer.email",
    "customer_phone": "customer.phone",
    "delivery_method": "deliveryMethod",
    "address": "address",
    "payment_method": "paymentMethod",
    "note": "note",
}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """An order on its way. Its id is made first, so that calls of hooks can name it; a quote has none."""

    business: Business
    request: OrderRequest
    flow: Flow
    order_id: UUID | None = None
    method: PaymentMethod | None = None
    by: Actor = SHOPPER
    page_key: str = ""
    cart_digest: str = ""
    now: datetime | None = None


@dataclass(frozen=True, slots=True)
class PricedBasket:
    """The result of asking the apps about a basket."""

    price: Price
    parts: tuple[HookPart, ...]
    validation: OrderValidation = OrderValidation.VALID


def quote(
    *, business: Business, items: Sequence[OrderLine], delivery_method: str, locality: str = ""
) -> Price:
    """The current price of an order of these lines, apps included. Nothing is saved, and `order.validate` is not asked.

    Not inside a transaction. Raises `NotFound` and `Conflict` as `place_order` does.
    """
    forbid_transaction()
    request = OrderRequest(
        items=items, customer_name="", delivery_method=delivery_method, payment_method="", locality=locality
    )
    checkout = Checkout(business=business, request=request, flow=Flow.start())
    return _price(checkout, read_basket(business, merge(items))).price


def place_order(
    *,
    business: Business,
    request: OrderRequest,
    offered: Sequence[PaymentMethod] = (),
    by: Actor = SHOPPER,
    page_key: str = "",
    cart_digest: str = "",
    now: datetime | None = None,
    on_saved: Callable[[Order], None] | None = None,
) -> Order:
    """Check the request, ask the hook points, save the order, request its payment.

    `offered` are the methods that this customer's checkout page showed; any other app's method is accepted only if
    its owner offers it now. `page_key` opens the order's page in the storefront, and `cart_digest` is that of the
    cart it is placed from. `on_saved` is called inside the transaction that saves the order, so that its rows commit
    together; calling this function inside a transaction is a RuntimeError. Returns the order with its lines, and with its payment if an app makes one. A failed payment does
    not undo the order.

    Raises `Invalid`, `NotFound` for an unknown product, `Conflict` for an unavailable product or if the subtotal is
    not the expected one, `Refused` with the reason of the app that refused, and `Unavailable` if the payment's app
    can't be waited for.
    """
    forbid_transaction()
    _check(business, request)
    method = chosen_method(business, request.payment_method, offered)
    order = _agree_and_save(
        Checkout(
            business=business,
            request=request,
            flow=Flow.start(),
            order_id=new_id(),
            method=method,
            by=by,
            page_key=page_key,
            cart_digest=cart_digest,
            now=now,
        ),
        on_saved,
    )
    return make_payment(order=order, now=now) if method else order


def _agree_and_save(checkout: Checkout, on_saved: Callable[[Order], None] | None) -> Order:
    for _round in range(ROUNDS):
        basket = find_basket(checkout.business, merge(checkout.request.items))
        terms = _agree(checkout, basket)
        if checkout.method:
            require_time_for_payment(
                checkout.business, checkout.method
            )  # it is asked for after the order is saved
        if order := _save(checkout, basket, terms, on_saved):
            return order
    raise _changing()


def _changing() -> Conflict:
    return Conflict(_("Prices are changing right now. Please place the order again."), code="prices_changing")


def _check(business: Business, request: OrderRequest) -> None:
    """Report every problem that doesn't depend on products, all at once."""
    problems = field_problems(_unpriced(business, request), WIRE_NAMES)
    problems += _contact_problems(request) + _item_problems(request)
    if request.promo_discount < 0:
        problems.append({"field": "promoDiscount", "message": "Must be at least 0."})
    if problems:
        raise Invalid.fields(problems)


def _contact_problems(request: OrderRequest) -> list[ErrorDetail]:
    problems: list[ErrorDetail] = []
    if not request.customer_email and not request.customer_phone:
        problems.append({"field": "customer", "message": _("Enter an e-mail address or a phone number.")})
    if request.delivery_method == DeliveryMethod.DELIVERY and not request.address.strip():
        problems.append({"field": "address", "message": _("A delivery needs an address.")})
    return problems


def _item_problems(request: OrderRequest) -> list[ErrorDetail]:
    if not request.items:
        return [{"field": "items", "message": "An order needs at least one item."}]
    return [
        {"field": f"items[{index}].quantity", "message": "Must be at least 1."}
        for index, line in enumerate(request.items)
        if line.quantity < 1
    ]


def _agree(checkout: Checkout, basket: Basket) -> PricedBasket:
    """Ask the three hook points before an order is saved, in one flow."""
    request = checkout.request
    if request.promo_discount > basket.subtotal:
        raise Invalid.field("promoDiscount", "Must not be more than the subtotal.")
    basket.check_available()
    if request.expected_subtotal not in (None, basket.subtotal):
        raise Conflict(str(PRICES_CHANGED), code="prices_changed")
    asked = hookpoints.ask_verdict(
        business=checkout.business,
        lines=basket.lines,
        subtotal=basket.subtotal,
        delivery_method=request.delivery_method,
        flow=checkout.flow,
        order_id=checkout.order_id,
    )
    if not asked.answer.valid:
        raise Refused(asked.answer.reason or str(DEFAULT_REFUSAL))
    terms = _price(checkout, basket)
    validation = OrderValidation.VALID if asked.answer.all_heard else OrderValidation.NOT_VALIDATED
    return PricedBasket(terms.price, asked.parts + terms.parts, validation)


def _price(checkout: Checkout, basket: Basket) -> PricedBasket:
    request = checkout.request
    built_in_fee = queries.delivery_fee(checkout.business, request.delivery_method)
    discount = hookpoints.ask_discount(
        business=checkout.business,
        lines=basket.lines,
        subtotal=basket.subtotal,
        promo_discount=request.promo_discount,
        delivery_fee=built_in_fee,
        flow=checkout.flow,
        order_id=checkout.order_id,
    )
    fee = hookpoints.ask_shipping_fee(
        business=checkout.business,
        delivery_method=request.delivery_method,
        locality=request.locality,
        subtotal=basket.subtotal,
        built_in_fee=built_in_fee,
        flow=checkout.flow,
        order_id=checkout.order_id,
    )
    price = Price(
        subtotal=basket.subtotal,
        discount=min(request.promo_discount + discount.answer.amount, basket.subtotal),
        discount_reason=discount.answer.reason[:300],
        delivery_fee=fee.answer,
    )
    return PricedBasket(price, discount.parts + fee.parts)


def _save(
    checkout: Checkout, agreed: Basket, terms: PricedBasket, on_saved: Callable[[Order], None] | None
) -> Order | None:
    """The one transaction. Returns None and writes nothing if the price differs from the one that apps were asked about.

    Raises `Conflict` if the store has another currency by now.
    """
    with transaction.atomic(durable=True):
        basket = lock_basket(checkout.business, agreed.lines)
        if basket.subtotal != agreed.subtotal:
            return None
        now = checkout.now or timezone.now()
        crossings = move_stock(basket.products, basket.taken, now=now)
        order = _write(checkout, basket, terms, now)
        record(order, OrderChangeKind.PLACED, by=checkout.by, now=now)
        record_parts(order, terms.parts, now=now)
        if checkout.method:
            open_payment(order=order, provider=checkout.method.provider, now=now)
        signals.order_created.send(sender=Order, order=order, now=now)
        announce(crossings, now=now)
        if on_saved:
            on_saved(order)
    return order


def _unpriced(business: Business, request: OrderRequest) -> Order:
    return Order(
        business=business,
        currency=business.currency,
        customer_name=request.customer_name,
        customer_email=request.customer_email,
        customer_phone=request.customer_phone,
        delivery_method=request.delivery_method,
        address=request.address,
        payment_method=request.payment_method,
        note=request.note,
    )


def _write(checkout: Checkout, basket: Basket, terms: PricedBasket, now: datetime) -> Order:
    order, method = _unpriced(checkout.business, checkout.request), checkout.method
    assert checkout.order_id is not None
    order.id = checkout.order_id
    order.page_key_digest = digest(checkout.page_key) if checkout.page_key else None
    order.cart_digest = checkout.cart_digest
    order.payment_method_name = method.name[:200] if method else ""
    order.subtotal = basket.subtotal
    order.discount = terms.price.discount
    order.discount_reason = terms.price.discount_reason
    order.delivery_fee = terms.price.delivery_fee
    order.amount = order.subtotal - order.discount + order.delivery_fee
    order.validation = terms.validation
    order.created_at = order.updated_at = now
    order.number = count_order(checkout.business)
    if not has_currency(
        checkout.business, order.currency
    ):  # what the customer and the apps said is in the one of before
        raise _changing()
    order.lines = _items(order, basket)
    insert(order)
    insert(*order.lines)
    Order._meta.get_field("payment").set_cached_value(order, None)  # no app need be asked
    return order


def _items(order: Order, basket: Basket) -> list[OrderItem]:
    return [
        OrderItem(
            order=order,
            product_id=line.product_id,
            name=product.name,
            quantity=line.quantity,
            price=product.price,
            from_stock=product.stock is not None,
        )
        for line in basket.lines
        for product in [basket.products[line.product_id]]
    ]
