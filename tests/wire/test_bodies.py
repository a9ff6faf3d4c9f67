"""Refused bodies, and their errors with the path of the field."""

import io
import json
from typing import Any

import pytest
from django.test import Client

from accounts.models import Business
from common.rest.bodies import MAX_BODY
from common.text.nesting import MAX_DEPTH
from config.wsgi import application
from installations.models import Installation
from tests import factories
from tests.clients import client_of

pytestmark = pytest.mark.django_db

DETAILS = ("Contract 0 Conventions", "A validation error names each field by its path in details")
SIZE = ("Contract 9 Precise points", "JSON bodies over 1 MiB are 413")

ORDER: dict[str, Any] = {
    "items": [{"productId": "{id}", "quantity": 1}],
    "customer": {"name": "Kim", "phone": "+1 555 0100"},
    "deliveryMethod": "PICKUP",
    "paymentMethod": "CASH",
}


@pytest.fixture
def api(installation: Installation) -> Client:
    return client_of(installation)


def post(api: Client, path: str, body: Any) -> Any:
    return api.post(path, body if isinstance(body, str) else json.dumps(body), "application/json")


def fields(answer: Any) -> list[str]:
    assert answer.status_code == 400, answer.content
    return [detail["field"] for detail in answer.json()["details"]]


@pytest.mark.spec(*DETAILS)
@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("items", [{"productId": "x", "quantity": True}], "items[0].quantity"),
        ("items", [{"productId": "x", "quantity": 1.5}], "items[0].quantity"),
        ("items", [{"productId": "x", "quantity": 1e300}], "items[0].quantity"),
        ("items", [{"productId": "x", "quantity": "1"}], "items[0].quantity"),
        ("items", [{"productId": "x", "quantity": 10**30}], "items[0].quantity"),
        ("items", [{"productId": "x", "quantity": 0}], "items[0].quantity"),
        ("items", [{"productId": 7, "quantity": 1}], "items[0].productId"),
        ("items", [{"productId": "a\0b", "quantity": 1}], "items[0].productId"),
        ("items", [{"productId": "x", "quantity": 1}, 5], "items[1]"),
        ("items", {}, "items"),
        ("customer", {"name": 1, "phone": "+1 555 0100"}, "customer.name"),
        ("customer", {"name": "a\0b", "phone": "+1 555 0100"}, "customer.name"),
        ("customer", {"name": "Kim", "phone": "\0"}, "customer.phone"),
        ("customer", [], "customer"),
        ("note", "a\0b", "note"),
        ("note", 1, "note"),
        ("promoDiscount", True, "promoDiscount"),
        ("promoDiscount", "1", "promoDiscount"),
        ("promoDiscount", -1, "promoDiscount"),
        ("promoDiscount", 10**30, "promoDiscount"),
        ("deliveryMethod", ["PICKUP"], "deliveryMethod"),
        ("paymentMethod", None, "paymentMethod"),
        ("paymentMethod", "a\0b", "paymentMethod"),
    ],
)
def test_wrong_value_of_an_order_is_named_by_its_path(api: Client, field: str, value: Any, path: str) -> None:
    assert path in fields(post(api, "/app-api/orders", ORDER | {field: value}))


@pytest.mark.spec(*DETAILS)
@pytest.mark.parametrize(
    ("events", "path"),
    [
        (["order.created", 5], "events[1]"),
        (["order.created", "a\0b"], "events[1]"),
        ("order.created", "events"),
    ],
)
def test_wrong_event_of_a_webhook_is_named_by_its_path(api: Client, events: Any, path: str) -> None:
    body = {"url": "https://example.com/hooks", "events": events}
    assert path in fields(post(api, "/webhooks", body))


@pytest.mark.parametrize("number", ["1e400", "NaN", "Infinity", "-Infinity", "01", "+1", ".5", "0x1"])
def test_number_that_json_does_not_know_is_400(api: Client, number: str) -> None:
    answer = post(api, "/app-api/orders", f'{{"promoDiscount": {number}}}')
    assert answer.status_code == 400
    assert answer.json()["error"] == "Bad Request"


def test_emoji_and_other_planes_are_kept(api: Client, sandbox: Business) -> None:
    product = factories.product(sandbox)
    body = ORDER | {"items": [{"productId": str(product.pk), "quantity": 1}], "note": "🥐 \U00020000 é ‮"}
    answer = post(api, "/app-api/orders", body)
    assert (answer.status_code, answer.json()["note"]) == (201, body["note"])


@pytest.mark.parametrize(("open_", "close"), [('{"a":', "}"), ("[", "]")])
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 900, 40_000])
def test_body_that_is_nested_too_deep_is_400(api: Client, open_: str, close: str, depth: int) -> None:
    nested = open_ * (depth - 1) + "1" + close * (depth - 1)
    answer = post(api, "/app-api/orders", f'{{"unheardOf": {nested}}}')
    assert answer.status_code == 400
    assert answer.json()["message"] == f"The body is nested more than {MAX_DEPTH} levels deep."


def test_body_that_is_nested_as_deep_as_allowed_is_read(api: Client) -> None:
    nested = "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)
    answer = post(api, "/app-api/orders", f'{{"unheardOf": {nested}}}')
    assert "items" in fields(answer)


@pytest.mark.spec(*SIZE)
def test_body_of_just_1_mib_is_read(api: Client) -> None:
    body = '{"note": "' + "x" * (MAX_BODY - 12) + '"}'
    assert len(body) == MAX_BODY
    assert "note" in fields(post(api, "/app-api/orders", body))
    assert post(api, "/app-api/orders", body + " ").status_code == 413


def in_chunks(body: bytes, token: str, path: str = "/webhooks") -> tuple[str, dict[str, Any]]:
    """What the WSGI application answers to a body without a declared length."""
    told: list[str] = []
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": path,
        "SERVER_NAME": "testserver",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.input_terminated": True,
        "CONTENT_TYPE": "application/json",
        "HTTP_HOST": "testserver",
        "HTTP_TRANSFER_ENCODING": "chunked",
        "HTTP_AUTHORIZATION": f"Bearer {token}",
    }
    answer = b"".join(application(environ, lambda status, headers, *_: told.append(status)))
    return told[0], json.loads(answer)


@pytest.mark.django_db(transaction=True)
@pytest.mark.spec(*SIZE)
def test_body_in_chunks_is_read_and_limited_alike(installation: Installation) -> None:
    token = installation.raw_token  # type: ignore[attr-defined]
    body = json.dumps({"url": "https://8.8.8.8/", "events": ["order.created"]}).encode()
    status, made = in_chunks(body, token)
    assert (status, made["url"]) == ("201 Created", "https://8.8.8.8/")
    assert in_chunks(b"", token)[0] == "400 Bad Request"
    for too_long in (MAX_BODY + 1, 33 * 1024 * 1024):
        status, error = in_chunks(b" " * too_long, token)
        assert (status[:3], error["statusCode"]) == ("413", 413)
