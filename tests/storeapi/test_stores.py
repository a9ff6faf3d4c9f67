"""Stores of a connection: opening, changing, listing and ending them (contract, section 17)."""

from datetime import timedelta
from threading import Event
from time import sleep
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Business, ConnectedStore, User
from accounts.services import shops
from extensions.enums import ExtensionType
from installations.models import Installation
from marketplace.models import App
from stores.models import MirroredRow, Order, Product, StoreTotals
from stores.services import customer_erasure
from stores.services.customer_erasure import remove_ended_stores
from stores.signals import product_created
from tests import factories
from tests.clients import client_of, shop_client
from tests.deliveries import UNAVAILABLE, delivery
from tests.state import unchanged
from tests.threads import at_once
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, Erasure
from webhooks.models import Event as Published

pytestmark = pytest.mark.django_db

STORES = "/store-api/stores"
MAIN = f"{STORES}/main"
NAMED = {"name": "Northwind", "currency": "EUR"}
WHOLE = NAMED | {
    "slug": "nw",
    "locale": "de",
    "timezone": "Europe/Berlin",
    "type": "Wine",
    "address": "Quay 1",
    "storefrontUrl": "https://nw.example/shop",
    "storefrontOrigins": ["https://m.nw.example"],
}


def put(shop: Client, body: dict[str, Any], path: str = MAIN) -> Any:
    return shop.put(path, body, content_type="application/json")


@pytest.fixture
def installed(app: App, store: ConnectedStore) -> Installation:
    """An app with every scope on the store."""
    app.webhook_url = "https://app.example.com/hooks"
    app.save(update_fields=["webhook_url"])
    factories.approve(app)
    return factories.installation(app, store.business)


# --- PUT and GET -------------------------------------------------------------------------------------


def test_new_store_is_a_business_record(shop: Client) -> None:
    answer = put(shop, NAMED)
    business = Business.objects.get(is_connected=True)
    assert answer.status_code == 201
    assert answer.json() == {
        "id": str(business.pk),
        "slug": "northwind",
        "storefrontUrl": None,
        "name": "Northwind",
        "type": "",
        "address": "",
        "currency": "EUR",
        "locale": "en",
        "timezone": "UTC",
        "isSandbox": False,
        "createdAt": answer.json()["createdAt"],
        "externalId": "main",
        "isConnected": True,
    }
    assert shop.get(MAIN).json() == answer.json()
    assert not business.owner.is_active
    assert not business.owner.has_usable_password()


def test_store_is_whole_but_for_its_slug(shop: Client) -> None:
    first = put(shop, WHOLE)
    assert first.json()["storefrontUrl"] == "https://nw.example/shop"
    assert ConnectedStore.objects.get().storefront_origins == ["https://m.nw.example"]
    second = put(shop, NAMED | {"timezone": None, "storefrontOrigins": None})
    assert second.status_code == 200
    changed = {"locale": "en", "timezone": "UTC", "type": "", "address": "", "storefrontUrl": None}
    assert second.json() == first.json() | changed
    assert ConnectedStore.objects.get().storefront_origins == []


def test_repeated_put_changes_nothing(shop: Client) -> None:
    put(shop, WHOLE)
    with unchanged(Business, ConnectedStore, User):
        answer = put(shop, WHOLE)
    assert answer.status_code == 200


def test_test_connection_has_sandboxes() -> None:
    shop = shop_client(shops.connect(name="Northwind", is_test=True))
    for name in ("main", "second"):
        assert put(shop, NAMED, f"{STORES}/{name}").json()["isSandbox"] is True


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", None),
        ("name", ""),
        ("name", "a" * 121),
        ("name", "North\nwind"),
        ("name", "North\x7fwind"),
        ("name", "North\0wind"),
        ("currency", None),
        ("currency", "eur"),
        ("currency", "XXY"),
        ("slug", "Nw"),
        ("slug", "-nw"),
        ("slug", "a" * 64),
        ("slug", "admin"),
        ("locale", "german"),
        ("timezone", "Berlin"),
        ("type", "a" * 61),
        ("address", "a" * 1001),
        ("address", 5),
        ("storefrontUrl", "http://nw.example/"),
        ("storefrontUrl", "javascript:alert(1)"),
        ("storefrontUrl", "https://nw.example/" + "a" * 2048),
        ("storefrontOrigins", ["https://nw.example/shop"]),
        ("storefrontOrigins", ["http://nw.example"]),
        ("storefrontOrigins", [f"https://{each}.example" for each in "abcdef"]),
        ("storefrontOrigins", "https://nw.example"),
    ],
)
def test_bad_value_is_a_400_that_names_its_field(shop: Client, field: str, value: Any) -> None:
    answer = put(shop, WHOLE | {field: value})
    assert answer.status_code == 400, answer.content
    assert answer.json()["details"][0]["field"].partition("[")[0] == field
    assert not ConnectedStore.objects.exists()


@pytest.mark.parametrize("name", ["Extension Platform Support", "Admin", "www.northwind.example/x", "商店"])
def test_names_are_the_shops_own(shop: Client, name: str) -> None:
    assert put(shop, NAMED | {"name": name}).json()["name"] == name


def test_loopback_storefront_needs_debug(shop: Client, settings: Any) -> None:
    local = NAMED | {
        "storefrontUrl": "http://localhost:8001/",
        "storefrontOrigins": ["http://127.0.0.1:8002"],
    }
    assert put(shop, local).status_code == 400
    settings.DEBUG = True
    assert put(shop, local).status_code == 201


def test_taken_slug_is_a_409(shop: Client, sandbox: Business) -> None:
    put(shop, NAMED)
    for path in (f"{STORES}/second", MAIN):
        answer = put(shop, NAMED | {"slug": sandbox.slug}, path)
        assert (answer.status_code, answer["X-Error-Code"]) == (409, "store_slug_taken")
    assert [each["externalId"] for each in shop.get(STORES).json()["data"]] == ["main"]


@pytest.mark.parametrize("make", [factories.product, factories.order])
def test_currency_stays_once_there_are_amounts(shop: Client, make: Any) -> None:
    put(shop, NAMED)
    assert put(shop, NAMED | {"currency": "CHF"}).json()["currency"] == "CHF"
    make(Business.objects.get(is_connected=True))
    answer = put(shop, NAMED)
    assert (answer.status_code, answer["X-Error-Code"]) == (409, "currency_fixed")
    assert put(shop, NAMED | {"currency": "CHF", "name": "New"}).json()["name"] == "New"


def test_list_is_paginated_newest_first(shop: Client) -> None:
    for number in range(3):
        with time_machine.travel(timezone.now() + timedelta(minutes=number), tick=False):
            put(shop, NAMED, f"{STORES}/s{number}")
    page = shop.get(STORES, {"limit": 2}).json()
    assert ([each["externalId"] for each in page["data"]], page["total"], page["limit"]) == (
        ["s2", "s1"],
        3,
        2,
    )
    assert [each["externalId"] for each in shop.get(STORES, {"limit": 2, "page": 2}).json()["data"]] == ["s0"]
    assert shop.get(STORES, {"limit": 0}).status_code == 400


@pytest.mark.parametrize("wrong", ["%2e%2e", "%2e", "a%20b", "a%2Fb", "a" * 101, "%C3%A9", "a%0A"])
@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_ids_have_a_form(shop: Client, store: ConnectedStore, method: str, wrong: str) -> None:
    answer = getattr(shop, method)(f"{STORES}/{wrong}", NAMED, content_type="application/json")
    # What the server reads as another segment of the path is no id.
    refused = (404, "unknown_path") if wrong == "a%2Fb" else (400, "wrong_id")
    assert (answer.status_code, answer["X-Error-Code"]) == refused
    assert ConnectedStore.objects.get() == store


def test_ids_are_case_sensitive(shop: Client) -> None:
    odd = "A.b_c~d:e-9"
    assert put(shop, NAMED, f"{STORES}/{odd}").json()["externalId"] == odd
    assert shop.get(f"{STORES}/{odd.lower()}").status_code == 404


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgres
def test_puts_of_a_new_store_at_once_open_one(connected: shops.Connected) -> None:
    answers = at_once(*[lambda: put(shop_client(connected), NAMED).status_code] * 5)
    assert sorted(answers) == [200] * 4 + [201]
    assert ConnectedStore.objects.count() == 1
    assert User.objects.filter(email__endswith="@connected.invalid").count() == 1


def test_put_under_a_key_is_answered_once(shop: Client) -> None:
    headers = {"idempotency-key": "k-1"}
    first = shop.put(MAIN, NAMED, "application/json", headers=headers)
    again = shop.put(MAIN, NAMED, "application/json", headers=headers)
    assert (first.status_code, again.status_code, again["Idempotency-Replayed"]) == (201, 201, "true")
    assert shop.put(MAIN, WHOLE, "application/json", headers=headers).status_code == 409
    ended = [shop.delete(MAIN, headers={"idempotency-key": "k-2"}).status_code for _ in range(2)]
    assert ended == [202, 202]


# --- DELETE ------------------------------------------------------------------------------------------


def test_delete_ends_everything_at_once(shop: Client, store: ConnectedStore, installed: Installation) -> None:
    app_api = client_of(installed)
    assert app_api.get("/app-api/business").json()["externalId"] == "main"
    answer = shop.delete(MAIN)
    assert (answer.status_code, answer.json()) == (202, {"externalId": "main", "state": "ENDING"})
    assert app_api.get("/app-api/business").status_code == 401
    for path in (MAIN, f"{MAIN}/wanted"):
        assert shop.get(path).status_code == 404
    assert shop.delete(MAIN).status_code == 404
    assert shop.get(STORES).json()["total"] == 0
    again = put(shop, NAMED)
    assert (again.status_code, again["X-Error-Code"]) == (409, "store_going")
    assert int(again["Retry-After"]) >= 1
    assert put(shop, NAMED | {"slug": "northwind-main"}, f"{STORES}/next").json()["slug"] == "northwind-main"


def test_data_erasure_names_the_old_business(
    shop: Client, store: ConnectedStore, installed: Installation
) -> None:
    webhook = helpers.webhook(installed, "https://127.0.0.1:9/hook", ["product.created"])
    waiting = delivery(webhook, DeliveryStatus.RETRYING, UNAVAILABLE)
    shop.delete(MAIN)
    erasure = Erasure.objects.get(installation=installed)
    assert erasure.due_at - timezone.now() > timedelta(hours=47, minutes=59)
    remove_ended_stores()
    new = put(shop, NAMED)
    assert (new.status_code, new.json()["externalId"]) == (201, "main")
    assert new.json()["id"] != str(store.pk)
    erasure.refresh_from_db()
    assert erasure.installation.business_id == store.pk
    assert Delivery.objects.get(pk=waiting.pk).status == DeliveryStatus.CANCELLED


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("tasks_run_at_once")
def test_worker_removes_records_silently_and_frees_the_id(shop: Client, store: ConnectedStore) -> None:
    product = factories.product(store.business)
    factories.order(store.business)
    kept = factories.product(factories.business(factories.merchant("kim@example.com")))
    shop.delete(MAIN)
    assert not Product.objects.filter(pk=product.pk).exists()
    assert not Order.objects.exists()
    assert not StoreTotals.objects.filter(business=store.business).exists()
    assert not ConnectedStore.objects.exists()
    assert not Published.objects.exists()
    assert list(Product.objects.all()) == [kept]
    assert put(shop, NAMED).status_code == 201


def test_scheduler_removes_what_a_lost_message_left(shop: Client, store: ConnectedStore) -> None:
    factories.product(store.business)
    shop.delete(MAIN)
    assert remove_ended_stores() == 1
    assert not Product.objects.exists()
    assert remove_ended_stores() == 0
    assert put(shop, NAMED).status_code == 201


def test_large_store_is_read_seldom_while_it_is_removed(
    shop: Client, store: ConnectedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look sorts all ids that are left: one for each batch took two minutes of 120,000 products."""
    monkeypatch.setattr(customer_erasure, "READ", 4)
    for number in range(7):
        factories.product(store.business, slug=f"p-{number}")
    shop.delete(MAIN)
    with CaptureQueriesContext(connection) as captured:
        remove_ended_stores(batch=2)
    assert not Product.objects.exists()
    looks = [each["sql"] for each in captured if "LIMIT 4" in each["sql"]]
    assert len([each for each in looks if Product._meta.db_table in each]) == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgres
def test_delete_waits_for_rows_that_are_being_written(
    connected: shops.Connected, store: ConnectedStore
) -> None:
    """And a call after it finds no store. A row is being written for as long as a receiver of its event takes."""
    writing, ended, row = Event(), [], {"name": "Rye bread", "price": 4.5, "version": 1}

    def dawdle(**_: Any) -> None:
        writing.set()
        sleep(0.5)
        ended.append("written")

    def write() -> None:
        assert put(shop_client(connected), row, f"{MAIN}/products/p-1").json()["result"] == "created"

    def end() -> None:
        assert writing.wait(10)
        assert shop_client(connected).delete(MAIN).status_code == 202
        ended.append("deleted")

    product_created.connect(dawdle)
    try:
        at_once(write, end)
    finally:
        product_created.disconnect(dawdle)
    assert ended == ["written", "deleted"]
    assert put(shop_client(connected), row, f"{MAIN}/products/p-2").status_code == 404
    remove_ended_stores()
    assert not Product.objects.exists()
    assert not MirroredRow.objects.exists()


def test_open_orders_keep_no_connected_store(shop: Client, store: ConnectedStore) -> None:
    factories.order(store.business)
    assert shop.delete(MAIN).status_code == 202


def test_deleted_store_leaves_others_of_the_connection(shop: Client, store: ConnectedStore) -> None:
    put(shop, NAMED, f"{STORES}/second")
    kept = factories.product(Business.objects.get(connected__external_id="second"))
    shop.delete(MAIN)
    remove_ended_stores()
    assert list(Product.objects.all()) == [kept]
    assert shop.get(f"{STORES}/second").status_code == 200


# --- WantedRows ------------------------------------------------------------------------------------------

NOTHING = {
    "products": True,
    "pages": True,
    "orders": False,
    "reviews": False,
    "ordersSince": None,
    "hookPoints": [],
    "placements": False,
}


def wanted(shop: Client, **headers: str) -> Any:
    return shop.get(f"{MAIN}/wanted", headers=headers)


def listed(dana: User, *scopes: str) -> App:
    app = factories.app(dana, scopes=list(scopes))
    factories.approve(app)
    return app


def test_store_without_apps_wants_no_orders(shop: Client, store: ConnectedStore) -> None:
    assert wanted(shop).json() == NOTHING


@pytest.mark.parametrize(
    ("scope", "orders", "reviews"),
    [
        ("read_orders", True, False),
        ("write_orders", True, False),
        ("read_analytics", True, False),
        ("read_reviews", False, True),
        ("read_products", False, False),
    ],
)
def test_scopes_say_what_is_wanted(
    shop: Client, store: ConnectedStore, dana: User, scope: str, orders: bool, reviews: bool
) -> None:
    factories.installation(listed(dana, scope), store.business)
    found = wanted(shop).json()
    assert (found["orders"], found["reviews"]) == (orders, reviews)


def test_orders_are_wanted_from_90_days_before_the_oldest_reader(
    shop: Client, store: ConnectedStore, dana: User
) -> None:
    now = timezone.now().replace(microsecond=0)
    for days, scope in ((30, "read_products"), (20, "write_orders"), (10, "read_orders")):
        installation = factories.installation(listed(dana, scope), store.business)
        Installation.objects.filter(pk=installation.pk).update(installed_at=now - timedelta(days=days))
    since = (now - timedelta(days=110)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert wanted(shop).json()["ordersSince"] == since


def test_pause_and_suspension_dont_count_and_uninstall_does(
    shop: Client, store: ConnectedStore, installed: Installation
) -> None:
    with_reader = wanted(shop).json()
    assert (with_reader["orders"], with_reader["reviews"]) == (True, True)
    Installation.objects.update(paused_at=timezone.now())
    App.objects.update(suspended_at=timezone.now())
    assert wanted(shop).json() == with_reader
    Installation.objects.update(uninstalled_at=timezone.now())
    assert wanted(shop).json() == NOTHING


def test_hook_points_and_placements_are_those_of_running_apps(
    shop: Client, store: ConnectedStore, installed: Installation
) -> None:
    factories.hook(installed.app, "order.validate")
    factories.hook(installed.app, "order.calculate_discounts")
    block = {"renderUrl": "https://app.example.com/b", "name": "B", "defaultConfig": {}}
    factories.definition(installed.app, ExtensionType.BLOCK, "b", block)
    found = wanted(shop).json()
    assert (found["hookPoints"], found["placements"]) == (
        ["order.calculate_discounts", "order.validate"],
        True,
    )
    Installation.objects.update(paused_at=timezone.now())
    paused = wanted(shop).json()
    assert (paused["hookPoints"], paused["placements"], paused["orders"]) == ([], False, True)


@pytest.mark.usefixtures("stopped_clock")
def test_unchanged_wanted_is_a_304_that_isnt_counted(
    shop: Client, store: ConnectedStore, installed: Installation
) -> None:
    first = wanted(shop)
    assert first["ETag"].startswith('"')
    for _ in range(3):
        again = wanted(shop, **{"if-none-match": first["ETag"]})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
        assert again["X-RateLimit-Remaining"] == first["X-RateLimit-Remaining"]
    Installation.objects.update(uninstalled_at=timezone.now())
    changed = wanted(shop, **{"if-none-match": first["ETag"]})
    assert (changed.status_code, changed.json()) == (200, NOTHING)
    assert changed["ETag"] != first["ETag"]
    assert int(changed["X-RateLimit-Remaining"]) == int(first["X-RateLimit-Remaining"]) - 1
