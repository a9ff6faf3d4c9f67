"""Paying through an app: what is offered, and the app's word on how a payment ended."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.db import connection, transaction
from django.test import Client

from accounts.models import Business
from installations.models import Installation
from stores.hookpoints import HookRequest, PaymentDetails, PaymentMethod, registered
from stores.models import Order, Payment
from stores.tasks import expire_payments
from tests import factories
from tests.clients import client_of
from tests.state import unchanged
from tests.webhooks import helpers
from webhooks.models import Event

JSON = "application/json"
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
BUILT_IN = [
    {"id": "CASH", "name": "Cash", "description": None, "icon": None},
    {"id": "CARD", "name": "Card", "description": None, "icon": None},
]


@pytest.fixture
def order(sandbox: Business, installation: Installation) -> Order:
    """An order whose payment was created by Dana's app and is still open."""
    made = factories.order(sandbox, payment_method="dana-pay:wallet")
    factories.payment(made, provider=str(installation.app_id), invoice_id="inv-1")
    return made


@pytest.fixture
def events(installation: Installation) -> Callable[[], list[str]]:
    """The names of the payment events that were written since."""
    helpers.webhook(installation, "https://app.example.com/", ["payment.completed", "payment.expired"])
    return lambda: list(Event.objects.order_by("id").values_list("type", flat=True))


def settle(api: Client, order: Order | object, **body: Any) -> Any:
    order_id = order.pk if isinstance(order, Order) else order
    return api.patch(f"/app-api/orders/{order_id}/payment", body, content_type=JSON)


# --- PATCH /app-api/orders/:id/payment --------------------------------------------------------------


@pytest.mark.spec("App API", "The app whose hook made a payment says that it is COMPLETED or FAILED")
@pytest.mark.parametrize(("status", "told"), [("COMPLETED", ["payment.completed"]), ("FAILED", [])])
def test_app_settles_its_payment(
    api: Client, order: Order, events: Callable[[], list[str]], status: str, told: list[str]
) -> None:
    answer = settle(api, order, status=status, reference="txn 7", unknown=1)
    assert answer.status_code == 200
    assert answer.json() == api.get(f"/app-api/orders/{order.pk}").json()
    assert answer.json()["payment"] == {
        "status": status,
        "paymentUrl": None,
        "qrCode": None,
        "invoiceId": "inv-1",
        "expiresAt": None,
    }
    assert Payment.objects.get().reference == "txn 7"
    assert events() == told


@pytest.mark.spec(
    "Contract 9 Orders", "A final payment: the same status again is 200 without event, another is 409"
)
@pytest.mark.parametrize("final", ["COMPLETED", "FAILED", "EXPIRED"])
@pytest.mark.parametrize("status", ["COMPLETED", "FAILED"])
def test_final_payment_stays(
    api: Client, order: Order, events: Callable[[], list[str]], final: str, status: str
) -> None:
    Payment.objects.update(status=final, reference="first")
    before = api.get(f"/app-api/orders/{order.pk}").json()
    answer = settle(api, order, status=status, reference="second")
    assert answer.status_code == (200 if status == final else 409)
    assert api.get(f"/app-api/orders/{order.pk}").json() == before
    assert (Payment.objects.get().reference, events()) == ("first", [])


@pytest.mark.spec("App API", "PATCH payment by an app whose hook did not make the payment is a 403")
def test_payment_of_another_app_is_403(
    order: Order, sandbox: Business, second_app: Any, events: Callable[[], list[str]]
) -> None:
    answer = settle(client_of(factories.installation(second_app, sandbox)), order, status="COMPLETED")
    assert (answer.status_code, answer.json()["error"]) == (403, "Forbidden")
    assert "another app" in answer.json()["message"]
    assert (Payment.objects.get().status, events()) == ("PENDING", [])


@pytest.mark.spec("Contract 9 Orders", "PATCH payment of a CASH or CARD order is 403")
@pytest.mark.parametrize("method", ["CASH", "CARD"])
def test_payment_that_the_merchant_takes_is_403(api: Client, sandbox: Business, method: str) -> None:
    order = factories.order(sandbox, payment_method=method)
    answer = settle(api, order, status="COMPLETED")
    assert (answer.status_code, answer.json()["statusCode"]) == (403, 403)
    assert answer.json()["message"] == "The merchant collects the payment of this order."


def test_reinstalled_app_settles_what_it_made_before(
    order: Order, installation: Installation, sandbox: Business
) -> None:
    Installation.objects.filter(pk=installation.pk).update(token_digest=None, uninstalled_at=NOON)
    again = client_of(factories.installation(installation.app, sandbox))
    assert settle(again, order, status="COMPLETED").status_code == 200
    assert Payment.objects.get(order=order).status == "COMPLETED"


@pytest.mark.parametrize("status", ["PENDING", "EXPIRED", "completed", "", None, 1, ["FAILED"], True])
def test_other_status_is_400_and_names_the_two(api: Client, order: Order, status: Any) -> None:
    answer = settle(api, order, status=status)
    assert answer.status_code == 400
    assert answer.json()["details"][0]["field"] == "status"
    if status is not None:
        assert "COMPLETED, FAILED" in answer.json()["message"]
    assert Payment.objects.get().status == "PENDING"


def test_every_problem_of_the_body_is_told(api: Client, order: Order) -> None:
    for reference in (5, "r" * 201, "a\0b", ["x"]):
        answer = settle(api, order, reference=reference)
        assert [problem["field"] for problem in answer.json()["details"]] == ["status", "reference"]
    assert settle(api, order, status="FAILED", reference=None).status_code == 200


def test_unknown_order_is_404_after_the_body(api: Client, elsewhere: Installation) -> None:
    foreign = factories.order(elsewhere.business, payment_method="x:y")
    factories.payment(foreign, provider=str(elsewhere.app_id))
    with unchanged(Payment, Order):
        for order_id in (foreign.pk, uuid4(), "nonsense", "%00"):
            assert settle(api, order_id, status="COMPLETED").status_code == 404
            assert settle(api, order_id, status="PAID").status_code == 400


@pytest.mark.spec(
    "App API", "A payment that was not completed in time is EXPIRED, and payment.expired is published"
)
def test_expired_payment_is_shown_and_told(
    api: Client, order: Order, events: Callable[[], list[str]]
) -> None:
    Payment.objects.update(expires_at=NOON)
    with time_machine.travel(NOON + timedelta(seconds=59)):
        expire_payments()
    record = api.get(f"/app-api/orders/{order.pk}").json()
    assert (record["payment"]["status"], record["status"]) == ("EXPIRED", "PENDING")
    assert record["payment"]["expiresAt"] == "2026-11-20T12:00:00.000Z"
    assert events() == ["payment.expired"]


# --- GET /app-api/payment-methods -------------------------------------------------------------------


@pytest.mark.spec(
    "App API", "payment-methods is {methods}, built-in ones first, each with id, name, description, icon"
)
def test_methods_of_the_shop_alone(api: Client) -> None:
    answer = api.get("/app-api/payment-methods")
    assert (answer.status_code, answer.json()) == (200, {"methods": BUILT_IN})


def test_methods_of_apps_follow_in_their_order(api: Client, sandbox: Business) -> None:
    asked: list[HookRequest] = []

    def offer(question: HookRequest) -> list[PaymentMethod]:
        asked.append(question)
        return [
            PaymentMethod("pay:z", "Zebra", "1", description="Stripes", icon="https://pay.example/z.png"),
            PaymentMethod("pay:a", "Ant", "1"),
        ]

    with registered("checkout.payment_methods", offer):
        methods = api.get("/app-api/payment-methods").json()["methods"]
    assert methods == [
        *BUILT_IN,
        {
            "id": "pay:z",
            "name": "Zebra",
            "description": "Stripes",
            "icon": "https://pay.example/z.png",
        },
        {"id": "pay:a", "name": "Ant", "description": None, "icon": None},
    ]
    assert [(question.data, question.method_id) for question in asked] == [
        ({"businessId": str(sandbox.pk)}, None)
    ]


def test_app_that_fails_leaves_the_built_in_methods(api: Client) -> None:
    def fail(question: HookRequest) -> list[PaymentMethod]:
        raise RuntimeError("no answer")

    with registered("checkout.payment_methods", fail):
        answer = api.get("/app-api/payment-methods")
    assert (answer.status_code, answer.json()) == (200, {"methods": BUILT_IN})


@pytest.mark.spec("Hook calls", "A hook call never happens inside a database transaction")
@pytest.mark.django_db(transaction=True)
def test_apps_are_asked_outside_a_transaction(installation: Installation) -> None:
    api, open_blocks = client_of(installation), []

    def look(question: HookRequest) -> list[PaymentMethod]:
        open_blocks.append(connection.in_atomic_block)
        return []

    with registered("checkout.payment_methods", look):
        assert api.get("/app-api/payment-methods").status_code == 200
        with transaction.atomic():
            assert api.get("/app-api/payment-methods").status_code == 500  # refused rather than waiting
    assert open_blocks == [False]


# --- Orders that an app takes the payment of --------------------------------------------------------


@pytest.fixture
def body(sandbox: Business) -> dict[str, Any]:
    tea = factories.product(sandbox, price=1250, stock=9)
    return {
        "items": [{"productId": str(tea.pk), "quantity": 2}],
        "customer": {"name": "Kim", "phone": "+44 20"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "dana-pay:wallet",
    }


def offers(provider: str, asked: list[HookRequest]) -> Callable[[HookRequest], list[PaymentMethod]]:
    def offer(question: HookRequest) -> list[PaymentMethod]:
        asked.append(question)
        return [PaymentMethod("dana-pay:wallet", "Wallet", provider)]

    return offer


@pytest.mark.spec("App API", "A method of an app is accepted when that app, asked alone, offers it now")
def test_order_is_paid_through_the_app_that_offers_the_method(
    api: Client, installation: Installation, body: dict[str, Any]
) -> None:
    asked: list[HookRequest] = []
    details = PaymentDetails(
        payment_url="https://pay.example/1", qr_code="QR", invoice_id="inv-9", expires_at=NOON
    )

    def create(question: HookRequest) -> PaymentDetails:
        asked.append(question)
        return details

    provider = str(installation.app_id)
    with (
        registered("checkout.payment_methods", offers(provider, asked)),
        registered("checkout.create_payment", create),
    ):
        answer = api.post("/app-api/orders", body, content_type=JSON)
    assert answer.status_code == 201
    record = answer.json()
    assert record["paymentMethod"] == "dana-pay:wallet"
    assert record["payment"] == {
        "status": "PENDING",
        "paymentUrl": "https://pay.example/1",
        "qrCode": "QR",
        "invoiceId": "inv-9",
        "expiresAt": "2026-11-20T12:00:00.000Z",
    }
    assert [question.method_id for question in asked] == ["dana-pay:wallet"] * 2
    assert asked[1].data["paymentMethodId"] == "wallet"
    assert asked[1].data["amount"] == "2500"
    settled = settle(api, record["id"], status="COMPLETED")
    assert settled.json()["payment"]["status"] == "COMPLETED"


@pytest.mark.spec(
    "App API", "An order is kept although its payment could not be created; the payment is FAILED"
)
def test_order_stands_when_the_payment_fails(api: Client, body: dict[str, Any]) -> None:
    with (
        registered("checkout.payment_methods", offers("x", [])),
        registered("checkout.create_payment", lambda request: None),
    ):
        answer = api.post("/app-api/orders", body, content_type=JSON)
    assert answer.status_code == 201
    assert (answer.json()["status"], answer.json()["payment"]["status"]) == ("PENDING", "FAILED")
    assert answer.json() == api.get(f"/app-api/orders/{answer.json()['id']}").json()


def test_method_that_its_app_does_not_offer_now_is_400(api: Client, body: dict[str, Any]) -> None:
    with registered("checkout.payment_methods", offers("x", [])):
        answer = api.post("/app-api/orders", body | {"paymentMethod": "dana-pay:gold"}, content_type=JSON)
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "paymentMethod")
    assert not Order.objects.exists()
