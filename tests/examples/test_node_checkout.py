"""The example app in Node at the five hook points, asked by the platform during real orders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import requests
from django.test import Client

from accounts.models import Business
from extensions.models import HookCall
from extensions.services.manifests import save_manifest
from installations.models import Installation
from marketplace.models import App
from stores.models import Order
from tests import factories
from tests.clients import client_of

from .driver import ROOT
from .node import HAS_NODE, checkout_app

pytestmark = [
    pytest.mark.skipif(not HAS_NODE, reason="needs Node 20 or newer"),
    pytest.mark.django_db(transaction=True),
    pytest.mark.timed,
]


@pytest.fixture
def installation(app: App, sandbox: Business) -> Installation:
    document = orjson.loads((ROOT / "examples" / "checkout_node" / "manifest.json").read_bytes())
    save_manifest(app=app, developer=app.developer, document=document)
    return factories.installation(app, sandbox)


@pytest.fixture
def bell(
    app: App, installation: Installation, live_server: Any, settings: Any, tmp_path: Path
) -> Iterator[str]:
    """Its address. It is installed on Dana's sandbox store."""
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    settings.ALLOWED_HOSTS = ["localhost", "testserver"]
    with checkout_app(
        tmp_path,
        PLATFORM_URL=live_server.url,
        ACCESS_TOKEN=installation.raw_token,  # type: ignore[attr-defined]
        BUSINESS_ID=str(installation.business_id),
        WEBHOOK_SECRET=installation.webhook_secret,
    ) as url:
        app.webhook_url = f"{url}/webhooks"
        app.save()
        yield url


def placed(api: Client, quantity: int, business: Business, **fields: Any) -> Any:
    bread = factories.product(business, price=1000)
    order = {
        "items": [{"productId": str(bread.pk), "quantity": quantity}],
        "customer": {"name": "Kim", "email": "kim@example.com"},
        "deliveryMethod": "DELIVERY",
        "address": "1 Quay Street",
        "paymentMethod": "CASH",
    }
    return api.post("/app-api/orders", order | fields, content_type="application/json")


@pytest.mark.long
@pytest.mark.spec("Contract 4 Placing an order", "Validate, discounts, shipping, save, then the payment")
def test_order_passes_the_five_hooks_of_an_app_in_node(
    bell: str, app: App, installation: Installation, sandbox: Business
) -> None:
    api = client_of(installation)
    offered = api.get("/app-api/payment-methods").json()["methods"]
    assert {"id": f"{app.slug}:bell-pay", "name": "Bell Pay"}.items() <= offered[-1].items()

    order = placed(api, 4, sandbox, paymentMethod=f"{app.slug}:bell-pay").json()
    assert [order[name] for name in ("subtotal", "discount", "deliveryFee", "validation")] == [
        40,
        4,
        0,
        "VALID",
    ]
    page = order["payment"]["paymentUrl"]
    assert page.startswith(f"{bell}/pay/bell-")
    points = {call.hook_point for call in HookCall.objects.filter(outcome="ANSWERED")}
    assert points == {
        "checkout.payment_methods", "checkout.create_payment", "checkout.shipping_rates",
        "order.validate", "order.calculate_discounts",
    }  # fmt: skip
    assert not HookCall.objects.exclude(outcome="ANSWERED").exists()

    assert "Pay " in requests.get(page, timeout=5).text
    assert "Paid." in requests.post(page, data={"status": "COMPLETED"}, timeout=5).text
    assert Order.objects.get().payment.status == "COMPLETED"


@pytest.mark.long
def test_order_that_the_app_refuses_is_not_placed(
    bell: str, installation: Installation, sandbox: Business
) -> None:
    refused = placed(client_of(installation), 13, sandbox)
    assert refused.status_code == 422
    assert "At most 12 pieces of one product in an order, please." in refused.content.decode()
    assert not Order.objects.exists()
