"""Something real for every endpoint that an access token opens, and its call."""

from typing import Any

import orjson
from django.test import Client

from installations.models import Installation
from stores.services.pages import create_page
from stores.services.reviews import create_review
from tests import factories
from tests.deliveries import UNAVAILABLE, delivery
from tests.endpoints_table import Endpoint
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus

JSON = "application/json"

Ids = dict[str, str]


def world(installation: Installation, slug: str = "tea") -> Ids:
    """One of everything in the installation's business, each of which the endpoints' calls succeed with."""
    business = installation.business
    product = factories.product(business, slug=slug)
    order = factories.order(business, payment_method="pay:card")
    factories.payment(order, provider=str(installation.app_id))
    create_review(product=product, rating=5, author_name="Kim")
    create_page(business=business, title=slug, slug=slug)
    webhook = helpers.webhook(
        installation, "https://127.0.0.1:9/hook", ["order.created"]
    )  # nothing listens there
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


def call(api: Client, endpoint: Endpoint, ids: Ids) -> Any:
    """The endpoint, called with these ids and a valid body."""
    return api.generic(endpoint.method, endpoint.path(ids), filled(endpoint.body, ids), content_type=JSON)


def filled(body: Any, ids: Ids) -> bytes:
    """A body of the table with these ids; of nothing, nothing."""
    return orjson.dumps(body).replace(b"{product_id}", ids["product_id"].encode()) if body else b""
