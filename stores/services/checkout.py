"""Placing an order: the one path for the storefront and the app API (contract, section 4). A checkout page of the storefront may be submitted more
than once; its visits are counted, too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import IntegrityError, transaction
from django.db.models import F, Model
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.enums import StoreNotice
from accounts.models import Business
from common.db.inserts import insert_each, insertion
from common.db.transactions import forbid_transaction
from common.errors import Conflict, ErrorDetail, Invalid, ServiceError, field_problems
from common.ids import new_id
from common.secrets import digest
from stores import queries, signals
from stores.buyers.shoppers import NOBODY, Buyer, note_orders, person_of, person_of_order
from stores.enums import DeliveryMethod, OrderChangeKind
from stores.hookpoints import Flow, PaymentMethod
from stores.models import Order, OrderItem, StoreVisits
from stores.records import OrderRecord
from stores.services.catalogue.stock import announce, move_stock
from stores.services.history import SHOPPER, Actor, change, parts_of
from stores.services.merchant_mails import note
from stores.services.order_mails import mail_placed
from stores.services.orders import require_orders_here
from stores.services.payments import chosen_method, make_payment, open_payment, require_time_for_payment
from stores.services.pricing import Basket, OrderRequest, PricedBasket, agree, read_basket
from stores.services.totals import count_order

# If prices change while apps are being asked, their answers are outdated and they are asked again. A store whose
# prices change faster than that can't accept the order.
ROUNDS = 3

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
class Checkout:
    """An order on its way. Its id is made first, so that calls of hooks can name it."""

    business: Business
    request: OrderRequest
    order_id: UUID
    method: PaymentMethod | None
    buyer: Buyer
    by: Actor
    page_key_digest: str
    cart_digest: str
    now: datetime | None
    on_saved: Callable[[Order], None] | None


def place_order(
    *,
    business: Business,
    request: OrderRequest,
    offered: Sequence[PaymentMethod] = (),
    buyer: Buyer = NOBODY,
    by: Actor = SHOPPER,
    page_key_digest: str = "",
    cart_digest: str = "",
    now: datetime | None = None,
    on_saved: Callable[[Order], None] | None = None,
) -> Order:
    """Check the request, ask the hook points, save the order, request its payment.

    `offered` are the methods that this customer's checkout page showed; any other app's method is accepted only if
    its owner offers it now. `buyer` is who orders, as far as the browser knows, with what apps have put into the cart. `page_key_digest` is that of the key that opens the order's page in the storefront, and
    `cart_digest` that of the cart it is placed from. `on_saved` is called inside the transaction that saves the order,
    so that its rows commit together; calling this function inside a transaction is a RuntimeError. Returns the order
    with its lines, and with its payment if an app makes one. A failed payment does not undo the order.

    Raises `Invalid`, `NotFound` for an unknown product, `Conflict` for an unavailable product or if the subtotal is
    not the expected one, `Refused` with the reason of the app that refused, and `Unavailable` if the payment's app
    can't be waited for.
    """
    forbid_transaction()
    require_orders_here(business)
    check_request(business, request)
    buyer = replace(buyer, person=person_of(request.customer_email, request.customer_phone))
    method = chosen_method(business, request.payment_method, offered, buyer)
    flow = Flow.start(buyer=buyer)
    checkout = Checkout(
        business=business,
        request=request,
        order_id=new_id(),
        method=method,
        buyer=buyer,
        by=by,
        page_key_digest=page_key_digest,
        cart_digest=cart_digest,
        now=now,
        on_saved=on_saved,
    )
    for _round in range(ROUNDS):
        agreed = agree(business=business, request=request, flow=flow, order_id=checkout.order_id)
        if method:
            require_time_for_payment(business, method.provider)  # it is asked for after the order is saved
        if order := _save(checkout, agreed):
            return make_payment(order=order, buyer=buyer, now=now) if method else order
    raise _changing()


def _changing() -> Conflict:
    return Conflict(_("Prices are changing right now. Please place the order again."), code="prices_changing")


def check_request(business: Business, request: OrderRequest) -> None:
    """Raise `Invalid` with every problem that doesn't depend on products."""
    order, others = _unpriced(business, request), _contact_problems(request) + _item_problems(request)
    problems = field_problems(order, WIRE_NAMES) + others
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


def _save(checkout: Checkout, agreed: PricedBasket) -> Order | None:
    """The one transaction. Returns None and writes nothing if the price differs from the one that apps were asked about.

    Raises `Conflict` if the store has another currency by now.
    """
    with transaction.atomic(durable=True):
        basket = read_basket(checkout.business, agreed.basket.lines, locked=True)
        if basket.subtotal != agreed.basket.subtotal:
            return None
        now = checkout.now or timezone.now()
        crossings = move_stock(basket.products, basket.taken, now=now)
        order = _write(checkout, basket, agreed, now)
        if checkout.method:
            open_payment(order=order, provider=checkout.method.provider, now=now)
        note(business=checkout.business, kind=StoreNotice.NEW_ORDERS, now=now, about_id=order.pk)
        signals.order_created.send(sender=Order, order=OrderRecord.of(order), now=now)
        announce(checkout.business, crossings, now=now)
        if checkout.on_saved:
            checkout.on_saved(order)
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


def _write(checkout: Checkout, basket: Basket, agreed: PricedBasket, now: datetime) -> Order:
    """Insert the order with its lines, the first line of its history, and what apps answered."""
    order, method, price = _unpriced(checkout.business, checkout.request), checkout.method, agreed.price
    order.id = checkout.order_id
    order.page_key_digest = checkout.page_key_digest or None
    order.cart_digest = checkout.cart_digest
    order.payment_method_name = method.name[:200] if method else ""
    order.subtotal = basket.subtotal
    order.discount = price.discount
    order.discount_reason = price.discount_reason
    order.delivery_fee = price.delivery_fee
    order.amount = order.subtotal - order.discount + order.delivery_fee
    order.validation = agreed.validation
    order.attributes = {owner: dict(own) for owner, own in checkout.buyer.attributes.items() if own} or None
    order.created_at = order.updated_at = now
    order.lines = _items(order, basket)
    number = count_order(checkout.business, order.currency)
    if number is None:  # what the customer and the apps said is in the currency of before
        raise _changing()
    order.number = number
    placed = change(order, OrderChangeKind.PLACED, by=checkout.by, now=now)
    parts = parts_of(order.pk, agreed.parts, now=now)
    people = note_orders(business_id=order.business_id, people=[person_of_order(order)], now=now)
    rows: list[Sequence[Model]] = [[order], order.lines, [placed], parts]
    insert_each(*(insertion(each) for each in rows if each), *people)
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


# --- From the storefront -----------------------------------------------------------------------------


def place_once(
    *,
    business: Business,
    key: str,
    request: OrderRequest,
    cart_digest: str = "",
    offered: Sequence[PaymentMethod] = (),
    buyer: Buyer = NOBODY,
    now: datetime | None = None,
) -> Order:
    """The order of this checkout page: placed now, or by an earlier submit of the same page.

    `key` is the page's random key. Of two submits at once both may ask the hook points, but only one commits: the
    other's transaction fails on the unique column, or finds the stock gone, and both return the same order. Raises like
    `place_order`.
    """
    if placed := queries.order_by_page_key(business, key):
        return placed

    def mail(order: Order) -> None:
        mail_placed(order=order, page_key=key)

    try:
        return place_order(
            business=business,
            request=request,
            offered=offered,
            buyer=buyer,
            page_key_digest=digest(key),
            cart_digest=cart_digest,
            now=now,
            on_saved=mail,
        )
    except (IntegrityError, ServiceError):
        if placed := queries.order_by_page_key(business, key):
            return placed
        raise


@transaction.atomic
def count_visit(*, business: Business, now: datetime | None = None) -> None:
    """One more visit today, by the store's time zone."""
    day = (now or timezone.now()).astimezone(ZoneInfo(business.timezone)).date()
    row, _ = StoreVisits.objects.get_or_create(business=business, day=day)
    StoreVisits.objects.filter(pk=row.pk).update(visits=F("visits") + 1)
