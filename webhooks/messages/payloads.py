"""Builds the `data` of each event, next to the serializer that describes it.

Every field is always present; a missing value is null. Fields may be added later.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from rest_framework import serializers

from common import lengths
from common.money import to_major
from common.rest.fields import Boolean, Choice, Integer, Moment, Object, StringList, Text
from common.times import iso
from installations.models import Installation
from marketplace.scopes import SCOPES
from stores.customers import Person
from stores.enums import DeliveryMethod, OrderStatus, PaymentStatus
from stores.records import OrderRecord, PaymentRecord, ProductRecord, ReviewRecord
from stores.serializers import (
    Amount,
    BusinessId,
    Count,
    Currency,
    ExternalId,
    OrderId,
    OrderNumber,
    ProductId,
    ProductSerializer,
    ProductSlug,
    ReviewId,
    of_shop,
    product_payload,
    review_payload,
)
from webhooks.models import Webhook

Data = dict[str, Any]
INSTALLATION_PARTS = ("settings", "scopes", "switches", "paused")


class OrderCreated(serializers.Serializer):
    orderId = OrderId()
    orderNumber = OrderNumber()
    amount = Amount("The total that the customer pays, in major units of the business's currency.", 28.5)
    deliveryFee = Amount("The part of it that is for delivery.", 3.5)
    deliveryMethod = Choice(DeliveryMethod.choices, "How the goods get there.", "DELIVERY")
    paymentMethod = Text("CASH, CARD, or the id of an app's payment method.", "CARD")
    isGuest = Boolean("Whether the customer ordered without an account.", True)
    createdAt = Moment("When the order was placed.")
    externalId = ExternalId("o-1001")


def order_created(order: OrderRecord) -> Data:
    return {
        "orderId": str(order.id),
        "orderNumber": order.number,
        "amount": to_major(order.amount, order.currency),
        "deliveryFee": to_major(order.delivery_fee, order.currency),
        "deliveryMethod": order.delivery_method,
        "paymentMethod": order.payment_method,
        "isGuest": order.is_guest,
        "createdAt": iso(order.created_at),
        **of_shop(order),
    }


class OrderMoved(serializers.Serializer):
    orderId = OrderId()
    orderNumber = OrderNumber()
    previousStatus = Choice(OrderStatus.choices, "The status before.", "PENDING")
    status = Choice(OrderStatus.choices, "The status now.", "CONFIRMED")
    changedAt = Moment("When it changed.")
    changedFields = StringList("The order's fields that changed.", ["status"])
    externalId = ExternalId("o-1001")


def order_moved(order: OrderRecord, previous: str, now: datetime) -> Data:
    """For order.status_changed, order.delivered and order.cancelled."""
    return {
        "orderId": str(order.id),
        "orderNumber": order.number,
        "previousStatus": previous,
        "status": order.status,
        "changedAt": iso(now),
        "changedFields": ["status"],
        **of_shop(order),
    }


class OrderRefunded(serializers.Serializer):
    orderId = OrderId()
    orderNumber = OrderNumber()
    amount = Amount("What was given back this time, in major units of the business's currency.", 5)
    refunded = Amount("What was given back of the order so far, this refund included.", 5)
    currency = Currency()
    reason = Text(
        "The merchant's words. Null without any, in connected stores, and once the customer is erased.",
        "One loaf was missing.",
        allow_null=True,
        max_length=lengths.REFUND_REASON,
    )
    refundedAt = Moment("When it was recorded.")
    externalId = ExternalId("o-1001")


def order_refunded(order: OrderRecord, *, amount: int, reason: str, now: datetime) -> Data:
    """`amount` is that of this refund, in minor units."""
    return {
        "orderId": str(order.id),
        "orderNumber": order.number,
        "amount": to_major(amount, order.currency),
        "refunded": to_major(order.refunded, order.currency),
        "currency": order.currency,
        "reason": reason or None,
        "refundedAt": iso(now),
        **of_shop(order),
    }


class PaymentEnded(serializers.Serializer):
    orderId = OrderId()
    orderNumber = OrderNumber()
    invoiceId = Text("The invoice id that the payment app gave, if any.", "inv-77", allow_null=True)
    amount = Amount("The order's amount, in major units of the business's currency.", 28.5)
    paymentMethod = Text("The id of the payment method.", "acme-pay:wallet")
    status = Choice(PaymentStatus.choices, "The payment's status.", "COMPLETED")
    occurredAt = Moment("When it happened.")
    externalId = ExternalId("o-1001")


def payment(made: PaymentRecord, now: datetime) -> Data:
    """For payment.completed and payment.expired."""
    return {
        "orderId": str(made.order_id),
        "orderNumber": made.order_number,
        "invoiceId": made.invoice_id or None,
        "amount": to_major(made.amount, made.currency),
        "paymentMethod": made.payment_method,
        "status": made.status,
        "occurredAt": iso(now),
        **of_shop(made),
    }


def product_created(product: ProductRecord) -> Data:
    return product_payload(product, product.currency)


class ProductUpdated(ProductSerializer):
    changedFields = StringList("The fields that the merchant changed.", ["price"])


def product_updated(product: ProductRecord, changed_fields: list[str]) -> Data:
    return {**product_created(product), "changedFields": changed_fields}


class ProductDeleted(serializers.Serializer):
    id = ProductId()
    slug = ProductSlug()
    deletedAt = Moment("When it was deleted.")
    externalId = ExternalId("p-1")


def product_deleted(product: ProductRecord, now: datetime) -> Data:
    return {"id": str(product.id), "slug": product.slug, "deletedAt": iso(now), **of_shop(product)}


class StockCrossed(serializers.Serializer):
    productId = ProductId()
    name = Text("The product's name.", "Espresso beans")
    stock = Count("How many are left.", 4)
    threshold = Integer("Stock below this counts as low; null when none is set.", 5, allow_null=True)
    externalId = ExternalId("p-1")


class BackInStock(StockCrossed):
    """What isn't tracked is more than any number, so that this event alone can follow."""

    def get_fields(self) -> Any:
        about = "How many are left; null where a connected store no longer tracks it."
        return super().get_fields() | {"stock": Count(about, 4, allow_null=True)}


def stock_crossed(product: ProductRecord) -> Data:
    """For product.out_of_stock, product.low_stock and product.back_in_stock."""
    return {
        "productId": str(product.id),
        "name": product.name,
        "stock": product.stock,
        "threshold": product.low_stock_threshold,
        **of_shop(product),
    }


def review_created(review: ReviewRecord) -> Data:
    return review_payload(review)


class ReviewDeleted(serializers.Serializer):
    id = ReviewId()
    productId = ProductId()
    deletedAt = Moment("When it was deleted.")
    externalId = ExternalId("r-1")


def review_deleted(review: ReviewRecord, now: datetime) -> Data:
    return {
        "id": str(review.id),
        "productId": str(review.product_id),
        "deletedAt": iso(now),
        **of_shop(review),
    }


_SWITCHES: Data = {
    "type": "object",
    "properties": {
        name: {"type": "object", "description": about, "additionalProperties": {"type": "boolean"}}
        for name, about in (
            ("hooks", "By hook point: whether it is switched on."),
            ("embeds", "By `embedType`: whether it is switched on."),
        )
    },
    "required": ["hooks", "embeds"],
}


class InstallationUpdated(serializers.Serializer):
    installationId = Text("Your app's installation.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a0a")
    changed = StringList("What is different now.", ["settings"], among=INSTALLATION_PARTS)
    settings = Object("The merchant's settings, over the defaults.", {"greeting": "Hello"})
    scopes = StringList("What the token may do now.", ["read_products", "read_orders"], among=list(SCOPES))
    switches = Object(
        "Of the definitions that run in the store.",
        {"hooks": {"order.validate": True}, "embeds": {"chat": False}},
        schema=_SWITCHES,
    )
    maxDiscountPercent = Integer(
        "The most that your app may take off an order, in per cent of the subtotal; 100 is no limit.",
        100,
        min_value=0,
        max_value=100,
    )
    paused = Boolean("Whether the store has paused your app.", False)


def installation_updated(
    installation: Installation,
    *,
    changed: list[str],
    settings: Data,
    hooks: dict[str, bool],
    embeds: dict[str, bool],
    most_discount: int,
) -> Data:
    """`changed` names some of `INSTALLATION_PARTS`, `hooks` and `embeds` those that are on."""
    return {
        "installationId": str(installation.pk),
        "changed": changed,
        "settings": settings,
        "scopes": installation.effective_scopes,
        "switches": {"hooks": hooks, "embeds": embeds},
        "maxDiscountPercent": most_discount,
        "paused": installation.paused_at is not None,
    }


class DataErasure(serializers.Serializer):
    appId = Text("Your app.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a04")
    businessId = BusinessId()
    uninstalledAt = Moment("When the app was uninstalled.")


def data_erasure(installation: Installation) -> Data:
    """`installation` has ended."""
    assert installation.uninstalled_at is not None
    return {
        "appId": str(installation.app_id),
        "businessId": str(installation.business_id),
        "uninstalledAt": iso(installation.uninstalled_at),
    }


_PERSON: Data = {
    "type": ["object", "null"],
    "properties": {
        "email": {
            "type": ["string", "null"],
            "description": "In small letters, its host in the form xn--; null if the store searched for a phone number.",
        },
        "phone": {
            "type": ["string", "null"],
            "description": "Digits, after a plus if there is one; null if the store searched for an e-mail address.",
        },
    },
    "required": ["email", "phone"],
}


class CustomerErased(serializers.Serializer):
    appId = Text("Your app.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a04")
    businessId = BusinessId()
    customer = Object(
        "Who; null if your app could never read this person's orders, and once the delivery has ended.",
        {"email": "kim@example.com", "phone": None},
        allow_null=True,
        schema=_PERSON,
    )
    orderIds = StringList(
        "All of the person's orders. Empty if your app could never read them.",
        ["01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a01"],
    )
    reviewIds = StringList(
        "The reviews that are known to be the person's. Empty if your app could never read them.",
        ["01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a03"],
    )
    requestedAt = Moment("When the store erased the customer.")


def customer_erased(
    installation: Installation,
    *,
    person: Person | None,
    order_ids: Iterable[UUID],
    review_ids: Iterable[UUID],
    now: datetime,
) -> Data:
    """`person` is None for an app that could never read orders."""
    return {
        "appId": str(installation.app_id),
        "businessId": str(installation.business_id),
        "customer": person and {"email": person.email or None, "phone": person.phone or None},
        "orderIds": [str(each) for each in order_ids],
        "reviewIds": [str(each) for each in review_ids],
        "requestedAt": iso(now),
    }


def without_person(data: Data) -> Data:
    """Any `data`, blanked once a customer is erased. All keys stay."""
    return data | {name: None for name in ("customer", "authorName", "comment", "reason") if name in data}


class WebhookTested(serializers.Serializer):
    message = Text("A greeting.", "This is a test of your webhook.")
    webhookId = Text("The webhook under test.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a06")


def test_event(webhook: Webhook) -> Data:
    return {"message": "This is a test of your webhook.", "webhookId": str(webhook.id)}
