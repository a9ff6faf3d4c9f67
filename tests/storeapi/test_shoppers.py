"""The person who buys, and apps' attributes, in shops that exist (contract, section 23, "Connected stores")."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import ConnectedStore
from stores.models import Order, Quote
from tests.clients import client_of
from tests.hooking import Hooked, Hooking
from tests.storeapi.checkouts import DATA, DISCOUNTS, METHODS, VALIDATE, order
from tests.storeapi.rows import post, put

pytestmark = [pytest.mark.django_db, pytest.mark.timed]

SPEC = "Contract 23 What an order tells"
JSON = "application/json"


@pytest.fixture
def slots(store: ConnectedStore, hooking: Hooking) -> Hooked:
    return hooking(DISCOUNTS, {"discount": 0}, business=store.business)


@pytest.fixture
def gifts(store: ConnectedStore, hooking: Hooking) -> Hooked:
    return hooking(DISCOUNTS, {"discount": 0}, business=store.business)


def ask(shop: Client, point: str = DISCOUNTS, **beside: Any) -> dict[str, Any]:
    response = post(shop, f"hooks/{point}", data=DATA[point], **beside)
    assert response.status_code == 200, response.content
    found: dict[str, Any] = response.json()
    return found


def record(app: Hooked) -> dict[str, Any]:
    (found,) = client_of(app.installation).get("/app-api/orders").json()["data"]
    return dict(found)


@pytest.mark.spec(
    SPEC, "A hook's body has shopper and attributes beside data; without them null and {}; proven is false"
)
def test_hooks_tell_each_app_its_own(shop: Client, slots: Hooked, gifts: Hooked, hooking: Hooking) -> None:
    ask(shop)
    assert (slots.asked()["shopper"], slots.asked()["attributes"]) == (None, {})
    mine, theirs = {"slot": "Friday"}, {"card": "For Ada"}
    sent = {slots.app.slug: mine, gifts.app.slug: theirs, "nobody": {"a": "b"}}
    ask(shop, shopper={"email": "Kim@Example.com"}, attributes=sent)
    assert (slots.asked(1)["attributes"], gifts.asked(1)["attributes"]) == (mine, theirs)
    keys = [app.asked(1)["shopper"]["key"] for app in (slots, gifts)]
    assert keys[0] != keys[1]
    ask(shop, shopper={"email": " kim@example.COM", "phone": "+1 555 0100"})
    assert slots.asked(2)["shopper"] == {"key": keys[0], "proven": False}
    ask(shop, shopper={"phone": "nobody's"})
    assert slots.asked(3)["shopper"] is None
    order(shop, customer={"name": "Kim", "email": "kim@example.com", "phone": ""})
    assert record(slots)["customer"]["key"] == keys[0]


@pytest.mark.spec(SPEC, "A breach in a hook's body is a 400 with its path")
def test_bad_attributes_are_refused(shop: Client, slots: Hooked) -> None:
    bad: Any = {
        "slots": {"No": "x", "long": "x" * 501, "gone": None},
        "list": [],
        "many": {f"k{n}": "x" for n in range(21)},
    }
    for path, body in (
        (f"hooks/{DISCOUNTS}", {"data": DATA[DISCOUNTS], "attributes": bad}),
        ("orders/o-1", None),
    ):
        response = post(shop, path, **body) if body else put(shop, path, 1, attributes=bad)
        fields = {each["field"] for each in response.json()["details"]}
        assert response.status_code == 400
        assert {
            "attributes.slots.No",
            "attributes.slots.long",
            "attributes.list",
            "attributes.many.k20",
        } <= fields
    response = post(shop, f"hooks/{METHODS}", data={}, shopper={"name": "Kim"})
    assert response.json()["details"][0]["field"] == "shopper.name"


@pytest.mark.spec(SPEC, "The quote carries attributes to its order")
def test_quote_carries_them_to_its_order(shop: Client, slots: Hooked, gifts: Hooked) -> None:
    attributes = {slots.app.slug: {"slot": "Friday"}, gifts.app.slug: {"card": "For Ada"}}
    first = ask(shop, VALIDATE, attributes=attributes)
    second = ask(shop, DISCOUNTS, quote=first["quote"])  # this call says nothing of attributes
    assert order(shop, second["quote"])["quote"] == "taken"
    assert record(slots)["attributes"] == {"slot": "Friday"}
    assert record(gifts)["attributes"] == {"card": "For Ada"}


@pytest.mark.spec(SPEC, "Or the order's row has attributes in the same form")
@pytest.mark.spec(SPEC, "PATCH works here, too, and tells the shop nothing")
def test_row_brings_them_and_takes_nothing_back(shop: Client, slots: Hooked, gifts: Hooked) -> None:
    sent = {slots.app.slug: {"slot": "Friday"}, gifts.app.slug: {"card": "For Ada"}}
    order(shop, attributes=sent)
    found = record(slots)
    assert found["attributes"] == {"slot": "Friday"}
    api = client_of(slots.installation)
    path = f"/app-api/orders/{found['id']}/attributes"
    patched = api.patch(path, {"attributes": {"slot": "Monday"}}, content_type=JSON)
    assert patched.status_code == 200, patched.content
    order(shop, version=2, attributes=sent, status="CONFIRMED")  # the cart's, once more
    order(shop, version=3, status="PREPARING")
    assert record(slots)["attributes"] == {"slot": "Monday"}
    assert record(gifts)["attributes"] == {"card": "For Ada"}
    order(shop, version=4, attributes={slots.app.slug: {"slot": "Tuesday"}})
    assert record(slots)["attributes"] == {"slot": "Tuesday"}
    assert order(shop, version=4, attributes={slots.app.slug: {"slot": "Tuesday"}})["result"] == "unchanged"


@pytest.mark.spec(SPEC, "An erasure of the person empties all apps', also in rows that come later")
def test_erased_order_gets_none_again(shop: Client, slots: Hooked) -> None:
    sent = {slots.app.slug: {"slot": "Friday"}}
    quote = ask(shop, attributes=sent)["quote"]
    kim = {"name": "Kim", "email": "kim@example.com", "phone": ""}
    order(shop, quote, customer=kim, attributes=sent)
    assert post(shop, "customers/erase", email="kim@example.com").status_code == 202
    order(shop, version=2, customer=kim, attributes={slots.app.slug: {"slot": "Tuesday"}})
    assert (record(slots)["attributes"], record(slots)["customer"]["key"]) == ({}, None)
    assert not Order.objects.get().attributes
    assert not Quote.objects.get().attributes
