"""Building the `data` of each event, in the shape that `webhooks.catalogue` publishes for it."""

from datetime import datetime
from typing import Any

from common.money import to_major
from common.times import iso
from installations.models import Installation
from stores.models import Order, Payment, Product, Review
from stores.records import product_record, review_record
from webhooks.models import Webhook

Data = dict[str, Any]


def order_created(order: Order) -> Data:
    return {
        "orderId": str(order.id),
        "orderNumber": order.number,
        "amount": to_major(order.amount, order.currency),
        "deliveryFee": to_major(order.delivery_fee, order.currency),
        "deliveryMethod": order.delivery_method,
        "paymentMethod": order.payment_method,
        "isGuest": order.is_guest,
        "createdAt": iso(order.created_at),
    }


def order_moved(order: Order, previous: str, now: datetime) -> Data:
    """Of order.status_changed, order.delivered and order.cancelled."""
    return {
        "orderId": str(order.id),
        "orderNumber": order.number,
        "previousStatus": previous,
        "status": order.status,
        "changedAt": iso(now),
    }


def payment(made: Payment, now: datetime) -> Data:
    """Of payment.completed and payment.expired."""
    order = made.order
    return {
        "orderId": str(order.id),
        "orderNumber": order.number,
        "invoiceId": made.invoice_id or None,
        "amount": to_major(order.amount, order.currency),
        "paymentMethod": order.payment_method,
        "status": made.status,
        "occurredAt": iso(now),
    }


def product_created(product: Product) -> Data:
    return product_record(product, product.business.currency)


def product_updated(product: Product, changed_fields: list[str]) -> Data:
    return {**product_created(product), "changedFields": changed_fields}


def product_deleted(product: Product, now: datetime) -> Data:
    return {"id": str(product.id), "slug": product.slug, "deletedAt": iso(now)}


def stock_crossed(product: Product) -> Data:
    """Of product.out_of_stock, product.low_stock and product.back_in_stock."""
    return {
        "productId": str(product.id),
        "name": product.name,
        "stock": product.stock,
        "threshold": product.low_stock_threshold,
    }


def review_created(review: Review) -> Data:
    return review_record(review)


def review_deleted(review: Review, now: datetime) -> Data:
    return {"id": str(review.id), "productId": str(review.product_id), "deletedAt": iso(now)}


def data_erasure(installation: Installation) -> Data:
    """`installation` has ended."""
    assert installation.uninstalled_at is not None
    return {
        "appId": str(installation.app_id),
        "businessId": str(installation.business_id),
        "uninstalledAt": iso(installation.uninstalled_at),
    }


def test_event(webhook: Webhook) -> Data:
    return {"message": "This is a test of your webhook.", "webhookId": str(webhook.id)}
