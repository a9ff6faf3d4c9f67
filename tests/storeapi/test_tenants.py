"""Connections and stores and calls and keys: no key reaches what isn't its connection's (contract, section 17)."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business, ConnectedStore, ShopKey, ShopPerson, Staff
from accounts.services import shops
from common.web import limits
from marketplace.models import App
from stores.connected.stores import disconnect
from stores.models import MirroredRow, MirrorState, Order, Product, Quote, Review, ShopPayment, SitePage
from tests import factories
from tests.clients import shop_client
from tests.endpoints_table import OF_SHOPS, ROWS, STORE, TICKET, Endpoint
from tests.state import rows_of

pytestmark = pytest.mark.django_db

STORES = "/store-api/stores"
KEPT = (
    ConnectedStore, Business, ShopPerson, Staff, Product, Order, Review, SitePage, MirroredRow, MirrorState, Quote, ShopPayment,
)  # fmt: skip
OPENS = "PUT store-api/stores/<store>"


@dataclass
class World:
    """Northwind has the stores `main` and `second`, Contoso `main` and `other`, each with a row of each resource and a payment.

    Contoso is for tests, so that its clocks can be moved, and has erased a customer of `main`.
    """

    northwind: shops.Connected
    contoso: shops.Connected
    erasure: str = ""

    def of(self, connected: shops.Connected) -> Any:
        """All rows of a connection's stores."""
        stores = set(ConnectedStore.objects.filter(system=connected.system).values_list("pk", flat=True))
        return {
            model: [row for row in model.objects.order_by("pk").values() if _business(row) in stores]
            for model in KEPT
        }


def _business(row: dict[str, Any]) -> Any:
    return row.get("business_id") or row.get("store_id") or row["id"]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr("storeapi.views.base.STRANGERS_A_MINUTE", 10**6)
    found = World(shops.connect(name="Northwind"), shops.connect(name="Contoso", is_test=True))
    app = factories.app(factories.developer("dana@example.com"))
    factories.approve(app)
    for connected, stores in ((found.northwind, ("main", "second")), (found.contoso, ("main", "other"))):
        shop = shop_client(connected)
        for store in stores:
            put(shop, f"{STORES}/{store}", STORE, 201)
            factories.installation(
                app, Business.objects.get(connected__system=connected.system, connected__external_id=store)
            )
            for resource, row in ROWS.items():
                put(shop, f"{STORES}/{store}/{resource}/p-1", row | {"version": 3}, 200)
            assert shop.post(f"{STORES}/{store}/tickets", TICKET, "application/json").status_code == 201
            paid_by(Order.objects.order_by("-id")[0], app)
    path = f"{STORES}/main/customers/erase"
    erased = shop_client(found.contoso).post(path, {"email": "kim@example.com"}, "application/json")
    found.erasure = erased.json()["erasureId"]
    return found


def paid_by(order: Order, app: App) -> None:
    ShopPayment.objects.create(
        business=order.business, order_id=order.pk, order_external_id="p-1", provider=str(app.pk), is_made=True,
        method=f"{app.slug}:wallet", amount=900, currency="USD",
    )  # fmt: skip


def put(shop: Client, path: str, body: Any, status: int) -> None:
    answer = shop.put(path, body, "application/json")
    assert answer.status_code == status, answer.content


def call(world: World, shop: Client, endpoint: Endpoint, store: str) -> Any:
    names = {
        "id": "p-1", "person": "p-1", "order_id": "p-1", "erasure_id": world.erasure, "point": "order.validate",
    }  # fmt: skip
    path = endpoint.path(names | {"store": store})
    query = "?version=9" if endpoint.method == "DELETE" and "id" in endpoint.parameters else ""
    return shop.generic(
        endpoint.method,
        path + query,
        orjson.dumps(endpoint.body) if endpoint.body else b"",
        content_type="application/json",
    )


@pytest.mark.parametrize("store", ["second", "main"])
@pytest.mark.parametrize("endpoint", OF_SHOPS, ids=str)
def test_key_changes_and_reads_its_own_connection_alone(world: World, endpoint: Endpoint, store: str) -> None:
    """Contoso's key, at a store that Northwind alone has, and at one of the same name."""
    shop = shop_client(world.contoso)
    before = world.of(world.northwind)
    answer = call(world, shop, endpoint, store)
    assert world.of(world.northwind) == before
    for pk in ConnectedStore.objects.filter(system=world.northwind.system).values_list("pk", flat=True):
        assert str(pk) not in answer.content.decode()
    if store == "main" or "store" not in endpoint.parameters or str(endpoint) == OPENS:
        assert answer.status_code < 300, answer.content
    else:
        nowhere = call(world, shop, endpoint, "nowhere")
        assert (answer.status_code, answer.content) == (404, nowhere.content)
        assert answer["X-Error-Code"] == nowhere["X-Error-Code"] == "not_found"


@pytest.mark.parametrize("key", ["none", "unknown", "ended", "disconnected", "a person's"])
@pytest.mark.parametrize("endpoint", OF_SHOPS, ids=str)
def test_without_a_good_key_nothing_is_read_or_changed(world: World, endpoint: Endpoint, key: str) -> None:
    shop = shop_client(world.northwind)
    match key:
        case "none":
            shop = Client()
        case "unknown":
            shop = Client(headers={"authorization": f"Bearer {world.northwind.key[:-1]}"})
        case "ended":
            ShopKey.objects.filter(system=world.northwind.system).update(expires_at=timezone.now())
        case "disconnected":
            disconnect(system=world.northwind.system)
        case _:
            shop = Client()
            shop.force_login(factories.merchant("mira@example.com"))
    before = rows_of(*KEPT)
    for store in ("main", "second", "nowhere"):
        answer = call(world, shop, endpoint, store)
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert rows_of(*KEPT) == before


def test_both_keys_of_an_overlap_reach_the_same_stores(world: World) -> None:
    new = shops.new_key(system=world.northwind.system)
    shops.new_key(system=world.contoso.system)
    for key in (world.northwind.key, new):
        shop = Client(headers={"authorization": f"Bearer {key}"})
        assert {each["externalId"] for each in shop.get(STORES).json()["data"]} == {"main", "second"}
    assert ShopKey.objects.filter(expires_at__lte=timezone.now() + timedelta(hours=24)).count() == 2


def test_connections_have_one_rate_each(world: World, settings: Any) -> None:
    """Both keys of one connection count together, and another's not at all."""
    settings.STORE_API_RATE = 1000
    limits.counter.cache_clear()
    new = shops.new_key(system=world.northwind.system)
    left = []
    for key in (world.northwind.key, new, world.contoso.key):
        answer = Client(headers={"authorization": f"Bearer {key}"}).get(STORES)
        left.append(int(answer["X-RateLimit-Remaining"]))
    assert left[0] - left[1] == 1
    assert left[2] >= left[1]
