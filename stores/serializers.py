"""The store's objects in the app API and in event payloads (contract, section 4).

Lists and events are too frequent for DRF's serializers, which cost several times as much per row. There a `…_payload`
builds the object from a record, or in lists from a named row with the columns named here, and the serializer above it only
describes the result. Neither queries the database. Missing values are null. In a row, times may be the text of the API.
"""

from collections import namedtuple
from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from django.conf import settings
from rest_framework import serializers
from rest_framework.fields import SkipField

from accounts.models import EXTERNAL_ID, Business
from common.money import to_major
from common.rest.fields import (
    ApiSerializer,
    Boolean,
    Choice,
    Date,
    Identifier,
    Integer,
    Moment,
    Number,
    Object,
    Text,
)
from common.times import iso, iso_or_none
from stores import enums
from stores.addresses import store_url
from stores.buyers.attributes import LONGEST
from stores.buyers.shoppers import NO_PART, OwnPart
from stores.dashboard import MAX_DAYS
from stores.hookpoints import PaymentMethod
from stores.records import OrderRecord

NEUTRAL_PICTURE = f"{settings.STATIC_URL}images/product.svg"

PRODUCT_COLUMNS = (
    "id", "name", "description", "price", "category", "is_available", "image", "slug", "status", "stock", "created_at", "updated_at",
    "external_id", "group_id",
)  # fmt: skip
REVIEW_COLUMNS = ("id", "product_id", "rating", "comment", "author_name", "created_at", "external_id")
PAGE_COLUMNS = ("id", "slug", "title", "content", "created_at", "updated_at", "external_id")
_PaymentRow = namedtuple("_PaymentRow", ("status", "payment_url", "qr_code", "invoice_id", "expires_at"))
ORDER_COLUMNS = (
    *(f"payment__{name}" for name in _PaymentRow._fields),
    "id", "number", "status", "subtotal", "discount", "delivery_fee", "amount", "currency", "delivery_method", "address",
    "payment_method", "customer_name", "customer_email", "customer_phone", "note", "is_guest", "validation", "created_at", "updated_at",
    "external_id", "other_charges", "refunded",
    "attributes", "customer_email_key", "customer_phone_key",
)  # fmt: skip

OrderId = partial(Text, "The order.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a01")
OrderNumber = partial(Text, "The number that merchant and customer know the order by.", "1001")
ProductId = partial(Text, "The product.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02")
ProductSlug = partial(Text, "The product's name in URLs.", "espresso-beans")
ReviewId = partial(Text, "The review.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a03")
BusinessId = partial(Text, "The business.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a05")
PageId = partial(Text, "The page.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a07")
Currency = partial(Text, "The ISO 4217 code of the currency.", "USD", schema={"pattern": "^[A-Z]{3}$"})
Count = partial(Integer, min_value=0)
ExternalId = partial(Text, "The shop's own id; of its stores.", required=False, max_length=EXTERNAL_ID)


class Amount(Number):
    """An amount in major units, of minor units in the currency `context["currency"]`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, min_value=0, **options)

    def to_representation(self, value: int) -> float | int:
        return to_major(value, self.context["currency"])


class Row(Protocol):
    """A record or a named row: whatever has the columns as attributes."""

    def __getattribute__(self, name: str, /) -> Any: ...


def of_shop(row: Row, **more: Any) -> dict[str, Any]:
    """What a record of a mirrored row has beside the others' fields; nothing for a row of a store here."""
    return {} if row.external_id is None else {"externalId": row.external_id, **more}


def _time(moment: datetime | str) -> str:
    return moment if isinstance(moment, str) else iso(moment)


class ProductSerializer(serializers.Serializer):
    id = ProductId()
    name = Text("The name.", "Espresso beans")
    description = Text("The description.", "Dark roast, 1 kg.")
    price = Amount("In major units of the business's currency.", 12.5)
    category = Text("The merchant's own grouping.", "Coffee")
    isAvailable = Boolean("The merchant's switch; it doesn't follow stock.", True)
    imageUrl = Text("A path below the service's address.", "/static/products/coffee.svg")
    slug = ProductSlug()
    status = Choice(enums.ProductStatus.choices, "Lists leave ARCHIVED products out.", "ACTIVE")
    stock = Count("How many are left; null when stock isn't tracked.", 40, allow_null=True)
    createdAt = Moment("When it was created.", "2026-10-01T08:00:00.000Z")
    updatedAt = Moment("When it last changed.")
    externalId = ExternalId("p-1")
    groupId = Text(
        "The same for all variants of one thing; null without one. Of connected stores alone.",
        "beans",
        required=False,
        allow_null=True,
    )


def product_payload(row: Row, currency: str) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "name": row.name,
        "description": row.description,
        "price": to_major(row.price, currency),
        "category": row.category,
        "isAvailable": row.is_available,
        "imageUrl": row.image or NEUTRAL_PICTURE,
        "slug": row.slug,
        "status": str(row.status),
        "stock": row.stock,
        "createdAt": _time(row.created_at),
        "updatedAt": _time(row.updated_at),
        **of_shop(row, groupId=row.group_id or None),
    }


class OrderLineSerializer(serializers.Serializer):
    productId = ProductId(allow_null=True)  # of connected stores, whose shops may sell what is no product
    name = Text("The product's name when it was ordered.", "Espresso beans")
    quantity = Integer("How many.", 2, min_value=1)
    price = Amount("Of one, in major units.", 12.5)


class PaymentSerializer(serializers.Serializer):
    status = Choice(enums.PaymentStatus.choices, "The payment's status.", "PENDING")
    paymentUrl = Text("Where the customer pays.", "https://acme.example/pay/77", allow_null=True)
    qrCode = Text("The content of a QR code for the customer.", "acme:pay/77", allow_null=True)
    invoiceId = Text("The app's id of the payment.", "inv-77", allow_null=True)
    expiresAt = Moment("Until when it can be paid.", "2026-11-20T15:34:05.123Z", allow_null=True)


class CustomerSerializer(serializers.Serializer):
    name = Text("The name; null once the customer is erased.", "Kim Lee", allow_null=True)
    email = Text("The e-mail address, if one was given.", "kim@example.com", allow_null=True)
    phone = Text("The phone number, if one was given.", "+1 555 0100", allow_null=True)
    key = Text(
        "The same for one person at this installation, as `shopper.key` of hooks; null once the customer is erased.",
        "shp_0b32d1c7a4074cc39d6f0d2f4c1f8a30",
        allow_null=True,
    )


class OrderSerializer(serializers.Serializer):
    id = OrderId()
    orderNumber = OrderNumber()
    status = Choice(enums.OrderStatus.choices, "The order's status.", "PENDING")
    items: Any = OrderLineSerializer(many=True, help_text="The products ordered.")
    subtotal = Amount("All lines together, in major units.", 25)
    discount = Amount("All discounts together, a promo discount included.", 0)
    deliveryFee = Amount("The price of the delivery.", 3.5)
    amount = Amount(
        "The total that the customer pays: subtotal - discount + deliveryFee, and + otherCharges where there are any.",
        28.5,
    )
    refunded = Amount("What the store has given back of it so far, in major units.", 0)
    currency = Currency()
    deliveryMethod = Choice(enums.DeliveryMethod.choices, "How the goods get there.", "DELIVERY")
    address = Text(
        "The delivery address; empty for PICKUP, null once the customer is erased.",
        "1 Harbour Street",
        allow_null=True,
    )
    paymentMethod = Text("CASH, CARD, or the id of an app's payment method.", "CARD")
    payment = PaymentSerializer(allow_null=True, help_text="Through an app; null for CASH and CARD.")
    customer = CustomerSerializer()
    note = Text(
        "The customer's note; null once the customer is erased.", "Please ring twice.", allow_null=True
    )
    isGuest = Boolean("Whether the customer ordered without an account.", True)
    validation = Choice(
        enums.OrderValidation.choices, "Whether every app that checks orders answered.", "VALID"
    )
    createdAt = Moment("When it was placed.")
    updatedAt = Moment("When it last changed.")
    attributes = Object(
        "What your app has put into the cart or the order.",
        {"slot": "Friday, 9 to 11"},
        child=Text(schema={"maxLength": LONGEST}, allow_blank=True),
    )
    externalId = ExternalId("o-1001")
    otherCharges = Number(
        "Surcharges and fees of the shop, in major units; may be negative. Of connected stores alone.",
        0,
        required=False,
    )


def order_payload(order: OrderRecord, own: OwnPart = NO_PART) -> dict[str, Any]:
    return _order(order, order.lines, order.payment, own)


def order_row_payload(row: Any, lines: Iterable[Row], own: OwnPart) -> dict[str, Any]:
    """The same of a row that begins with `ORDER_COLUMNS`, with what `queries.lines_of` found for it."""
    payment = _PaymentRow(*row[: len(_PaymentRow._fields)])
    return _order(row, lines, payment if payment.status else None, own)


def _order(order: Row, lines: Iterable[Row], payment: Row | None, own: OwnPart) -> dict[str, Any]:
    currency = order.currency
    # Every order that is placed here has a name (`services.customer_erasure`); one of a shop may have none.
    is_erased = not order.customer_name
    return {
        "id": str(order.id),
        "orderNumber": order.number,
        "status": str(order.status),
        "items": _items(lines, currency),
        "subtotal": to_major(order.subtotal, currency),
        "discount": to_major(order.discount, currency),
        "deliveryFee": to_major(order.delivery_fee, currency),
        "amount": to_major(order.amount, currency),
        "refunded": to_major(order.refunded, currency),
        "currency": currency,
        "deliveryMethod": str(order.delivery_method),
        "address": order.address or None if is_erased else order.address,
        "paymentMethod": str(order.payment_method),
        "payment": payment_payload(payment),
        "customer": {
            "name": order.customer_name or None,
            "email": order.customer_email or None,
            "phone": order.customer_phone or None,
            "key": own.customer_key,
        },
        "note": order.note or None if is_erased else order.note,
        "isGuest": order.is_guest,
        "validation": str(order.validation),
        "createdAt": _time(order.created_at),
        "updatedAt": _time(order.updated_at),
        "attributes": dict(own.attributes),
        **of_shop(order, otherCharges=to_major(order.other_charges, currency)),
    }


def _items(items: Iterable[Row], currency: str) -> list[dict[str, Any]]:
    return [
        {
            "productId": item.product_id and str(item.product_id),
            "name": item.name,
            "quantity": item.quantity,
            "price": to_major(item.price, currency),
        }
        for item in items
    ]


def payment_payload(payment: Row | None) -> dict[str, Any] | None:
    """None for what the merchant takes outside the service (CASH, CARD)."""
    if payment is None:
        return None
    return {
        "status": str(payment.status),
        "paymentUrl": payment.payment_url or None,
        "qrCode": payment.qr_code or None,
        "invoiceId": payment.invoice_id or None,
        "expiresAt": iso_or_none(payment.expires_at),
    }


class ReviewSerializer(serializers.Serializer):
    id = ReviewId()
    productId = ProductId()
    rating = Integer("1 to 5.", 5, min_value=1, max_value=5)
    comment = Text("The customer's words; null once their author is erased.", "Just right.", allow_null=True)
    authorName = Text(
        "The name that the customer gave; null once this person is erased.", "Kim", allow_null=True
    )
    createdAt = Moment("When it was written.")
    externalId = ExternalId("r-1")


def review_payload(row: Row) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "productId": str(row.product_id),
        "rating": row.rating,
        "comment": row.comment if row.author_name or row.comment else None,
        "authorName": row.author_name or None,
        "createdAt": _time(row.created_at),
        **of_shop(row),
    }


class ReviewStatsSerializer(serializers.Serializer):
    """Of a `queries.ReviewStats`."""

    total = Count("How many reviews there are.", 15)
    averageRating = Number("Null without a review.", 3.67, source="average", allow_null=True)
    distribution = Object(
        "How many have each rating.", {"1": 1, "2": 2, "3": 3, "4": 4, "5": 5}, child=Count()
    )


class TopProductSerializer(ApiSerializer):
    productId = ProductId()
    name = Text("The product's name.", "Espresso beans")
    quantity = Count("How many were ordered.", 12)
    revenue = Amount("The revenue from it.", 150.0)


class SalesDaySerializer(serializers.Serializer):
    date = Date("A day in the business's time zone.", "2026-11-20")
    orders = Count("Orders placed that day.", 7)
    revenue = Amount("Without cancelled orders.", 171.0)


class DashboardSerializer(ApiSerializer):
    """Of a `dashboard.Dashboard`, with its currency as `context["currency"]`."""

    currency = Currency()
    days = Integer("How many days the figures cover, today included.", 30, min_value=1, max_value=MAX_DAYS)
    totalOrders = Count("Orders placed, cancelled ones included.", 7)
    totalRevenue = Amount("Without cancelled orders.", 171.0)
    averageOrderValue = Amount("Null without an order that counts.", 28.5, allow_null=True)
    ordersByStatus = Object("All statuses.", dict.fromkeys(enums.OrderStatus.values, 1), child=Count())
    topProducts = TopProductSerializer(many=True, help_text="Up to ten, the best-selling first.")
    daily = SalesDaySerializer(many=True, help_text="One entry for each day, the oldest first.")


class PaymentMethodSerializer(serializers.Serializer):
    id = Text("The `paymentMethod` of an order.", "acme-pay:wallet")
    name = Text("The name that the customer sees.", "Acme Wallet")
    description = Text("A line below the name.", "Pay with your phone.", allow_null=True)
    icon = Text("The URL of a picture.", "https://acme.example/wallet.png", allow_null=True)


class PaymentMethodsSerializer(serializers.Serializer):
    methods = PaymentMethodSerializer(
        many=True, help_text="The built-in ones first, which connected stores don't have."
    )


def payment_methods_payload(business: Business, offered: Iterable[PaymentMethod]) -> dict[str, Any]:
    """What a checkout offers: the store's built-in methods first, then those of apps."""
    own = enums.BuiltInPayment if business.capabilities.own_payment_methods else ()
    built_in = [
        {"id": method.value, "name": str(method.label), "description": None, "icon": None} for method in own
    ]
    return {"methods": [*built_in, *PaymentMethodSerializer(list(offered), many=True).data]}


class PageSerializer(serializers.Serializer):
    id = PageId()
    slug = Text("The page's name in URLs.", "about")
    title = Text("The title.", "About us")
    content = Text("HTML.", "<p>We roast on Mondays.</p>")
    createdAt = Moment("When it was created.", "2026-10-01T08:00:00.000Z")
    updatedAt = Moment("When it last changed.")
    externalId = ExternalId("about")


def page_payload(row: Row) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "slug": row.slug,
        "title": row.title,
        "content": row.content,
        "createdAt": _time(row.created_at),
        "updatedAt": _time(row.updated_at),
        **of_shop(row),
    }


class StorefrontUrl(Text):
    def get_attribute(self, business: Business) -> str | None:
        if business.is_connected:
            return business.connected.storefront_url or None
        return store_url(business.slug)


class StoreOfShop(Identifier):
    def get_attribute(self, business: Business) -> str:
        if not business.is_connected:
            raise SkipField
        return business.connected.external_id


class IsConnected(Boolean):
    def get_attribute(self, business: Business) -> bool:
        if not business.is_connected:
            raise SkipField
        return True


class BusinessSerializer(ApiSerializer):
    id = BusinessId()
    slug = Text("The business's name in URLs.", "miras-coffee")
    storefrontUrl = StorefrontUrl(
        "The storefront. null where the shop of a connected store gave none.",
        "https://miras-coffee.stores.example/",
        allow_null=True,
    )
    name = Text("The name.", "Mira's Coffee")
    type = Text("The kind of business, in the merchant's words.", "Cafe")
    address = Text("The address.", "1 Harbour Street")
    currency = Currency()
    locale = Text("The storefront's language.", "en")
    timezone = Text("An IANA time zone.", "UTC")
    isSandbox = Boolean("Whether it is a developer's sandbox.", False)
    createdAt = Moment("When it was opened.", "2026-10-01T08:00:00.000Z")
    externalId = StoreOfShop(
        "The shop's own id. Connected stores alone have this field and the next.", "main", required=False
    )
    isConnected = IsConnected(
        "Whether a shop with software of its own pushes the rows.", True, required=False
    )
