"""Placing a guest order: what is taken, what is refused, and every problem at once."""

from copy import deepcopy
from typing import Any
from uuid import uuid4

import orjson
import pytest
from django.test import Client

from accounts.models import Business
from installations.models import Installation
from stores import hookpoints
from stores.models import Order, Product
from tests import factories
from tests.clients import client_of
from webhooks.models import Delivery

JSON = "application/json"


@pytest.fixture
def product(sandbox: Business) -> Product:
    return factories.product(sandbox, name="Tea", price=1250, stock=5)


@pytest.fixture
def body(product: Product) -> dict[str, Any]:
    return {
        "items": [{"productId": str(product.pk), "quantity": 2}],
        "customer": {"name": "Kim Möller", "email": "kim@example.com"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }


def post(api: Client, body: Any) -> Any:
    return api.post("/app-api/orders", body, content_type=JSON)


def problems(answer: Any) -> list[str]:
    assert answer.status_code == 400, answer.content
    return sorted(problem["field"] for problem in answer.json()["details"])


@pytest.mark.spec("App API", "A guest order is a 201 with the order, PENDING, and its stock falls")
def test_order_is_placed(api: Client, body: dict[str, Any], product: Product) -> None:
    answer = post(api, body | {"promoDiscount": 2.5, "note": "Ring twice 🛎", "unknown": 1})
    assert answer.status_code == 201
    record = answer.json()
    assert record == api.get(f"/app-api/orders/{record['id']}").json()
    assert record["status"] == "PENDING"
    assert record["items"] == [{"productId": str(product.pk), "name": "Tea", "quantity": 2, "price": 12.5}]
    assert (record["subtotal"], record["discount"], record["deliveryFee"], record["amount"]) == (
        25,
        2.5,
        0,
        22.5,
    )
    assert record["customer"].pop("key").startswith("shp_")
    assert record["customer"] == {"name": "Kim Möller", "email": "kim@example.com", "phone": None}
    assert (record["payment"], record["isGuest"], record["note"]) == (None, True, "Ring twice 🛎")
    product.refresh_from_db()
    assert product.stock == 3


def test_null_stands_for_left_out(api: Client, body: dict[str, Any]) -> None:
    body["customer"] |= {"phone": None}
    answer = post(api, body | {"address": None, "note": None, "promoDiscount": None})
    assert answer.status_code == 201
    assert (answer.json()["note"], answer.json()["discount"]) == ("", 0)


def test_delivery_costs_the_fee_and_keeps_the_address(api: Client, body: dict[str, Any]) -> None:
    record = post(api, body | {"deliveryMethod": "DELIVERY", "address": "1 Harbour Rd"}).json()
    assert record["address"] == "1 Harbour Rd"
    assert record["amount"] == record["subtotal"] - record["discount"] + record["deliveryFee"]
    assert record["deliveryFee"] > 0


@pytest.mark.spec("Errors", "A validation error tells every problem at once, each with its path")
def test_every_problem_is_told_at_once(api: Client, body: dict[str, Any]) -> None:
    answer = post(
        api,
        {
            "items": [{"productId": "x", "quantity": 1}, {"productId": 5, "quantity": 0}, "tea", {}],
            "customer": {"name": " "},
            "deliveryMethod": "DELIVERY",
            "paymentMethod": 7,
            "promoDiscount": -1,
            "note": "n" * 2001,
        },
    )
    assert problems(answer) == [
        "address",
        "customer",
        "customer.name",
        "items[1].productId",
        "items[1].quantity",
        "items[2]",
        "items[3].productId",
        "items[3].quantity",
        "note",
        "paymentMethod",
        "promoDiscount",
    ]
    assert Order.objects.count() == 0


def test_empty_body_names_what_is_required(api: Client) -> None:
    assert problems(post(api, {})) == ["customer", "deliveryMethod", "items", "paymentMethod"]


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"items": []}, ["items"]),
        ({"items": None}, ["items"]),
        ({"items": "tea"}, ["items"]),
        ({"items": {"0": {}}}, ["items"]),
        ({"items": [{"productId": "x", "quantity": 1}] * 101}, ["items"]),
        ({"items": [{"productId": "x", "quantity": 1.5}]}, ["items[0].quantity"]),
        ({"items": [{"productId": "x", "quantity": "1"}]}, ["items[0].quantity"]),
        ({"items": [{"productId": "x", "quantity": True}]}, ["items[0].quantity"]),
        ({"items": [{"productId": "x", "quantity": -1}]}, ["items[0].quantity"]),
        ({"items": [{"productId": "x", "quantity": 10**30}]}, ["items[0].quantity"]),
        ({"items": [{"productId": "x", "quantity": 2**63}]}, ["items[0].quantity"]),
        ({"items": [{"productId": None, "quantity": 1}]}, ["items[0].productId"]),
        ({"customer": "Kim"}, ["customer"]),
        ({"customer": None}, ["customer"]),
        ({"customer": {"name": "Kim"}}, ["customer"]),
        ({"customer": {"name": "Kim", "email": " ", "phone": None}}, ["customer"]),
        ({"customer": {"name": "Kim", "email": "kim"}}, ["customer.email"]),
        ({"customer": {"name": "Kim", "email": "kim@example.com", "phone": 5}}, ["customer.phone"]),
        ({"customer": {"name": "K" * 121, "phone": "1" * 41}}, ["customer.name", "customer.phone"]),
        ({"customer": {"name": "K\0", "phone": "+1 555 0100"}}, ["customer.name"]),
        ({"customer": {"name": "Kim", "email": "a" * 250 + "@example.com"}}, ["customer.email"]),
        ({"deliveryMethod": "DELIVERY"}, ["address"]),
        ({"deliveryMethod": "DELIVERY", "address": "  "}, ["address"]),
        ({"deliveryMethod": "DELIVERY", "address": 5}, ["address"]),
        ({"deliveryMethod": "pickup"}, ["deliveryMethod"]),
        ({"deliveryMethod": None}, ["deliveryMethod"]),
        ({"deliveryMethod": ["PICKUP"]}, ["deliveryMethod"]),
        ({"address": "a" * 1001}, ["address"]),
        ({"note": "a\0b"}, ["note"]),
        ({"paymentMethod": ""}, ["paymentMethod"]),
        ({"paymentMethod": "BARTER"}, ["paymentMethod"]),
        ({"paymentMethod": "some-app:card"}, ["paymentMethod"]),
        ({"promoDiscount": "2"}, ["promoDiscount"]),
        ({"promoDiscount": True}, ["promoDiscount"]),
        ({"promoDiscount": 0.125}, ["promoDiscount"]),
        ({"promoDiscount": 1e-300}, ["promoDiscount"]),
        ({"promoDiscount": 1e300}, ["promoDiscount"]),
        ({"promoDiscount": 2**70}, ["promoDiscount"]),
        ({"promoDiscount": 25.01}, ["promoDiscount"]),
    ],
)
def test_wrong_input_is_400_and_named(
    api: Client, body: dict[str, Any], change: dict[str, Any], fields: list[str]
) -> None:
    answer = post(api, body | change)
    assert problems(answer) == fields
    assert answer.json()["message"].startswith(f"{answer.json()['details'][0]['field']}: ")
    assert Order.objects.count() == 0


@pytest.mark.parametrize(("currency", "taken"), [("JPY", 0), ("USD", 2), ("BHD", 3)])
def test_promo_discount_has_the_decimals_of_the_currency(
    api: Client, body: dict[str, Any], sandbox: Business, currency: str, taken: int
) -> None:
    sandbox.currency = currency
    sandbox.save()
    for places in range(4):
        answer = post(api, deepcopy(body) | {"promoDiscount": round(1 + 10**-places, places)})
        assert answer.status_code == (201 if places <= taken else 400)
        assert Order.objects.count() == min(places, taken) + 1
        Product.objects.update(stock=5)


@pytest.mark.spec("App API", "Unknown product 404, unavailable 409, not enough stock 409")
def test_product_that_cannot_be_had(
    api: Client, body: dict[str, Any], sandbox: Business, elsewhere: Installation, product: Product
) -> None:
    def order(product_id: object, quantity: int = 1) -> int:
        return post(api, body | {"items": [{"productId": str(product_id), "quantity": quantity}]}).status_code

    assert order(uuid4()) == 404
    assert order("nonsense") == 404
    assert order(factories.product(elsewhere.business).pk) == 404
    assert order(factories.product(sandbox, is_available=False).pk) == 409
    assert order(factories.product(sandbox, status="ARCHIVED").pk) == 409
    assert order(product.pk, 6) == 409
    assert order(product.pk, 1_000_000) == 409
    assert Order.objects.count() == 0
    product.refresh_from_db()
    assert product.stock == 5
    assert order(product.pk, 5) == 201
    assert order(product.pk, 1) == 409


@pytest.mark.spec("App API", "An order that a hook refuses is a 422 with the hook's reason")
def test_order_refused_by_a_hook_is_422(api: Client, body: dict[str, Any]) -> None:
    refusal = hookpoints.OrderVerdict(valid=False, reason="We are closed on Fridays.")
    with hookpoints.registered("order.validate", lambda request: refusal):
        answer = post(api, body)
    assert (answer.status_code, answer.json()["message"]) == (422, "We are closed on Fridays.")
    assert answer.json()["error"] == "Unprocessable Content"
    assert Order.objects.count() == 0


@pytest.mark.spec("Errors", "400 comes before 404, and 404 before 409")
def test_order_of_errors_of_an_order(api: Client, body: dict[str, Any], sandbox: Business) -> None:
    sold_out = {"productId": str(factories.product(sandbox, price=100, stock=0).pk), "quantity": 1}
    unknown = {"productId": str(uuid4()), "quantity": 1}

    def status(*items: dict[str, Any], **changes: Any) -> int:
        return post(api, body | {"items": items} | changes).status_code

    assert status(sold_out) == 409
    assert status(sold_out, promoDiscount=1.01) == 400
    assert status(sold_out, paymentMethod="some-app:card") == 400
    assert status(sold_out, unknown) == 404
    assert status(unknown, paymentMethod="some-app:card") == 400
    assert status(sold_out | {"quantity": 1_000_000}, promoDiscount=1_000_001) == 400
    dear = factories.product(sandbox, price=2**52, is_available=False)
    assert status({"productId": str(dear.pk), "quantity": 9}) == 400  # more than can be counted
    assert Order.objects.count() == 0


@pytest.mark.spec("App API", "discount is the promo discount and the apps' together, at most the subtotal")
@pytest.mark.parametrize(("by_apps", "discount"), [(150, 4.0), (10**6, 25)])
def test_discount_includes_the_promo_discount(
    api: Client, body: dict[str, Any], by_apps: int, discount: float
) -> None:
    with hookpoints.registered("order.calculate_discounts", lambda request: hookpoints.Discount(by_apps)):
        record = post(api, body | {"promoDiscount": 2.5}).json()
    assert (record["subtotal"], record["discount"], record["amount"]) == (25, discount, 25 - discount)


@pytest.mark.spec("App API", "validation is VALID, or NOT_VALIDATED where an app could not be heard")
@pytest.mark.parametrize(("all_heard", "mark"), [(True, "VALID"), (False, "NOT_VALIDATED")])
def test_order_tells_whether_every_app_was_heard(
    api: Client, body: dict[str, Any], all_heard: bool, mark: str
) -> None:
    verdict = hookpoints.OrderVerdict(all_heard=all_heard)
    with hookpoints.registered("order.validate", lambda request: verdict):
        assert post(api, body).json()["validation"] == mark


def test_shipping_fee_of_an_app_is_the_order_s(api: Client, body: dict[str, Any]) -> None:
    with hookpoints.registered("checkout.shipping_rates", lambda request: hookpoints.ShippingRate(123)):
        record = post(api, body).json()
    assert (record["deliveryFee"], record["amount"]) == (1.23, 26.23)


def test_order_lands_in_the_token_s_business_only(
    api: Client, body: dict[str, Any], sandbox: Business, elsewhere: Installation
) -> None:
    answer = post(api, body | {"businessId": str(elsewhere.business_id)})
    assert answer.status_code == 201
    assert Order.objects.get().business_id == sandbox.pk


def test_order_reaches_the_webhooks_of_the_business(
    api: Client, body: dict[str, Any], elsewhere: Installation
) -> None:
    for client in (api, client_of(elsewhere)):
        webhook = {"url": "https://127.0.0.1:9/hook", "events": ["order.created", "product.low_stock"]}
        assert client.post("/webhooks", webhook, content_type=JSON).status_code == 201
    order = post(api, body).json()
    delivery = Delivery.objects.get()
    assert delivery.event.type == "order.created"
    assert orjson.loads(delivery.event.data)["orderId"] == order["id"]
