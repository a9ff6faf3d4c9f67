"""Changes that a developer makes on a sandbox store to see what they cause: orders, payments, stock, products, reviews.

Each one is made by the service that makes it in any store, so everything that follows is real. Each returns a sentence that
says what happened. They use records that they made earlier, and make those that are missing. Not inside a transaction.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from accounts.models import Business
from common.errors import Conflict
from common.ids import new_id
from stores.customers import Person, orders_of
from stores.enums import (
    OPEN,
    ActorKind,
    BuiltInPayment,
    DeliveryMethod,
    OrderStatus,
    PaymentStatus,
    ProductStatus,
)
from stores.models import Order, Product, Review
from stores.services.catalogue.products import create_product, delete_product, update_product
from stores.services.checkout import place_order
from stores.services.customer_erasure import erase
from stores.services.history import Actor
from stores.services.orders import change_order_status, record_refund
from stores.services.payments import MAKING, expire_payment, open_payment, settle_payment
from stores.services.pricing import OrderLine, OrderRequest
from stores.services.reviews import create_review, delete_review

TEST = Actor(ActorKind.SYSTEM, name="the test store")
CUSTOMER = "Kim Test"
EMAIL = "kim@example.com"
METHOD = "test:card"  # a payment method that no app offers
PRODUCT = "Test product"
REFUND_REASON = "One of them was missing."
ENDED = (OrderStatus.DELIVERED, OrderStatus.CANCELLED)
PLENTY, THRESHOLD = 20, 5  # stock


@dataclass(frozen=True, slots=True)
class Details:
    """What a developer asks of a change: who orders or is erased, what is ordered, or which settings an app gets. Blank leaves it to
    the change.
    """

    name: str = ""
    email: str = ""
    phone: str = ""
    product: UUID | None = None
    quantity: int = 1
    settings: dict[str, Any] | None = None


USUAL = Details()


def require_sandbox(business: Business) -> None:
    if not business.is_sandbox:
        raise Conflict("These changes are for sandbox stores only.")


def order(business: Business, asked: Details = USUAL) -> str:
    product = None
    if asked.product is not None:
        product = _products(business).filter(pk=asked.product).first()
        if product is None:
            raise Conflict("The store has no available product with this ID.")
    placed = _place(business, product, asked.quantity, asked.email, asked.phone, asked.name or CUSTOMER)
    return f"Order {placed.number} was placed."


def confirm_order(business: Business) -> str:
    moved = change_order_status(
        order=_order(business, OrderStatus.PENDING), status=OrderStatus.CONFIRMED, by=TEST
    )
    return f"Order {moved.number} was confirmed."


def deliver_order(business: Business) -> str:
    moved = change_order_status(order=_order(business), status=OrderStatus.DELIVERED, by=TEST)
    return f"Order {moved.number} was delivered."


def cancel_order(business: Business) -> str:
    moved = change_order_status(order=_order(business), status=OrderStatus.CANCELLED, by=TEST)
    return f"Order {moved.number} was cancelled."


def refund_order(business: Business) -> str:
    """All that is left of a delivered order."""
    require_sandbox(business)
    own = Order.objects.filter(business=business, customer_name=CUSTOMER, status=OrderStatus.DELIVERED)
    order = own.filter(refunded__lt=F("amount"), payment=None).order_by("-id").first()
    if order is None:
        order = change_order_status(order=_order(business), status=OrderStatus.DELIVERED, by=TEST)
    left = order.amount - order.refunded
    record_refund(order=order, amount=left, reason=REFUND_REASON, known=order.refunded, by=TEST)
    return f"Order {order.number} was refunded."


def complete_payment(business: Business, provider: str) -> str:
    """`provider` is the id of the app that made the payment."""
    paid = _order_with_payment(business, provider)
    settle_payment(order=paid, provider=provider, status=PaymentStatus.COMPLETED, reference="test", by=TEST)
    return f"The payment of order {paid.number} succeeded."


def let_payment_expire(business: Business, provider: str) -> str:
    unpaid = _order_with_payment(business, provider, opened=timezone.now() - MAKING)
    expire_payment(order=unpaid, now=timezone.now())
    return f"The payment of order {unpaid.number} wasn't completed in time."


def add_product(business: Business) -> str:
    return f"“{_add_product(business).name}” was added."


def edit_product(business: Business) -> str:
    edited = _test_product(business)
    edited = update_product(product=edited, price=edited.price + 100)
    return f"The price of “{edited.name}” was changed."


def remove_product(business: Business) -> str:
    removed = _test_product(business)
    delete_product(product=removed)
    return f"“{removed.name}” was deleted."


def sell_out(business: Business) -> str:
    """A customer orders everything that is left of a product."""
    product = _stocked(business, at_least=1)
    placed = _place(business, product, product.stock or 1)
    return f"Order {placed.number} took the last “{product.name}”."


def run_low(business: Business) -> str:
    product = _stocked(business, at_least=THRESHOLD)
    if product.low_stock_threshold != THRESHOLD:
        product = update_product(product=product, low_stock_threshold=THRESHOLD)
    left = THRESHOLD - 1
    placed = _place(business, product, (product.stock or THRESHOLD) - left)
    return f"Order {placed.number} left {left} of “{product.name}”."


def restock(business: Business) -> str:
    product = _products(business).filter(stock=0).first()
    if product is None:
        sell_out(business)
        product = _products(business).filter(stock=0).order_by("-updated_at").first()
    if product is None:
        raise Conflict("No product has run out. Sell one out first.")
    update_product(product=product, stock=PLENTY)
    return f"“{product.name}” is in stock again."


def add_review(business: Business) -> str:
    product = _any_product(business)
    create_review(product=product, rating=5, author_name=CUSTOMER, comment="A test review.")
    return f"{CUSTOMER} reviewed “{product.name}”."


def remove_review(business: Business) -> str:
    own = Review.objects.filter(business=business, author_name=CUSTOMER).order_by("-id")
    if not own.exists():
        add_review(business)
    delete_review(review=own[0])
    return "The newest test review was removed."


def erase_customer(business: Business, asked: Details = USUAL) -> str:
    """Of the person that is asked for, whose open orders are delivered first. Else of somebody who orders and writes a review first."""
    require_sandbox(business)
    if asked.email or asked.phone:
        person = Person.of(email=asked.email, phone=asked.phone, store=business)
        for waiting in orders_of(business, person).filter(status__in=OPEN):
            change_order_status(order=waiting, status=OrderStatus.DELIVERED, by=TEST)
        erase(business=business, person=person)
        return "The customer was erased."
    email = f"kim.{new_id().hex[-12:]}@example.com"
    placed = _place(business, email=email)
    change_order_status(order=placed, status=OrderStatus.DELIVERED, by=TEST)
    create_review(
        product=_any_product(business),
        rating=4,
        author_name=CUSTOMER,
        comment="A test review.",
        author_email=email,
    )
    erase(business=business, person=Person.of(email=email))
    return f"The customer of order {placed.number} was erased."


def _place(
    business: Business,
    product: Product | None = None,
    quantity: int = 1,
    email: str = "",
    phone: str = "",
    name: str = CUSTOMER,
) -> Order:
    require_sandbox(business)
    request = OrderRequest(
        items=[OrderLine((product or _any_product(business)).pk, quantity)],
        customer_name=name,
        customer_email=email or ("" if phone else EMAIL),
        customer_phone=phone,
        delivery_method=DeliveryMethod.PICKUP,
        payment_method=BuiltInPayment.CASH,
    )
    return place_order(business=business, request=request, by=TEST)


def _order(business: Business, *statuses: OrderStatus) -> Order:
    """The newest open test order, or a new one."""
    require_sandbox(business)
    own = Order.objects.filter(business=business, customer_name=CUSTOMER).exclude(status__in=ENDED)
    return (own.filter(status__in=statuses) if statuses else own).order_by("-id").first() or _place(business)


def _order_with_payment(business: Business, provider: str, opened: datetime | None = None) -> Order:
    """A new order with a pending payment of an app, as if the app had made it at `opened`."""
    placed = _place(business)
    with transaction.atomic():
        placed.payment_method = METHOD
        placed.save(update_fields=["payment_method"])
        placed.payment = open_payment(order=placed, provider=provider, now=opened or timezone.now())
    return placed


def _products(business: Business) -> QuerySet[Product]:
    require_sandbox(business)
    active = Product.objects.filter(business=business, status=ProductStatus.ACTIVE, is_available=True)
    return active.select_related("business").order_by("-id")


def _any_product(business: Business) -> Product:
    """One that an order of a single piece neither sells out nor makes low."""
    products = _products(business)
    return (
        products.filter(stock=None).first()
        or products.filter(stock__gt=PLENTY).first()
        or _add_product(business)
    )


def _stocked(business: Business, *, at_least: int) -> Product:
    """A product with tracked stock of at least this, and of not more than a customer may order."""
    found = _products(business).filter(stock__gte=at_least, stock__lte=PLENTY).first()
    return found or update_product(product=_any_product(business), stock=PLENTY)


def _test_product(business: Business) -> Product:
    own = Product.objects.select_related("business").filter(business=business, name__startswith=PRODUCT)
    return own.order_by("-id").first() or _add_product(business)


def _add_product(business: Business) -> Product:
    require_sandbox(business)
    number = Product.objects.filter(business=business, name__startswith=PRODUCT).count() + 1
    name = f"{PRODUCT} {number}" if number > 1 else PRODUCT
    return create_product(business=business, name=name, price=1200, category="Test", description="For tests.")
