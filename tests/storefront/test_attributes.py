"""What blocks and widgets put into the cart: where it goes, who sees it, and when it goes away (contract, section 23, "Attributes")."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Business, User
from activity import log
from activity.models import ApiCall
from installations.services import lifecycle
from stores.models import Cart, Order, Payment
from tests import factories
from tests.clients import client_of
from tests.hooking import Hooked, Hooking, says
from tests.merchants.erasing import erase, export_page_of
from tests.pages import signed_in
from tests.storefront.shopping import Shopper, hidden
from tests.webhooks.helpers import drain
from webhooks.services import erasure

SPEC = "Contract 23 What an order tells"
JSON = "application/json"
DISCOUNTS = "order.calculate_discounts"
LATER = timedelta(hours=49)


def send(shopper: Shopper, app: str, **attributes: Any) -> Any:
    """As `block_host.js` does for a frame."""
    body = json.dumps({"app": app, "attributes": attributes})
    return shopper.post(shopper.at("cart/attributes/"), body, content_type=JSON)


def saved(shopper: Shopper, app: Hooked, **attributes: Any) -> dict[str, str]:
    response = send(shopper, app.app.slug, **attributes)
    assert response.status_code == 200, response.content
    found: dict[str, str] = response.json()["attributes"]
    return found


@pytest.fixture
def slots(hooking: Hooking) -> Hooked:
    return hooking(DISCOUNTS, {"discount": 0})


@pytest.fixture
def gifts(hooking: Hooking) -> Hooked:
    return hooking(DISCOUNTS, {"discount": 0})


@pytest.fixture
def shopper(shop: Business) -> Shopper:
    return Shopper(shop)


@pytest.fixture
def placed(shop: Business, shopper: Shopper, slots: Hooked, gifts: Hooked) -> Order:
    """Kim's order, with attributes of two apps."""
    shopper.take(factories.product(shop))
    saved(shopper, slots, slot="Friday", public_pickup_time="9 to 11")
    saved(shopper, gifts, card="For Ada")
    assert shopper.place().status_code == 302
    return Order.objects.get()


@pytest.mark.spec(SPEC, "A SERVICE_CART_ATTRIBUTES is merged into the cart under its app; null removes a key")
def test_attributes_are_merged_and_a_cart_begins(shopper: Shopper, slots: Hooked) -> None:
    assert saved(shopper, slots, slot="Friday", gate="2") == {"slot": "Friday", "gate": "2"}
    assert Cart.objects.count() == 1
    assert saved(shopper, slots, slot="Saturday\n9 to 11", gate=None) == {"slot": "Saturday\n9 to 11"}
    assert saved(shopper, slots) == {"slot": "Saturday\n9 to 11"}


@pytest.mark.spec(SPEC, "Good attributes are kept, the others are named in the app's log")
def test_bad_ones_are_left_out_and_logged(shopper: Shopper, slots: Hooked) -> None:
    bad = {
        "Slot": "x", "": "x", "k" * 41: "x", "long": "x" * 501, "number": 7, "bell": "a\x07b", "tab": "a\tb", "del": "\x7f", "c1": "\x85",
        "half": "\ud800",
    }  # fmt: skip
    good = {"k" * 40: "🛎" * 500, "lines": "a\nb", "empty": ""}
    assert saved(shopper, slots, **bad, **good) == good
    log.flush()
    call = ApiCall.objects.get(app=slots.app)
    assert (call.path, call.status) == ("SERVICE_CART_ATTRIBUTES", 400)
    assert {each["field"] for each in call.details or []} == {f"attributes.{key}" for key in bad}
    page = signed_in(slots.app.developer).get(f"/portal/apps/{slots.app.slug}/requests/{call.pk}/")
    assert "attributes.Slot" in page.content.decode()


@pytest.mark.spec(SPEC, "At most 20 keys")
def test_twenty_first_key_is_left_out(shopper: Shopper, slots: Hooked) -> None:
    saved(shopper, slots, **{f"key_{number}": "x" for number in range(20)})
    assert len(saved(shopper, slots, one_more="x", key_3="y")) == 20
    assert "one_more" in saved(shopper, slots, key_4=None, one_more="x")


def test_only_apps_that_run_in_the_store_have_a_place(
    shop: Business, sam: User, shopper: Shopper, slots: Hooked
) -> None:
    assert send(shopper, factories.app(sam).slug, slot="x").status_code == 404
    lifecycle.uninstall(installation=slots.installation, by=shop.owner)
    assert send(shopper, slots.app.slug, slot="x").status_code == 404
    for body in ("", "[]", '{"app": "x"}', '{"app": 1, "attributes": {}}', '{"app": "x", "attributes": []}'):
        assert shopper.post(shopper.at("cart/attributes/"), body, content_type=JSON).status_code == 400
    assert not Cart.objects.exists()


@pytest.mark.spec(SPEC, "Hooks carry the app's own attributes beside data, and so do its own order records")
@pytest.mark.spec(SPEC, "No app sees another's")
def test_each_app_gets_its_own_and_nothing_else(placed: Order, slots: Hooked, gifts: Hooked) -> None:
    expected = {
        slots: {"slot": "Friday", "public_pickup_time": "9 to 11"},
        gifts: {"card": "For Ada"},
    }
    for app, own in ((slots, expected[slots]), (gifts, expected[gifts])):
        assert app.asked()["attributes"] == own
        api = client_of(app.installation)
        (listed,) = api.get("/app-api/orders").json()["data"]
        assert listed["attributes"] == own
        assert api.get(f"/app-api/orders/{placed.pk}").json() == listed


def test_attributes_leave_the_cart_with_their_order(placed: Order, shopper: Shopper, slots: Hooked) -> None:
    assert saved(shopper, slots, gate="2") == {"gate": "2"}


@pytest.mark.spec(SPEC, "The merchant's order page and slip show them under the app's name")
@pytest.mark.spec(SPEC, "The buyer's page shows those whose key begins with public_")
def test_pages_show_them(placed: Order, shop: Business, shopper: Shopper, slots: Hooked) -> None:
    mira = signed_in(shop.owner)
    for path in (f"/merchant/orders/{placed.pk}/", f"/merchant/orders/{placed.pk}/packing-slip/"):
        page = mira.get(path).content.decode()
        for text in (slots.app.name, "slot", "Friday", "public_pickup_time", "9 to 11", "For Ada"):
            assert text in page, (path, text)
    [key] = [each["key"] for each in json.loads(Cart.objects.get().orders)]
    buyers = shopper.see(f"orders/{key}/")
    assert "Pickup time" in buyers
    assert "9 to 11" in buyers
    assert "Friday" not in buyers
    assert "For Ada" not in buyers


@pytest.mark.spec(SPEC, "A guest order's body takes the caller's own attributes")
@pytest.mark.spec(
    SPEC, "PATCH merges: a breach is a 400 at attributes.KEY, nothing saved; a change moves updatedAt"
)
def test_app_changes_its_own(shop: Business, slots: Hooked, gifts: Hooked) -> None:
    product = factories.product(shop)
    body = {
        "items": [{"productId": str(product.pk), "quantity": 1}],
        "customer": {"name": "Kim", "email": "kim@example.com"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }
    api, other = client_of(slots.installation), client_of(gifts.installation)

    def post(**attributes: Any) -> Any:
        return api.post("/app-api/orders", body | {"attributes": attributes}, content_type=JSON)

    refused = post(slot="x" * 501, Bad="x")
    assert {each["field"] for each in refused.json()["details"]} == {"attributes.slot", "attributes.Bad"}
    record = post(slot="Friday").json()
    assert record["attributes"] == {"slot": "Friday"}
    assert slots.asked()["attributes"] == {"slot": "Friday"}
    assert gifts.asked()["attributes"] == {}
    path = f"/app-api/orders/{record['id']}/attributes"

    def patch(client: Any, **attributes: Any) -> Any:
        return client.patch(path, {"attributes": attributes}, content_type=JSON)

    wrong = patch(api, slot="Monday", gate="a\x00b", **{"no-key": "x"})
    assert wrong.status_code == 400
    assert "attributes.no-key" in {each["field"] for each in wrong.json()["details"]}
    assert api.get(f"/app-api/orders/{record['id']}").json() == record
    same = patch(api, slot="Friday").json()
    assert same["updatedAt"] == record["updatedAt"]
    changed = patch(api, slot=None, gate="2").json()
    assert changed["attributes"] == {"gate": "2"}
    assert changed["updatedAt"] > record["updatedAt"]
    assert patch(other, gate="mine").json()["attributes"] == {"gate": "mine"}
    assert api.get(f"/app-api/orders/{record['id']}").json()["attributes"] == {"gate": "2"}


@pytest.mark.spec(SPEC, "PATCH needs write_orders and is a 404 for another store's order")
def test_scope_and_tenant(placed: Order, slots: Hooked, sandbox: Business) -> None:
    path = f"/app-api/orders/{placed.pk}/attributes"
    body = {"attributes": {"slot": "x"}}
    elsewhere = factories.installation(slots.app, sandbox)
    assert client_of(elsewhere).patch(path, body, content_type=JSON).status_code == 404
    slots.installation.granted_scopes = ["read_orders"]
    slots.installation.save()
    assert client_of(slots.installation).patch(path, body, content_type=JSON).status_code == 403


@pytest.mark.spec(
    SPEC, "All five hooks carry the app's own attributes; checkout.create_payment the shopper, too"
)
def test_payment_is_asked_for_with_what_the_app_knows_of_the_order(
    shop: Business, shopper: Shopper, hooking: Hooking, gifts: Hooked
) -> None:
    """At first, and again where the shopper chooses again, after an order of somebody else's in the same browser."""
    bell = hooking("checkout.payment_methods", {"methods": [{"id": "bell", "name": "Bell Pay"}]})
    factories.hook(bell.app, "checkout.create_payment")
    factories.hook(bell.app, DISCOUNTS)
    shopper.take(factories.product(shop))
    saved(shopper, bell, table="7")
    saved(shopper, gifts, card="For Ada")
    method = f"{bell.app.slug}:bell"
    bell.receiver.respond_with(says({"methods": [{"id": "bell", "name": "Bell Pay"}], "discount": 0}))
    page = shopper.place(payment_method=method)["Location"]

    def asked(point: str) -> list[dict[str, Any]]:
        calls = [json.loads(each.body) for each in bell.receiver.requests]
        return [call for call in calls if call["hookPoint"] == point]

    [priced], [paid] = asked(DISCOUNTS), asked("checkout.create_payment")
    assert paid["shopper"] == priced["shopper"]
    assert paid["shopper"]["key"]
    assert paid["attributes"] == {"table": "7"}
    Payment.objects.update(status="FAILED")
    shopper.take(factories.product(shop))
    shopper.place(customer_email="ada@example.com")
    saved(shopper, bell, table="8")
    form = hidden(shopper.get(f"{page}pay/")) | {"payment_method": method}
    assert shopper.post(f"{page}pay/", form).status_code == 302
    again = asked("checkout.create_payment")[1]
    assert (again["shopper"], again["attributes"]) == (paid["shopper"], {"table": "7"})


@pytest.mark.spec(SPEC, "Export has them, an erasure of the person empties all apps'")
def test_export_and_erasure_of_the_person(
    placed: Order, shop: Business, slots: Hooked, gifts: Hooked
) -> None:
    Order.objects.update(status="DELIVERED")
    mira = signed_in(shop.owner)
    [exported] = mira.get(export_page_of(mira, email="kim@example.com")).json()["orders"]
    assert exported["attributes"] == {
        slots.app.slug: {"slot": "Friday", "public_pickup_time": "9 to 11"},
        gifts.app.slug: {"card": "For Ada"},
    }
    assert "key" not in exported["customer"]
    erase(mira, "kim@example.com")
    for app in (slots, gifts):
        record = client_of(app.installation).get(f"/app-api/orders/{placed.pk}").json()
        assert (record["attributes"], record["customer"]["key"]) == ({}, None)


@pytest.mark.spec(SPEC, "business.data_erasure, when it is sent, empties that app's")
def test_erasure_of_the_store_empties_that_app(
    placed: Order, shop: Business, shopper: Shopper, slots: Hooked, gifts: Hooked
) -> None:
    saved(shopper, slots, slot="Monday")
    saved(shopper, gifts, card="For Bo")
    lifecycle.uninstall(installation=slots.installation, by=shop.owner)
    placed.refresh_from_db()
    assert str(slots.app.pk) in (placed.attributes or {})  # not before it is sent
    slots.receiver.respond_with(200)
    with time_machine.travel(timezone.now() + LATER):
        drain()
        erasure.update_states()
    placed.refresh_from_db()
    assert placed.attributes == {str(gifts.app.pk): {"card": "For Ada"}}
    assert Cart.objects.get().attributes == {str(gifts.app.pk): {"card": "For Bo"}}
