"""An order over the app API, with apps at every point."""

from typing import Any

import orjson
import pytest
from django.test import Client

from accounts.models import Business
from extensions.models import HookCall
from stores.models import Product
from stores.queries import DEFAULT_DELIVERY_FEE
from tests import factories
from tests.appapi.conftest import client_of
from tests.extensions.hooks.conftest import Hooked, Hooking, says
from tests.webhooks.helpers import is_signed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def api(shop: Business, dana: Any) -> Client:
    caller = factories.app(dana)
    factories.approve(caller)
    return client_of(factories.installation(caller, shop))


@pytest.fixture
def wallet(hooking: Hooking) -> Hooked:
    """Offers a wallet, and makes its payments."""
    offered = {"methods": [{"id": "wallet", "name": "Wallet", "icon": "https://pay.example/w.png"}]}
    app = hooking("checkout.payment_methods", offered)
    factories.hook(app.app, "checkout.create_payment")
    return app


def order_of(bread: Product, **fields: Any) -> dict[str, Any]:
    return {
        "items": [{"productId": str(bread.pk), "quantity": 3}],
        "customer": {"name": "Kim", "email": "kim@example.com"},
        "deliveryMethod": "DELIVERY",
        "address": "1 Quay Street",
        "paymentMethod": "CASH",
        **fields,
    }


def place(api: Client, body: dict[str, Any]) -> Any:
    return api.post("/app-api/orders", body, content_type="application/json")


@pytest.mark.spec("Contract 4 Placing an order", "Validate, discounts, shipping, save, then the payment")
def test_order_passes_all_five_points(api: Client, bread: Product, hooking: Hooking, wallet: Hooked) -> None:
    validator = hooking("order.validate", {"valid": True})
    discount = hooking("order.calculate_discounts", {"discount": 400, "reason": "Three for less"})
    second = hooking("checkout.shipping_rates", {"fee": 120}, priority=20)
    first = hooking("checkout.shipping_rates", {"fee": 90}, priority=10)
    payment = {"paymentUrl": "https://pay.example/1", "qrCode": "q", "invoiceId": "inv-1"}
    wallet.receiver.respond_with(says({"methods": [{"id": "wallet", "name": "Wallet"}]}), says(payment))

    answer = place(api, order_of(bread, paymentMethod=f"{wallet.app.slug}:wallet", promoDiscount=1))

    assert answer.status_code == 201, answer.content
    order = answer.json()
    assert [order[name] for name in ("subtotal", "discount", "deliveryFee", "amount")] == [30, 5, 1.2, 26.2]
    assert order["validation"] == "VALID"
    assert order["paymentMethod"] == f"{wallet.app.slug}:wallet"
    assert order["payment"] == {"status": "PENDING", "expiresAt": None, **payment}

    offers, makes = wallet.receiver.requests
    requests = [
        offers,
        *(app.receiver.requests[0] for app in (validator, discount, first, second)),
        makes,
    ]
    assert [request.at for request in requests] == sorted(request.at for request in requests)
    asked = [orjson.loads(request.body) for request in requests]
    assert [each["hookPoint"] for each in asked] == [
        "checkout.payment_methods", "order.validate", "order.calculate_discounts",
        "checkout.shipping_rates", "checkout.shipping_rates", "checkout.create_payment",
    ]  # fmt: skip
    assert asked[2]["data"]["promoDiscount"] == 100
    assert asked[3]["data"]["builtInFee"] == asked[4]["data"]["builtInFee"] == DEFAULT_DELIVERY_FEE
    assert asked[5]["data"]["amount"] == "2620"
    assert asked[5]["data"]["orderId"] == order["id"]
    for app, request in zip((wallet, validator, discount, first, second, wallet), requests, strict=True):
        assert is_signed(request, app.installation.webhook_secret)
    ledger = HookCall.objects.exclude(hook_point="checkout.payment_methods")
    assert {str(each) for each in ledger.values_list("order_id", flat=True)} == {order["id"]}
    assert ledger.count() == 5


@pytest.mark.spec("Errors", "An order that a merchant's app refuses is 422 with its reason")
def test_refusal_is_422_and_saves_nothing(api: Client, bread: Product, hooking: Hooking) -> None:
    hooking("order.validate", {"valid": False, "reason": "We do not deliver <there>."})
    shipping = hooking("checkout.shipping_rates", {"fee": 1})

    answer = place(api, order_of(bread))

    assert answer.status_code == 422
    assert answer.json()["message"] == "We do not deliver <there>."
    assert api.get("/app-api/orders").json()["total"] == 0
    assert not shipping.receiver.requests


@pytest.mark.spec("Contract 6 Hooks", "Where create_payment fails the order stands with a FAILED payment")
def test_failed_payment_leaves_the_order(api: Client, bread: Product, wallet: Hooked) -> None:
    wallet.receiver.respond_with(
        says({"methods": [{"id": "wallet", "name": "Wallet"}]}), says({}, status=503)
    )

    answer = place(api, order_of(bread, paymentMethod=f"{wallet.app.slug}:wallet"))

    assert answer.status_code == 201
    assert answer.json()["payment"]["status"] == "FAILED"
    assert len(wallet.receiver.requests) == 2


@pytest.mark.spec("Contract 9 Orders", "A method that its app does not offer now is a 400")
def test_method_that_is_not_offered_is_refused(api: Client, bread: Product, wallet: Hooked) -> None:
    answer = place(api, order_of(bread, paymentMethod=f"{wallet.app.slug}:other"))

    assert answer.status_code == 400
    assert answer.json()["details"][0]["field"] == "paymentMethod"


def test_calls_of_a_refused_order_are_not_given_to_the_next(
    api: Client, bread: Product, hooking: Hooking
) -> None:
    refusing = hooking("order.validate", {"valid": False}, {"valid": True})
    place(api, order_of(bread))
    order = place(api, order_of(bread)).json()

    first, second = refusing.calls
    assert (first.order_id, str(second.order_id)) == (None, order["id"])
