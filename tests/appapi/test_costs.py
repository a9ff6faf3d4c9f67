"""What a call may cost: SQL statements, and round trips to Redis."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from redis.connection import Connection

from accounts.models import Business
from activity import log
from stores.models import OrderItem
from tests import factories

Statements = Callable[[], CaptureQueriesContext]


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is sent to Redis; a pipeline is one."""
    sent: list[Any] = []
    send = Connection.send_packed_command

    def recorded(self: Connection, command: Any, *args: Any, **options: Any) -> None:
        sent.append(command)
        send(self, command, *args, **options)

    monkeypatch.setattr(Connection, "send_packed_command", recorded)
    return sent


def asked(path: str, rows: int, sandbox: Business) -> str:
    """A path with the ids of newly made rows filled in."""
    for _ in range(rows):
        product = factories.product(sandbox)
        order = factories.order(sandbox)
        OrderItem.objects.create(order=order, product_id=product.pk, name="Tea", quantity=1, price=100)
        factories.payment(order)
    return path.format(product=product.pk, slug=product.slug, order=order.pk)


READS = {
    "/app-api/products": 2,
    "/app-api/products?category=": 3,
    "/app-api/products/{product}": 2,
    "/app-api/products/slug/{slug}": 2,
    "/app-api/orders": 4,
    "/app-api/orders?status=PENDING": 5,
    "/app-api/orders/{order}": 4,
    "/app-api/events": 4,
}


@pytest.mark.parametrize(("path", "count"), READS.items())
@pytest.mark.parametrize("rows", [1, 3])
def test_read_takes_few_statements_however_many_rows(
    api: Client, sandbox: Business, statements: Statements, path: str, count: int, rows: int
) -> None:
    path = asked(path, rows, sandbox)
    with statements() as made:
        assert api.get(path).status_code == 200
    assert len(made) == count, [query["sql"] for query in made]


@pytest.mark.redis
@pytest.mark.parametrize("path", READS)
def test_read_takes_one_round_trip_to_redis(
    api: Client, sandbox: Business, round_trips: list[Any], path: str
) -> None:
    path = asked(path, 1, sandbox)
    api.get("/app-api/installation")  # connects
    round_trips.clear()
    assert api.get(path).status_code == 200
    assert len(round_trips) == 1, round_trips


@pytest.mark.parametrize(("lines", "stock", "count"), [(1, None, 12), (3, None, 12), (3, 10, 13)])
def test_placing_an_order_takes_as_many_statements_for_many_lines(
    api: Client, sandbox: Business, statements: Statements, lines: int, stock: int | None, count: int
) -> None:
    products = [factories.product(sandbox, stock=stock) for _ in range(lines)]
    body = {
        "items": [{"productId": str(product.pk), "quantity": 1} for product in products],
        "customer": {"name": "Kim", "email": "kim@example.com"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }
    with statements() as made:
        assert api.post("/app-api/orders", body, content_type="application/json").status_code == 201
    # BEGIN and COMMIT, a savepoint here, are among them, and one question, two in a sandbox, who is asked at the hook points. PostgreSQL
    # gets what belongs together at once: the number with the currency, the order with its lines and history, the event with its deliveries.
    apart = 0 if connection.vendor == "postgresql" else 5
    assert len(made) == count + apart, "\n".join(query["sql"][:150] for query in made)


@pytest.mark.parametrize("is_logged", [True, False])
def test_log_takes_no_statement_in_the_request(
    api: Client, sandbox: Business, statements: Statements, settings: Any, is_logged: bool
) -> None:
    settings.LOG_API_CALLS = is_logged
    factories.product(sandbox)
    with statements() as made:
        assert api.get("/app-api/products").status_code == 200
    assert len(made) == READS["/app-api/products"]
    assert log.flush() == is_logged


@pytest.mark.redis
def test_refused_token_takes_one_round_trip_too(anonymous: Client, db: None, round_trips: list[Any]) -> None:
    anonymous.get("/app-api/products")
    round_trips.clear()
    answer = anonymous.get("/app-api/products", headers={"Authorization": f"Bearer fbat_{uuid4().hex}"})
    assert answer.status_code == 401
    assert len(round_trips) == 1


def test_api_answer_may_load_nothing_and_sets_no_cookie(api: Client) -> None:
    answer = api.get("/app-api/products")
    assert answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert not answer.cookies
    assert "Vary" not in answer or "Cookie" not in answer["Vary"]
