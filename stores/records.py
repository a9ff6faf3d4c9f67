"""The records of the contract's section 4, as the app API and event payloads carry them.

Plain dict building over model instances or over rows of `values_list(..., named=True)` with the columns
named here; nothing in here asks the database for more. What is absent is null: an order's e-mail address
or phone number that was not given, a payment's missing parts.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from django.conf import settings

from accounts.models import Business
from common.money import to_major
from common.times import iso, iso_or_none
from stores.dashboard import Dashboard
from stores.enums import BuiltInPayment
from stores.hookpoints import PaymentMethod
from stores.models import Order, OrderItem, Payment
from stores.queries import ReviewStats

NEUTRAL_PICTURE = f"{settings.STATIC_URL}images/product.svg"

PRODUCT_COLUMNS = (
    "id",
    "name",
    "description",
    "price",
    "category",
    "is_available",
    "image",
    "slug",
    "status",
    "stock",
    "created_at",
    "updated_at",
)
REVIEW_COLUMNS = ("id", "product_id", "rating", "comment", "author_name", "created_at")
PAGE_COLUMNS = ("id", "slug", "title", "content", "created_at", "updated_at")


class Row(Protocol):
    """A model instance or a named row: whatever has the columns as attributes."""

    def __getattribute__(self, name: str, /) -> Any: ...


def product_record(row: Row, currency: str) -> dict[str, Any]:
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
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
    }


def order_record(order: Order) -> dict[str, Any]:
    """An order with its lines and payment. Lists bring both along (`queries.orders`)."""
    currency = order.currency
    return {
        "id": str(order.pk),
        "orderNumber": order.number,
        "status": str(order.status),
        "items": _items(order.lines, currency),
        "subtotal": to_major(order.subtotal, currency),
        "discount": to_major(order.discount, currency),
        "deliveryFee": to_major(order.delivery_fee, currency),
        "amount": to_major(order.amount, currency),
        "currency": currency,
        "deliveryMethod": str(order.delivery_method),
        "address": order.address,
        "paymentMethod": str(order.payment_method),
        "payment": payment_record(getattr(order, "payment", None)),
        "customer": {
            "name": order.customer_name,
            "email": order.customer_email or None,
            "phone": order.customer_phone or None,
        },
        "note": order.note,
        "isGuest": order.is_guest,
        "validation": str(order.validation),
        "createdAt": iso(order.created_at),
        "updatedAt": iso(order.updated_at),
    }


def _items(items: Iterable[OrderItem], currency: str) -> list[dict[str, Any]]:
    return [
        {
            "productId": str(item.product_id),
            "name": item.name,
            "quantity": item.quantity,
            "price": to_major(item.price, currency),
        }
        for item in items
    ]


def payment_record(payment: Payment | None) -> dict[str, Any] | None:
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


def review_record(row: Row) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "productId": str(row.product_id),
        "rating": row.rating,
        "comment": row.comment,
        "authorName": row.author_name,
        "createdAt": iso(row.created_at),
    }


def review_stats_record(stats: ReviewStats) -> dict[str, Any]:
    return {
        "total": stats.total,
        "averageRating": stats.average,
        "distribution": {str(rating): count for rating, count in stats.distribution.items()},
    }


def dashboard_record(dashboard: Dashboard) -> dict[str, Any]:
    currency = dashboard.currency
    average = dashboard.average_order_value
    return {
        "currency": currency,
        "days": len(dashboard.daily),
        "totalOrders": dashboard.total_orders,
        "totalRevenue": to_major(dashboard.total_revenue, currency),
        "averageOrderValue": None if average is None else to_major(average, currency),
        "ordersByStatus": dict(dashboard.orders_by_status),
        "topProducts": [
            {
                "productId": str(product.product_id),
                "name": product.name,
                "quantity": product.quantity,
                "revenue": to_major(product.revenue, currency),
            }
            for product in dashboard.top_products
        ],
        "daily": [
            {"date": day.date.isoformat(), "orders": day.orders, "revenue": to_major(day.revenue, currency)}
            for day in dashboard.daily
        ],
    }


def payment_methods_record(offered: Iterable[PaymentMethod]) -> dict[str, Any]:
    """What a checkout offers: the built-in methods first, then what apps offer."""
    built_in = [
        {"id": method.value, "name": str(method.label), "description": None, "icon": None}
        for method in BuiltInPayment
    ]
    return {"methods": [*built_in, *(_method_record(method) for method in offered)]}


def _method_record(method: PaymentMethod) -> dict[str, Any]:
    return {
        "id": method.id,
        "name": method.name,
        "description": method.description,
        "icon": method.icon,
    }


def page_record(row: Row) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "slug": row.slug,
        "title": row.title,
        "content": row.content,
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
    }


def storefront_url(business: Business) -> str:
    return f"{settings.BASE_URL}/store/{business.slug}/"


def business_record(business: Business) -> dict[str, Any]:
    return {
        "id": str(business.pk),
        "slug": business.slug,
        "storefrontUrl": storefront_url(business),
        "name": business.name,
        "type": business.type,
        "address": business.address,
        "currency": business.currency,
        "locale": business.locale,
        "timezone": business.timezone,
        "isSandbox": business.is_sandbox,
        "createdAt": iso(business.created_at),
    }
