"""The carts of shoppers: one row for a browser and a store, found by the key in the browser's cookie.

A row keeps product ids, quantities and the names as they were, and what apps have put there. Prices and stock are read each time the cart is shown. A
product that is no longer for sale stays in the cart and says so until the shopper removes it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Business
from common.errors import Conflict
from common.secrets import digest
from stores.buyers.attributes import Attributes, ByOwner, merged, with_those_of
from stores.buyers.shoppers import shopper_of
from stores.enums import ProductStatus
from stores.models import Cart, Order, Product
from stores.services.pricing import OrderLine

MAX_LINES: Final = 100  # of an order by the app API, too
MAX_QUANTITY: Final = 999
KEPT_ORDERS: Final = 5
KEPT: Final = timedelta(days=30)  # since the last change
BATCH: Final = 1000


@dataclass(frozen=True, slots=True)
class CartLine:
    """`product` is None where it was deleted; `problem` says why the line can't be ordered."""

    product_id: UUID
    name: str
    quantity: int
    product: Product | None

    @property
    def amount(self) -> int:
        """Minor units; 0 for a line that can't be ordered."""
        return 0 if self.product is None or self.problem else self.product.price * self.quantity

    @property
    def problem(self) -> str:
        if self.product is None:
            return _("The store no longer has it.")
        return shortage(self.product, self.quantity)


def shortage(product: Product, quantity: int) -> str:
    """Why a shopper can't order so many of a product; empty where they can."""
    if product.status != ProductStatus.ACTIVE:
        return _("It is no longer for sale.")
    if not product.is_available:
        return _("It isn't available right now.")
    if product.stock is None or product.stock >= quantity:
        return ""
    if product.stock == 0:
        return _("It's sold out.")
    left = ngettext("Only %(number)d left.", "Only %(number)d left.", product.stock)
    return left % {"number": product.stock}


def cart_lines(cart: Cart) -> list[CartLine]:
    """In the order in which they were added, with the products as they are now."""
    products = Product.objects.filter(business=cart.business_id).in_bulk(
        [UUID(line["product"]) for line in cart.lines]
    )
    return [
        CartLine(
            product_id=(product_id := UUID(line["product"])),
            name=product.name if (product := products.get(product_id)) else line["name"],
            quantity=line["quantity"],
            product=product,
        )
        for line in cart.lines
    ]


def order_lines(lines: Sequence[CartLine]) -> list[OrderLine]:
    return [OrderLine(line.product_id, line.quantity) for line in lines]


def subtotal(lines: Sequence[CartLine]) -> int:
    return sum(line.amount for line in lines)


def latest_orders(cart: Cart) -> list[dict[str, str]]:
    """The newest first: `{"key", "number", "delivery", "payment"}`; those of before the last two were kept have none."""
    orders: list[dict[str, str]] = json.loads(cart.orders)
    return orders


def add_product(*, business: Business, key: str, product: Product, quantity: int) -> Cart:
    """Raises `Conflict` where so many can't be ordered."""
    with _changed(business, key) as cart:
        line = _line(cart, product.pk)
        already = line["quantity"] if line else 0
        if problem := shortage(product, already + quantity):
            have = _("You have %(number)d already.") % {"number": already}
            raise Conflict(f"{problem} {have}" if already else problem)
        if already + quantity > MAX_QUANTITY:
            words = _("An order takes at most %(number)d of a product.")
            raise Conflict(words % {"number": MAX_QUANTITY})
        if line is None and len(cart.lines) >= MAX_LINES:
            words = _("An order takes at most %(number)d different products.")
            raise Conflict(words % {"number": MAX_LINES})
        if line is None:
            cart.lines.append(line := {"product": str(product.pk)})
        line |= {"name": product.name, "quantity": already + quantity}
    return cart


def add_again(*, business: Business, key: str, order: Order) -> Cart:
    """Put what was ordered into the cart again, as much as then. A second press changes nothing, and the cart says what can't be ordered now."""
    with _changed(business, key) as cart:
        for item in order.items.all():
            if item.product_id is None:
                continue
            line = _line(cart, item.product_id)
            if line is None and len(cart.lines) < MAX_LINES:
                cart.lines.append(line := {"product": str(item.product_id), "quantity": 0})
            if line:
                line |= {
                    "name": item.name,
                    "quantity": max(line["quantity"], min(item.quantity, MAX_QUANTITY)),
                }
    return cart


def change_quantities(*, business: Business, key: str, quantities: dict[UUID, int]) -> Cart:
    """Of products that are in the cart; 0 removes one."""
    with _changed(business, key) as cart:
        for line in list(cart.lines):
            quantity = quantities.get(UUID(line["product"]), line["quantity"])
            line["quantity"] = min(quantity, MAX_QUANTITY)
            if quantity <= 0:
                cart.lines.remove(line)
    return cart


def remember_order(*, business: Business, key: str, order: Order, page_key: str) -> Cart:
    """Remove what was ordered, and keep the address of the order's page; once, however often this is called.

    A line with another quantity was changed after the order, and stays. So does what an app has put into the cart since.
    """
    with _changed(business, key) as cart:
        known = latest_orders(cart)
        if all(each["key"] != page_key for each in known):
            ordered = {(str(item.product_id), item.quantity) for item in order.items.all()}
            cart.lines = [line for line in cart.lines if (line["product"], line["quantity"]) not in ordered]
            newest = {
                "key": page_key, "number": order.number, "delivery": order.delivery_method, "payment": order.payment_method,
            }  # fmt: skip
            cart.orders = json.dumps([newest, *known][:KEPT_ORDERS])
            cart.attributes = _not_ordered(cart.attributes, order.attributes or {})
            shopper = shopper_of(order)
            cart.shopper_id = shopper.pk if shopper else cart.shopper_id
    return cart


def _not_ordered(attributes: ByOwner, ordered: ByOwner) -> dict[str, Attributes]:
    """What an order doesn't have."""
    rest = {
        owner: {key: text for key, text in own.items() if ordered.get(owner, {}).get(key) != text}
        for owner, own in attributes.items()
    }
    return {owner: own for owner, own in rest.items() if own}


def change_attributes(
    *, business: Business, key: str, owner: str, changes: Mapping[Any, Any]
) -> tuple[Cart, dict[str, str]]:
    """Merge what an app sends into its attributes of the cart. Returns the problem of each key that isn't taken, too."""
    with _changed(business, key) as cart:
        own, problems = merged(cart.attributes.get(owner, {}), changes)
        cart.attributes = with_those_of(cart.attributes, owner, own) or {}
    return cart, problems


def prove(*, business: Business, key: str, order: Order) -> Cart | None:
    """The shopper confirms an order by its mailed link: this browser is theirs. Only the first time; None afterwards.

    Also None once the customer is erased. The newest link that a browser confirms decides whose it is.
    """
    with transaction.atomic():
        if (shopper := shopper_of(order)) is None:
            return None
        if not Order.objects.filter(pk=order.pk, proven_at=None).update(proven_at=timezone.now()):
            return None
        with _changed(business, key) as cart:
            cart.shopper_id = cart.proven_id = shopper.pk
    return cart


def add_notice(*, business: Business, key: str, level: int, text: str) -> Cart:
    """Something to tell the shopper on the next page; `level` is one of Django's message levels."""
    with _changed(business, key) as cart:
        cart.notices.append([level, text])
    return cart


def take_notices(*, cart: Cart) -> list[tuple[int, str]]:
    """The notices that the shopper has not seen yet. Each is returned once."""
    notices = [(level, text) for level, text in cart.notices]
    if notices:
        cart.notices = []
        cart.save(update_fields=["notices"])
    return notices


def remove_old_carts(*, now: datetime | None = None, batch: int = BATCH) -> int:
    """Delete carts without a change for `KEPT`, one statement per batch. Returns their number."""
    old = Cart.objects.filter(updated_at__lt=(now or timezone.now()) - KEPT).values_list("pk", flat=True)
    removed = 0
    while ids := list(old[:batch]):
        Cart.objects.filter(pk__in=ids).delete()
        removed += len(ids)
    return removed


@contextmanager
def _changed(business: Business, key: str) -> Iterator[Cart]:
    """The cart, locked and saved afterwards. The first change makes the row."""
    with transaction.atomic():
        cart, _ = Cart.objects.select_for_update().get_or_create(business=business, key_digest=digest(key))
        yield cart
        cart.updated_at = timezone.now()
        cart.save()


def _line(cart: Cart, product_id: UUID) -> dict[str, Any] | None:
    return next((line for line in cart.lines if line["product"] == str(product_id)), None)
