"""An order over the app API, with apps at every point."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import orjson
import pytest
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Business
from common import strangers
from extensions.hooks import health
from extensions.models import Breaker, HookCall
from marketplace.models import App
from stores.models import Order, Product
from stores.queries import DEFAULT_DELIVERY_FEE, order_by_page_key
from stores.services.checkout import place_once
from tests import factories
from tests.clients import client_of
from tests.hooking import Hooked, Hooking, says
from tests.strangers import others, places_taken
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


@pytest.mark.long
def test_order_keeps_what_each_app_did_and_who_placed_it(
    api: Client, bread: Product, hooking: Hooking, wallet: Hooked
) -> None:
    hooking("order.validate", 500)
    hooking("order.calculate_discounts", {"discount": 2900, "reason": "Stars"}, priority=1)
    hooking("order.calculate_discounts", 500, priority=2)
    hooking("order.calculate_discounts", {"discount": 200}, priority=2)
    hooking("order.calculate_discounts", {"discount": 50}, priority=3)
    hooking("checkout.shipping_rates", {"fee": 120}, priority=1)
    hooking("checkout.shipping_rates", 500, priority=2)
    hooking("checkout.shipping_rates", {"fee": 90}, priority=2)
    hooking("checkout.shipping_rates", 500, priority=3)
    offer = {"methods": [{"id": "wallet", "name": "Wallet"}]}
    wallet.receiver.respond_with(says(offer), says({"paymentUrl": "https://pay.example/1"}))
    placed = place(api, order_of(bread, paymentMethod=f"{wallet.app.slug}:wallet"))
    assert placed.status_code == 201
    order = Order.objects.get()
    assert [(part.point, part.outcome, part.amount, part.instead) for part in order.hook_parts.all()] == [
        ("order.validate", "FAILED", None, "The order was accepted without this app's check."),
        ("order.calculate_discounts", "ANSWERED", 2900, ""),
        ("order.calculate_discounts", "FAILED", None, "This app gave no discount."),
        ("order.calculate_discounts", "ANSWERED", 100, "Discounts can't be more than the order's value."),
        ("order.calculate_discounts", "ANSWERED", 0, "Discounts can't be more than the order's value."),
        ("checkout.shipping_rates", "ANSWERED", 120, "The next app's fee was used."),
        ("checkout.shipping_rates", "FAILED", None, "The previous app's fee was kept."),
        ("checkout.shipping_rates", "ANSWERED", 90, ""),
        ("checkout.shipping_rates", "FAILED", None, "The previous app's fee was kept."),
        ("checkout.create_payment", "ANSWERED", None, ""),
    ]
    assert (order.discount, order.delivery_fee, order.payment_method_name) == (3000, 90, "Wallet")
    assert {part.app_name for part in order.hook_parts.all()} <= set(
        App.objects.values_list("name", flat=True)
    )
    (line,) = order.changes.all()
    assert (line.kind, line.actor, line.actor_name) == (
        "PLACED",
        "APP",
        App.objects.get(pk=line.actor_id).name,
    )


@pytest.mark.long
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


@pytest.mark.spec("Contract 6 Hooks", "If create_payment fails the order is kept with a FAILED payment")
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


def test_calls_of_a_refused_order_name_none(api: Client, bread: Product, hooking: Hooking) -> None:
    refusing = hooking("order.validate", {"valid": False}, {"valid": True})
    place(api, order_of(bread))
    order = place(api, order_of(bread)).json()

    first, second = refusing.calls
    shown = [health.own_call(refusing.definition, each.pk) for each in (first, second)]
    assert [each.has_order for each in shown] == [False, True]
    assert str(second.order_id) == order["id"] != str(first.order_id)


@pytest.mark.django_db(transaction=True)
def test_order_and_its_calls_are_written_once(shop: Business, hooking: Hooking) -> None:
    hook = hooking("order.validate", {"valid": True})
    request = factories.order_request((factories.product(shop), 1))
    with CaptureQueriesContext(connection) as queries:
        order = place_once(business=shop, key="k" * 32, request=request)
    assert hook.call.order_id == order.pk
    assert order_by_page_key(shop, "k" * 32) == order
    updates = [query["sql"] for query in queries if query["sql"].startswith("UPDATE")]
    assert not [sql for sql in updates if "stores_order" in sql or "hookcall" in sql]


# --- Places for those who wait ----------------------------------------------------------------------

FULL = pytest.mark.spec("Contract 6 Hooks", "A payment that can't be asked for, all places taken, is 503")


@FULL
def test_payment_that_nobody_can_wait_for_is_503_and_saves_nothing(
    api: Client, bread: Product, wallet: Hooked
) -> None:
    body = order_of(bread, paymentMethod=f"{wallet.app.slug}:wallet")
    with places_taken():
        refused = api.post(
            "/app-api/orders", body, content_type="application/json", headers={"Idempotency-Key": "cart-1"}
        )
    assert (refused.status_code, refused.json()["error"]) == (503, "Service Unavailable")
    assert int(refused["Retry-After"]) > 0
    assert len(wallet.receiver.requests) == 1  # for the methods, and for no payment
    assert not Order.objects.exists()
    again = api.post(
        "/app-api/orders", body, content_type="application/json", headers={"Idempotency-Key": "cart-1"}
    )
    assert again.status_code == 201, again.content


@FULL
def test_payment_of_an_app_that_was_quick_needs_no_place(api: Client, bread: Product, wallet: Hooked) -> None:
    methods, paid = {"methods": [{"id": "wallet", "name": "Wallet"}]}, {"paymentUrl": "https://pay.example/1"}
    wallet.receiver.respond_with(says(methods | paid))
    body = order_of(bread, paymentMethod=f"{wallet.app.slug}:wallet")
    first = place(api, body)
    with places_taken():
        second = place(api, body)
    assert [each.json()["payment"]["status"] for each in (first, second)] == ["PENDING"] * 2


@pytest.mark.long
@FULL
def test_payment_of_an_app_that_was_slow_has_its_place_before_the_order_is_saved(
    api: Client, bread: Product, wallet: Hooked
) -> None:
    methods, paid = {"methods": [{"id": "wallet", "name": "Wallet"}]}, {"paymentUrl": "https://pay.example/1"}
    strangers.bound().remember(str(wallet.app.pk), "checkout.create_payment", 2.0)
    wallet.receiver.respond_with(says(methods), says(methods), says(paid, delay=1))
    body = order_of(bread, paymentMethod=f"{wallet.app.slug}:wallet")
    with others(str(wallet.app.pk)):
        assert place(api, body).status_code == 503
    assert place(api, body).json()["payment"]["status"] == "PENDING"


@pytest.mark.long
@FULL
def test_order_paid_in_cash_is_placed_unchecked(api: Client, bread: Product, hooking: Hooking) -> None:
    validator = hooking("order.validate", says({"valid": False}, delay=5))
    shipping = hooking("checkout.shipping_rates", {"fee": 0})
    with places_taken():
        answer = place(api, order_of(bread))
    assert (answer.status_code, answer.json()["validation"]) == (201, "NOT_VALIDATED")
    assert validator.call.outcome == "NO_TIME_LEFT"
    assert "waiting for slow apps" in validator.call.problem
    assert not Breaker.objects.exists()  # the hook isn't to blame
    assert shipping.call.outcome == "NO_TIME_LEFT"
    assert not shipping.receiver.requests  # nothing is sent that is not waited for


@pytest.mark.long
@FULL
@pytest.mark.postgres
def test_orders_at_once_by_a_slow_method_are_placed_or_503(
    api: Client, bread: Product, wallet: Hooked
) -> None:
    both = {"methods": [{"id": "wallet", "name": "Wallet"}], "paymentUrl": "https://pay.example/1"}
    wallet.receiver.respond_with(says(both, delay=0.7))
    body = order_of(bread, items=[{"productId": str(bread.pk), "quantity": 1}])
    body["paymentMethod"] = f"{wallet.app.slug}:wallet"
    ready = Barrier(8)

    def press() -> Any:
        try:
            ready.wait(10)
            return place(api, body)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as shoppers:
        answers = [each.result() for each in [shoppers.submit(press) for _ in range(8)]]

    statuses = Counter(answer.status_code for answer in answers)
    assert set(statuses) == {201, 503}, [answer.content for answer in answers]
    assert Order.objects.count() == statuses[201]
    assert all(
        answer.json()["payment"]["status"] == "PENDING" for answer in answers if answer.status_code == 201
    )
    assert all(int(answer["Retry-After"]) > 0 for answer in answers if answer.status_code == 503)
