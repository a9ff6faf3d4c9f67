"""A shop has a customer erased (contract, section 17, "Customers")."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Business, ConnectedStore
from accounts.services import shops
from activity import log
from extensions.models import ShopCommand
from installations.models import Installation
from stores.models import CustomerErasure, Order, Product
from stores.services.customer_erasure import SWEPT_AFTER, sweep
from tests import factories
from tests.clients import client_of, shop_client
from tests.everything_stored import columns, files
from tests.merchants.erasing import look_for_copies
from tests.merchants.pages import installed, listed_app
from tests.receivers import Receiver
from tests.storeapi import commanded
from tests.storeapi.rows import MAIN, ORDER, post, put, result
from tests.webhooks import helpers
from tests.webhooks.helpers import drain
from webhooks.tasks import follow_erasures

pytestmark = pytest.mark.django_db(transaction=True)

KIM = {"name": "Kim Erlach", "email": "Kim.Erlach@example.com", "phone": "+41 44 555 01 77"}
OF_KIM = {"customer": KIM, "address": "Erlachgasse 9, Bern", "note": "Ring at Erlach"}
SAID = {"authorName": "Kim Erlach", "authorEmail": "kim.erlach@example.com", "comment": "Erlach says: good."}
TRACES = ("erlach", "555 01 77", "445550177")
UNKNOWN = {"email": "stranger@example.com"}


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.ALLOW_LOCAL_DESTINATIONS = True
    with Receiver() as running:
        yield running


def reader(store: Business, receiver: Receiver | None, name: str, *scopes: str) -> Installation:
    app = listed_app(
        factories.developer(f"{name}@example.com".lower()), list(scopes), name=name,
        webhook_url=receiver.url if receiver else "",
    )  # fmt: skip
    made = installed(app, store)
    if receiver:
        helpers.webhook(made, receiver.url, ["order.created"])
    return made


def asked(shop: Client, path: str = f"{MAIN}/customers/erase", **body: Any) -> str:
    answer = shop.post(path, body, content_type="application/json")
    assert answer.status_code == 202, answer.content
    assert list(answer.json()) == ["erasureId"]
    return str(answer.json()["erasureId"])


def record_of(shop: Client, erasure: str) -> dict[str, Any]:
    answer = shop.get(f"{MAIN}/erasures/{erasure}")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def swept() -> None:
    """What workers do right after an erasure, and a little later."""
    look_for_copies()
    assert sweep(now=timezone.now() + SWEPT_AFTER)


def traces() -> list[tuple[str, str]]:
    return [
        (where, text[:120])
        for where, text in (*columns(), *files())
        for trace in TRACES
        if trace in text.lower()
    ]


def test_nothing_names_the_customer_and_apps_are_asked(
    shop: Client, store: ConnectedStore, receiver: Receiver
) -> None:
    orders = reader(store.business, receiver, "Bell", "read_orders", "read_reviews")
    quiet = reader(store.business, None, "Mute", "read_orders")
    reader(store.business, receiver, "Shelf", "read_products")
    assert put(shop, "orders/o-1", **OF_KIM).status_code == 200
    assert put(shop, "orders/o-2", status="DELIVERED", customer=KIM).status_code == 200
    assert put(shop, "reviews/r-1", **SAID).status_code == 200
    drain()
    erasure = asked(shop, email=" kim.erlach@EXAMPLE.com ")
    pending = record_of(shop, erasure)
    assert list(pending) == ["requestedAt", "apps"]
    assert pending["apps"] == [
        {"appId": str(orders.app_id), "appName": "Bell", "state": "PENDING"},
        {"appId": str(quiet.app_id), "appName": "Mute", "state": "NO_ADDRESS"},
    ]
    drain()
    sent = [json.loads(each.body) for each in receiver.requests if b"customer.data_erasure" in each.head]
    assert sent[-1]["data"]["customer"] == {"email": "kim.erlach@example.com", "phone": None}
    assert len(sent[-1]["data"]["orderIds"]) == 2
    receiver.requests.clear()
    follow_erasures()
    swept()
    assert [each["state"] for each in record_of(shop, erasure)["apps"]] == ["CONFIRMED", "NO_ADDRESS"]
    assert traces() == []
    assert set(Order.objects.values_list("status", flat=True)) == {"PENDING", "DELIVERED"}  # open or not


def test_erased_row_stays_erased(shop: Client, store: ConnectedStore) -> None:
    app = reader(store.business, None, "Bell", "read_orders", "read_reviews")
    client = Client(headers={"authorization": f"Bearer {app.raw_token}"})  # type: ignore[attr-defined]
    put(shop, "orders/o-1", 1, **OF_KIM)
    put(shop, "reviews/r-1", 1, **SAID)
    asked(shop, email=KIM["email"])
    swept()
    assert result(shop, "orders/o-1", 1, **OF_KIM) == ("unchanged", [])
    assert result(shop, "orders/o-1", 2, **OF_KIM) == ("unchanged", [])
    assert put(shop, "orders/o-1", 2, **(OF_KIM | {"note": "Other"})).status_code == 409
    moved = OF_KIM | {"status": "DELIVERED"}
    assert result(shop, "orders/o-1", 3, **moved) == (
        "updated", ["order.status_changed", "order.delivered"],
    )  # fmt: skip
    assert result(shop, "reviews/r-1", 2, **(SAID | {"rating": 2}))[0] == "updated"
    (order,), (review,) = (client.get(f"/app-api/{name}").json()["data"] for name in ("orders", "reviews"))
    assert (order["status"], order["customer"], order["address"], order["note"]) == (
        "DELIVERED", {"name": None, "email": None, "phone": None, "key": None}, None, None,
    )  # fmt: skip
    assert (review["rating"], review["comment"], review["authorName"]) == (2, None, None)
    assert traces() == []
    # One that comes for the first time is a new one.
    assert result(shop, "orders/o-2", 1, **OF_KIM)[0] == "created"
    assert {each["customer"]["name"] for each in client.get("/app-api/orders").json()["data"]} == {None, "Kim Erlach"}  # fmt: skip


def test_answer_says_nothing_about_who_is_known(shop: Client, store: ConnectedStore) -> None:
    erasure = asked(shop, **UNKNOWN)
    record = record_of(shop, erasure)
    assert record["apps"] == []
    assert CustomerErasure.objects.get(pk=erasure).swept_at


@pytest.mark.parametrize(
    "body", [{}, {"email": "", "phone": ""}, {"email": "kim@example.com", "phone": "+41445550177"}, {"email": None},
             {"email": "kim"}, {"email": ["kim@example.com"]}, {"name": "Kim"}]
)  # fmt: skip
def test_exactly_one_of_the_two(shop: Client, store: ConnectedStore, body: dict[str, Any]) -> None:
    answer = post(shop, "customers/erase", **body)
    assert answer.status_code == 400, answer.content
    assert answer.json()["details"]
    assert not CustomerErasure.objects.exists()


def test_erasures_are_their_stores_own_and_shown_for_30_days(
    shop: Client, connected: shops.Connected, store: ConnectedStore
) -> None:
    erasure = asked(shop, **UNKNOWN)
    other = shop_client(shops.connect(name="Contoso"))
    named = {"name": "Contoso", "currency": "USD"}
    assert other.put(MAIN, named, content_type="application/json").status_code == 201
    assert shop.put("/store-api/stores/second", named, content_type="application/json").status_code == 201
    paths = {
        f"{MAIN}/erasures/{erasure}": other,
        f"/store-api/stores/second/erasures/{erasure}": shop,
        f"{MAIN}/erasures/{uuid4()}": shop,
        f"{MAIN}/erasures/nothing": shop,
    }
    assert {client.get(path).status_code for path, client in paths.items()} == {404}
    with time_machine.travel(timezone.now() + timedelta(days=29)):
        assert shop.get(f"{MAIN}/erasures/{erasure}").status_code == 200
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        assert shop.get(f"{MAIN}/erasures/{erasure}").status_code == 404


def test_customer_of_another_store_stays(shop: Client, store: ConnectedStore) -> None:
    named = {"name": "Second", "currency": "USD"}
    assert shop.put("/store-api/stores/second", named, content_type="application/json").status_code == 201
    second = ConnectedStore.objects.get(external_id="second").business
    reader(second, None, "Bell", "read_orders")
    body = ORDER | OF_KIM | {"version": 1}
    pushed = shop.put("/store-api/stores/second/orders/o-1", body, content_type="application/json")
    assert pushed.json()["result"] == "created"
    asked(shop, email=KIM["email"])
    assert Order.objects.get().customer_name == "Kim Erlach"


def test_commands_to_the_shop_forget_the_customer(
    shop: Client, store: ConnectedStore, asked: Receiver
) -> None:
    """What apps asked for, what the shop answered, and its reasons."""
    Business.objects.update(is_sandbox=True)
    app = reader(store.business, None, "Bell", "read_orders", "write_orders", "read_products")
    put(shop, "products/p-1")
    asked.respond_with(
        commanded.order("o-7", **OF_KIM),
        commanded.refusal(422, "Kim Erlach owes us money"),
        commanded.order("o-7", 2, **OF_KIM | {"total": 9}),
        commanded.order("o-8", customer={"name": "Ann Meyer", "email": "ann@example.com"}),
    )
    client, product = client_of(app), Product.objects.get()
    for key in ("a", "b", "c", "d"):
        commanded.place(client, product, key=key, customer={"name": "Kim Erlach", "email": KIM["email"]})
    assert [outcome for _, outcome in commanded.outcomes()] == ["DONE", "REFUSED", "UNREACHABLE", "DONE"]
    log.flush()
    assert {where for where, _ in traces()} >= {
        "extensions_shopcommand.request_body", "extensions_shopcommand.answer_excerpt", "extensions_shopcommand.message",
    }  # fmt: skip
    answer = post(shop, "customers/erase", email=KIM["email"])
    assert answer.status_code == 202, answer.content
    swept()
    assert traces() == []
    kept = ShopCommand.objects.order_by("sent_at")
    assert [each.outcome for each in kept] == ["DONE", "REFUSED", "UNREACHABLE", "DONE"]
