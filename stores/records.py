"""What signals, events and the wire need of a store's rows, as they were at that moment.

A record is made once, by the code that writes or reads the row. Amounts are minor units of `currency`, times are aware. `external_id`
is the shop's id of a mirrored row, None in own stores.
"""

from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import Final, NamedTuple, Self
from uuid import UUID

from stores.models import Order, OrderItem, Payment, Product, Review


class ProductRecord(NamedTuple):
    """`stock` is None where it isn't tracked, `low_stock_threshold` where none is set."""

    id: UUID
    business_id: UUID
    external_id: str | None
    group_id: str
    name: str
    slug: str
    description: str
    price: int
    category: str
    is_available: bool
    image: str
    status: str
    stock: int | None
    low_stock_threshold: int | None
    created_at: datetime
    updated_at: datetime
    currency: str

    @classmethod
    def of(cls, product: Product, currency: str) -> Self:
        """`currency` is the business's. Makes no statement."""
        return cls._make([*_PRODUCT(product), currency])


class LineRecord(NamedTuple):
    """`product_id` is None for a line of a shop that is no product."""

    product_id: UUID | None
    name: str
    quantity: int
    price: int

    @classmethod
    def of(cls, item: OrderItem) -> Self:
        return cls(item.product_id, item.name, item.quantity, item.price)


class PaymentRecord(NamedTuple):
    """A payment that isn't the merchant's, with what its events show of the order. `external_id` is the order's."""

    status: str
    payment_url: str
    qr_code: str
    invoice_id: str
    expires_at: datetime | None
    order_id: UUID
    business_id: UUID
    external_id: str | None
    order_number: str
    amount: int
    currency: str
    payment_method: str

    @classmethod
    def of(cls, payment: Payment, order: Order) -> Self:
        return cls._make(_PAYMENT(payment) + _PAID_ORDER(order))


class OrderRecord(NamedTuple):
    """With its lines, and the payment unless the merchant collects it. `customer_name` is empty once the customer is erased."""

    id: UUID
    business_id: UUID
    external_id: str | None
    number: str
    status: str
    subtotal: int
    discount: int
    delivery_fee: int
    other_charges: int
    amount: int
    refunded: int
    currency: str
    delivery_method: str
    address: str
    payment_method: str
    customer_name: str
    customer_email: str
    customer_phone: str
    note: str
    is_guest: bool
    validation: str
    created_at: datetime
    updated_at: datetime
    lines: Sequence[LineRecord]
    payment: PaymentRecord | None

    @classmethod
    def of(cls, order: Order) -> Self:
        """Makes no statement where lines and payment came along, as in `queries.whole_orders`."""
        payment = getattr(order, "payment", None)
        lines = [LineRecord.of(item) for item in order.lines]
        return cls._make([*_ORDER(order), lines, payment and PaymentRecord.of(payment, order)])


class ReviewRecord(NamedTuple):
    """`author_name` is empty once the author is erased."""

    id: UUID
    business_id: UUID
    product_id: UUID
    external_id: str | None
    rating: int
    comment: str
    author_name: str
    created_at: datetime

    @classmethod
    def of(cls, review: Review) -> Self:
        return cls._make(_REVIEW(review))


_PRODUCT: Final = attrgetter(*ProductRecord._fields[:-1])
_ORDER: Final = attrgetter(*OrderRecord._fields[:-2])
_PAYMENT: Final = attrgetter(*PaymentRecord._fields[:5])
_PAID_ORDER: Final = attrgetter(
    "id", "business_id", "external_id", "number", "amount", "currency", "payment_method"
)
_REVIEW: Final = attrgetter(*ReviewRecord._fields)
