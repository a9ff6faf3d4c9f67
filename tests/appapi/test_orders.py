"""Orders as an app reads them and moves them along."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Business
from installations.models import Installation
from stores import signals
from stores.enums import OrderStatus
from stores.models import Order, OrderItem, Payment, Product
from stores.records import OrderRecord
from tests import factories

MOMENT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
JSON = "application/json"


def numbers(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [order["orderNumber"] for order in answer.json()["data"]]


def move(api: Client, order: Order, status: Any) -> Any:
    return api.patch(f"/app-api/orders/{order.pk}/status", {"status": status}, content_type=JSON)


@pytest.fixture
def moves() -> Any:
    """The moves that signals reported, as (from, to)."""
    told: list[tuple[str, str]] = []

    def hear(order: OrderRecord, previous: str, **kwargs: Any) -> None:
        told.append((previous, order.status))

    signals.order_status_changed.connect(hear)
    yield told
    signals.order_status_changed.disconnect(hear)


@pytest.mark.spec("App API", "The Order record: lines, sums, customer, payment, and times")
def test_order_record_names_every_field(api: Client, sandbox: Business) -> None:
    order = factories.order(
        sandbox,
        number="1007",
        subtotal=2550,
        discount=50,
        delivery_fee=500,
        amount=3000,
        delivery_method="DELIVERY",
        address="1 Harbour Rd",
        customer_name="Zoë",
        customer_phone="+44 20",
        note="Ring twice",
        created_at=MOMENT,
        updated_at=MOMENT,
    )
    product_id = uuid4()
    OrderItem.objects.create(order=order, product_id=product_id, name="Tea", quantity=2, price=1275)
    Payment.objects.create(
        order=order, provider="x", payment_url="https://pay.example/1", invoice_id="i-1", expires_at=MOMENT
    )
    record = api.get(f"/app-api/orders/{order.pk}").json()
    assert record == {
        "id": str(order.pk),
        "orderNumber": "1007",
        "status": "PENDING",
        "items": [{"productId": str(product_id), "name": "Tea", "quantity": 2, "price": 12.75}],
        "subtotal": 25.5,
        "discount": 0.5,
        "deliveryFee": 5,
        "amount": 30,
        "refunded": 0,
        "currency": "USD",
        "deliveryMethod": "DELIVERY",
        "address": "1 Harbour Rd",
        "paymentMethod": "CASH",
        "payment": {
            "status": "PENDING",
            "paymentUrl": "https://pay.example/1",
            "qrCode": None,
            "invoiceId": "i-1",
            "expiresAt": "2026-11-20T12:00:00.000Z",
        },
        "customer": {"name": "Zoë", "email": "kim@example.com", "phone": "+44 20", "key": None},
        "note": "Ring twice",
        "isGuest": True,
        "validation": "VALID",
        "createdAt": "2026-11-20T12:00:00.000Z",
        "updatedAt": "2026-11-20T12:00:00.000Z",
        "attributes": {},
    }
    assert api.get("/app-api/orders").json() == {"data": [record], "total": 1, "page": 1, "limit": 20}


@pytest.mark.spec("Limits", "Orders page size: default 20, at most 50")
def test_pages_are_newest_first_and_bounded(api: Client, sandbox: Business) -> None:
    newest = [factories.order(sandbox).number for _ in range(52)][::-1]
    assert numbers(api.get("/app-api/orders")) == newest[:20]
    wide = api.get("/app-api/orders?limit=51")
    assert (wide.json()["limit"], wide.json()["total"], numbers(wide)) == (50, 52, newest[:50])
    past = api.get("/app-api/orders?page=4&limit=20").json()
    assert (past["data"], past["total"]) == ([], 52)


@pytest.mark.spec("App API", "createdAfter and createdBefore exclude the moment, updatedSince includes it")
def test_filters_narrow_the_list(api: Client, sandbox: Business) -> None:
    times = [MOMENT.replace(minute=minute) for minute in (0, 1, 2)]
    for number, time in zip("123", times, strict=True):
        factories.order(sandbox, number=number, created_at=time, updated_at=time)
    Order.objects.filter(number="2").update(status="READY")

    def listed(query: str) -> list[str]:
        answer = api.get(f"/app-api/orders?{query}")
        assert answer.json()["total"] == len(answer.json()["data"])
        return numbers(answer)

    assert listed("status=READY") == ["2"]
    assert listed("createdAfter=2026-11-20T12:00:00Z") == ["3", "2"]
    assert listed("createdBefore=2026-11-20T12:02:00Z") == ["2", "1"]
    assert listed("updatedSince=2026-11-20T12:01:00Z") == ["3", "2"]
    assert listed("createdAfter=2026-11-20T12:00:00Z&createdBefore=2026-11-20T12:02:00Z&status=PENDING") == []


@pytest.mark.spec("App API", "createdAfter and createdBefore exclude the moment, updatedSince includes it")
def test_filters_count_times_as_they_read_on_the_wire(api: Client, sandbox: Business) -> None:
    """A row's time is finer than the milliseconds that an app sees and sends back."""
    at = datetime(2026, 11, 20, 12, 0, 0, 123456, UTC)
    for number in range(3):
        moment = at + timedelta(milliseconds=number)
        factories.order(sandbox, number=str(number), created_at=moment, updated_at=moment)

    def listed(query: str) -> list[str]:
        return [order["orderNumber"] for order in api.get(f"/app-api/orders?{query}").json()["data"]]

    assert listed("createdAfter=2026-11-20T12:00:00.124Z") == ["2"]
    assert listed("createdAfter=2026-11-20T12:00:00.123999Z") == ["2", "1"]
    assert listed("createdBefore=2026-11-20T12:00:00.124Z") == ["0"]
    assert listed("createdBefore=2026-11-20T12:00:00.124001Z") == ["1", "0"]
    assert listed("updatedSince=2026-11-20T12:00:00.124Z") == ["2", "1"]
    assert listed("updatedSince=2026-11-20T12:00:00.124001Z") == ["2"]
    assert listed("createdAfter=9999-12-31T23:59:59.999999Z") == []


@pytest.mark.parametrize("beyond", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00%2B14:00"])
def test_time_outside_the_years_that_there_are_is_named(api: Client, beyond: str) -> None:
    answer = api.get(f"/app-api/orders?createdAfter={beyond}")
    assert (answer.status_code, answer.json()["details"]) == (
        400,
        [
            {
                "field": "createdAfter",
                "message": "Enter a time from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z.",
            }
        ],
    )


def test_unknown_status_in_the_filter_names_the_allowed(api: Client) -> None:
    answer = api.get("/app-api/orders?status=ready&createdAfter=1")
    assert answer.status_code == 400
    assert [problem["field"] for problem in answer.json()["details"]] == ["status", "createdAfter"]
    assert "IN_DELIVERY" in answer.json()["message"]


@pytest.mark.spec("Errors", "404: absent, or another tenant's")
def test_order_of_another_business_is_not_found(api: Client, elsewhere: Installation) -> None:
    foreign = factories.order(elsewhere.business)
    assert numbers(api.get("/app-api/orders")) == []
    for order_id in (foreign.pk, uuid4(), "nonsense", "%00"):
        assert api.get(f"/app-api/orders/{order_id}").status_code == 404
        answer = api.patch(f"/app-api/orders/{order_id}/status", {"status": "READY"}, content_type=JSON)
        assert (answer.status_code, answer.json()["message"]) == (404, "Order not found")
    foreign.refresh_from_db()
    assert foreign.status == "PENDING"


@pytest.mark.parametrize("rows", [1, 3])
def test_list_takes_four_statements(
    api: Client, sandbox: Business, rows: int, statements: Callable[[], CaptureQueriesContext]
) -> None:
    for _ in range(rows):
        order = factories.order(sandbox)
        OrderItem.objects.create(order=order, product_id=uuid4(), name="Tea", quantity=1, price=2000)
    with statements() as asked:
        answer = api.get("/app-api/orders")
    assert [len(order["items"]) for order in answer.json()["data"]] == [1] * rows
    assert len(asked) == 4, [query["sql"] for query in asked]


@pytest.mark.spec("Order status", "Forward moves are allowed and may skip stages; each publishes one event")
def test_order_moves_forward_and_may_skip(api: Client, sandbox: Business, moves: Any) -> None:
    order = factories.order(sandbox)
    answer = move(api, order, "PREPARING")
    assert answer.status_code == 200
    assert answer.json() == api.get(f"/app-api/orders/{order.pk}").json()
    assert answer.json()["status"] == "PREPARING"
    assert move(api, order, "DELIVERED").json()["status"] == "DELIVERED"
    assert moves == [("PENDING", "PREPARING"), ("PREPARING", "DELIVERED")]


@pytest.mark.spec("Order status", "The status it has already is a 200 without event")
def test_same_status_changes_nothing(api: Client, sandbox: Business, moves: Any) -> None:
    order = factories.order(sandbox, updated_at=MOMENT)
    answer = move(api, order, "PENDING")
    assert (answer.status_code, answer.json()["updatedAt"]) == (200, "2026-11-20T12:00:00.000Z")
    assert moves == []


@pytest.mark.spec("Order status", "A forbidden move is a 409")
@pytest.mark.parametrize(
    ("current", "target"),
    [("READY", "PENDING"), ("DELIVERED", "CANCELLED"), ("CANCELLED", "PENDING"), ("DELIVERED", "READY")],
)
def test_forbidden_move_is_409(api: Client, sandbox: Business, moves: Any, current: str, target: str) -> None:
    order = factories.order(sandbox, status=current)
    answer = move(api, order, target)
    assert (answer.status_code, answer.json()["error"]) == (409, "Conflict")
    order.refresh_from_db()
    assert (order.status, moves) == (current, [])


@pytest.mark.spec("Order status", "An unknown value is a 400 naming the allowed ones")
@pytest.mark.parametrize("status", ["SHIPPED", "ready", "", None, 5, ["READY"], {"a": 1}, True])
def test_unknown_status_is_400(api: Client, sandbox: Business, status: Any) -> None:
    order = factories.order(sandbox)
    answer = move(api, order, status)
    assert answer.status_code == 400
    assert answer.json()["details"][0]["field"] == "status"
    if status is not None:
        assert all(name in answer.json()["message"] for name in OrderStatus.values)


def test_missing_status_is_400(api: Client, sandbox: Business) -> None:
    answer = api.patch(f"/app-api/orders/{factories.order(sandbox).pk}/status", {}, content_type=JSON)
    assert answer.json()["details"] == [{"field": "status", "message": "This field is required."}]


def test_cancelling_gives_the_stock_back(api: Client, sandbox: Business) -> None:
    product = factories.product(sandbox, stock=5)
    placed = api.post(
        "/app-api/orders",
        {
            "items": [{"productId": str(product.pk), "quantity": 2}],
            "customer": {"name": "Kim", "phone": "+1 555 0100"},
            "deliveryMethod": "PICKUP",
            "paymentMethod": "CASH",
        },
        content_type=JSON,
    )
    assert Product.objects.get().stock == 3
    assert move(api, Order.objects.get(pk=placed.json()["id"]), "CANCELLED").status_code == 200
    assert Product.objects.get().stock == 5


@pytest.mark.parametrize("method", ["QUERY", "READ", "BREW"])
def test_method_that_nobody_knows_is_a_405_even_where_the_view_has_a_function_of_that_name(
    api: Client, method: str
) -> None:
    response = api.generic(method, "/app-api/orders")
    assert response.status_code == 405
    assert response["Allow"] == "GET, POST, HEAD, OPTIONS"
