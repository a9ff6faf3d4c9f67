"""Callers of every kind of endpoint, with nothing in their way but the input."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client, override_settings

from accounts.models import Business, User
from accounts.services import shops
from accounts.sign_in import tokens
from appapi import middleware
from common.web import limits
from developers import limits as developer_limits
from installations.models import Installation
from marketplace.models import App
from stores.connected.stores import open_store
from tests import factories
from tests.endpoints_table import Endpoint
from tests.webhooks.helpers import publish, webhook
from tests.wire.calls import Call
from tests.wire.sweep import Sweep, rolled_back
from webhooks.models import Delivery


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(middleware, "REQUESTS_A_MINUTE", 10**6)
    monkeypatch.setattr(limits, "PERSON_REQUESTS", 10**6)
    monkeypatch.setattr(developer_limits, "POLLS", 10**6)
    monkeypatch.setattr(developer_limits, "CHANGES", 10**6)
    monkeypatch.setattr("storeapi.views.base.STRANGERS_A_MINUTE", 10**6)
    settings.AUTH_RATE_LIMITS, settings.STORE_API_RATE = False, 10**6


@pytest.fixture
def places(app: App, sandbox: Business, installation: Installation) -> dict[str, str]:
    """Something real for each parameter of a route."""
    product = factories.product(sandbox, stock=1_000_000)
    registered = webhook(installation, "http://127.0.0.1:9/", ["order.created"])
    publish(sandbox)
    return {
        "app_id": str(app.pk),
        "product_id": str(product.pk),
        "slug": product.slug,
        "order_id": str(factories.order(sandbox).pk),
        "webhook_id": str(registered.pk),
        "delivery_id": str(Delivery.objects.latest("id").pk),
        "store": "main",
        "id": "p-1",
        "point": "order.validate",
    }


@pytest.fixture
def connected(db: None) -> shops.Connected:
    """A connection with a store `main`. It is for tests, so that the clock can be moved."""
    made = shops.connect(name="Northwind", is_test=True)
    open_store(system=made.system, external_id="main", values={"name": "Northwind Main", "currency": "USD"})
    return made


@pytest.fixture
def call(unlimited: None, dana: User, installation: Installation, connected: shops.Connected) -> Call:
    """`call(endpoint, path, body=b"{}", **options)`, with the credential that the endpoint asks for."""
    bearers = {
        "app-api": installation.raw_token,  # type: ignore[attr-defined]
        "webhooks": installation.raw_token,  # type: ignore[attr-defined]
        "developer": tokens.issue(dana).access,
        "store-api": connected.key,
    }
    client = Client(raise_request_exception=False)

    def send(endpoint: Endpoint, path: str, body: bytes = b"", **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {bearers[endpoint.root]}"} if endpoint.root in bearers else {}
        headers |= options.pop("headers", {})
        if endpoint.method in ("POST", "PUT", "PATCH"):
            options = {"content_type": "application/json"} | options
        return client.generic(endpoint.method, path, body, headers=headers, **options)

    return send


@pytest.fixture(scope="module")
def everything(django_db_setup: None, django_db_blocker: Any) -> Iterator[Sweep]:
    """One cast for all tests here, since each request is rolled back."""
    lenient = override_settings(DEBUG=True, ALLOW_LOCAL_DESTINATIONS=True, AUTH_RATE_LIMITS=False)
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch, lenient, rolled_back():
        patch.setattr("common.processes.write_behind.WriteBehind.start", lambda self: None)
        yield Sweep()


@pytest.fixture
def sweep(everything: Sweep) -> Iterator[Sweep]:
    everything.asked, everything.found = 0, []
    yield everything
    print(f"{everything.asked} requests")
    assert not everything.found, "\n".join(everything.found)
