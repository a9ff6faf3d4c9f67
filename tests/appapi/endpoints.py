"""Every endpoint that an access token opens, with the scope it needs and a call of it that succeeds.

`test_scopes` holds this table to the URL conf: an endpoint without a row fails there.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson
from django.test import Client
from django.urls import URLPattern

from appapi.urls import urlpatterns
from installations.models import Installation
from stores.services.pages import create_page
from stores.services.reviews import create_review
from tests import factories
from tests.deliveries import UNAVAILABLE, delivery
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus

JSON = "application/json"
CLOSED = "https://127.0.0.1:9/hook"  # nothing listens there
METHODS = ("get", "post", "put", "patch", "delete")

Ids = dict[str, str]


@dataclass(frozen=True, slots=True)
class Endpoint:
    scope: str | None
    status: int = 200  # of a call that succeeds
    body: Callable[[Ids], dict[str, Any]] | None = None
    needs: str | None = None  # a scope that depends on what is asked for


def order_body(ids: Ids) -> dict[str, Any]:
    return {
        "items": [{"productId": ids["product_id"], "quantity": 1}],
        "customer": {"name": "Kim", "email": "kim@example.com"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }


ENDPOINTS: dict[str, Endpoint] = {
    "GET /app-api/products": Endpoint("read_products"),
    "GET /app-api/products/<product_id>": Endpoint("read_products"),
    "GET /app-api/products/slug/<slug>": Endpoint("read_products"),
    "GET /app-api/orders": Endpoint("read_orders"),
    "POST /app-api/orders": Endpoint("write_orders", 201, order_body),
    "GET /app-api/orders/<order_id>": Endpoint("read_orders"),
    "PATCH /app-api/orders/<order_id>/status": Endpoint("write_orders", body=lambda ids: {"status": "READY"}),
    "PATCH /app-api/orders/<order_id>/payment": Endpoint(
        "write_orders", body=lambda ids: {"status": "COMPLETED"}
    ),
    "GET /app-api/payment-methods": Endpoint("write_orders"),
    "GET /app-api/events": Endpoint(None),
    "POST /app-api/exports": Endpoint(None, 202, lambda ids: {"resource": "products"}, "read_products"),
    "GET /app-api/exports/<export_id>": Endpoint(None, needs="read_products"),
    "GET /app-api/exports/<export_id>/file": Endpoint(None, needs="read_products"),
    "GET /app-api/reviews": Endpoint("read_reviews"),
    "GET /app-api/reviews/stats": Endpoint("read_reviews"),
    "GET /app-api/analytics/dashboard": Endpoint("read_analytics"),
    "GET /app-api/business": Endpoint("read_business"),
    "GET /app-api/pages": Endpoint("read_pages"),
    "GET /app-api/pages/<slug>": Endpoint("read_pages"),
    "GET /app-api/installation": Endpoint(None),
    "GET /webhooks": Endpoint(None),
    "POST /webhooks": Endpoint(None, 201, lambda ids: {"url": CLOSED, "events": ["order.created"]}),
    "GET /webhooks/<webhook_id>": Endpoint(None),
    "PATCH /webhooks/<webhook_id>": Endpoint(None, body=lambda ids: {"description": "New"}),
    "DELETE /webhooks/<webhook_id>": Endpoint(None, 204),
    "POST /webhooks/<webhook_id>/test": Endpoint(None),
    "GET /webhooks/<webhook_id>/deliveries": Endpoint(None),
    "GET /webhooks/<webhook_id>/deliveries/<delivery_id>": Endpoint(None),
    "POST /webhooks/<webhook_id>/deliveries/<delivery_id>/redeliver": Endpoint(None, 202),
    "POST /webhooks/<webhook_id>/recover": Endpoint(None, 202, lambda ids: {"since": "2026-11-20T00:00:00Z"}),
}
WITH_SCOPE = [name for name, endpoint in ENDPOINTS.items() if endpoint.scope]
WITH_ID = [name for name in ENDPOINTS if "<" in name]


def served() -> Iterator[str]:
    """What the URL conf has, in the table's spelling."""
    for pattern in urlpatterns:
        if isinstance(pattern, URLPattern) and pattern.name != "unknown":
            view = pattern.callback.view_class  # type: ignore[attr-defined]
            path = "/" + str(pattern.pattern).replace("<str:", "<")
            yield from (f"{method.upper()} {path}" for method in METHODS if hasattr(view, method))


def world(installation: Installation, slug: str = "tea") -> Ids:
    """One of everything in the installation's business, each of which the endpoints' calls succeed with."""
    business = installation.business
    product = factories.product(business, slug=slug)
    order = factories.order(business, payment_method="pay:card")
    factories.payment(order, provider=str(installation.app_id))
    create_review(product=product, rating=5, author_name="Kim")
    create_page(business=business, title=slug, slug=slug)
    webhook = helpers.webhook(installation, CLOSED, ["order.created"])
    export = factories.export(installation)
    exhausted = delivery(webhook, DeliveryStatus.EXHAUSTED, UNAVAILABLE)
    return {
        "product_id": str(product.pk),
        "order_id": str(order.pk),
        "slug": slug,
        "export_id": str(export.pk),
        "webhook_id": str(webhook.pk),
        "delivery_id": str(exhausted.pk),
    }


def parameters(name: str) -> list[str]:
    """`["webhook_id", "delivery_id"]`"""
    return re.findall(r"<(\w+)>", name)


def call(api: Client, name: str, ids: Ids) -> Any:
    """The endpoint, called with these ids and a valid body."""
    method, path = name.split()
    path = re.sub(r"<(\w+)>", lambda found: ids[found[1]], path)
    body = ENDPOINTS[name].body
    return api.generic(method, path, orjson.dumps(body(ids)) if body else "", content_type=JSON)
