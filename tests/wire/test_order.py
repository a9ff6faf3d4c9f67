"""Which of two errors is reported (contract, section 9): 429, 401, 403, 415, 413, 400, 404, 409, in this order."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.models import Business, User
from accounts.sign_in import tokens
from appapi import middleware
from common.rest.bodies import MAX_BODY
from marketplace.models import App
from tests import factories
from tests.webhooks.helpers import webhook

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.spec("Contract 9 Precise points", "Order of errors: 429, 401, 403, 415, 413, 400, 404, 409"),
]

Send = Callable[..., Any]

NOTHING = "00000000-0000-7000-8000-000000000000"
TOO_LARGE = "x" * (MAX_BODY + 1)
JSON, TEXT = "application/json", "text/plain"


def sender(token: str) -> Send:
    client = Client(headers={"Authorization": f"Bearer {token}"})

    def send(method: str, path: str, body: Any = "", content_type: str = JSON) -> Any:
        text = body if isinstance(body, str) else json.dumps(body)
        return client.generic(method, path, text, content_type)

    return send


@pytest.fixture
def app_with(dana: User, sandbox: Business) -> Callable[..., Send]:
    """An app of Dana's on her sandbox that holds just these scopes."""

    def make(*scopes: str) -> Send:
        app = factories.app(dana, scopes=list(scopes))
        return sender(factories.installation(app, sandbox).raw_token)  # type: ignore[attr-defined]

    return make


@pytest.fixture
def exhausted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "REQUESTS_A_MINUTE", 0)


@pytest.fixture
def place(sandbox: Business) -> str:
    return f"/app-api/orders/{factories.order(sandbox, status='DELIVERED').pk}/status"


ABSENT = f"/app-api/orders/{NOTHING}/status"


def test_429_before_401(exhausted: None) -> None:
    assert sender("fbat_wrong")("GET", "/app-api/orders").status_code == 429


def test_429_before_403_and_all_others(exhausted: None, app_with: Callable[..., Send]) -> None:
    assert app_with("read_products")("PATCH", ABSENT, TOO_LARGE, TEXT).status_code == 429


def test_401_before_403_and_all_others(place: str) -> None:
    assert sender("fbat_wrong")("PATCH", ABSENT, TOO_LARGE, TEXT).status_code == 401


def test_403_before_415(app_with: Callable[..., Send]) -> None:
    assert app_with("read_orders")("PATCH", ABSENT, TOO_LARGE, TEXT).status_code == 403


def test_415_before_413(app_with: Callable[..., Send]) -> None:
    assert app_with("write_orders")("PATCH", ABSENT, TOO_LARGE, TEXT).status_code == 415


def test_413_before_400(app_with: Callable[..., Send]) -> None:
    """A body that is too large is not looked into: it is no JSON either."""
    assert app_with("write_orders")("PATCH", ABSENT, TOO_LARGE).status_code == 413


@pytest.mark.parametrize("body", ["{", {}, {"status": "NOPE"}])
def test_400_before_404(body: Any, app_with: Callable[..., Send]) -> None:
    assert app_with("write_orders")("PATCH", ABSENT, body).status_code == 400


def test_404_before_409(app_with: Callable[..., Send], place: str, sam: User) -> None:
    """Another tenant's order exists like this one, but must not be found."""
    send, body = app_with("write_orders"), {"status": "PENDING"}
    elsewhere = factories.order(Business.objects.sandbox_of(sam), status="DELIVERED")
    assert send("PATCH", place, body).status_code == 409
    assert send("PATCH", f"/app-api/orders/{elsewhere.pk}/status", body).status_code == 404


def test_order_holds_for_an_order_that_is_placed(app_with: Callable[..., Send], sandbox: Business) -> None:
    send, out = app_with("write_orders"), factories.product(sandbox, stock=0)
    body = {
        "items": [{"productId": str(out.pk), "quantity": 1}, {"productId": NOTHING, "quantity": 1}],
        "customer": {"name": "Kim", "phone": "+1 555 0100"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }
    assert send("POST", "/app-api/orders", body | {"deliveryMethod": "DELIVERY"}).status_code == 400
    assert send("POST", "/app-api/orders", body).status_code == 404
    assert send("POST", "/app-api/orders", body | {"items": body["items"][:1]}).status_code == 409


def test_order_holds_for_webhooks(app_with: Callable[..., Send], installation: Any) -> None:
    send = app_with()
    own = sender(installation.raw_token)
    off = webhook(installation, "http://127.0.0.1:9/", ["order.created"], is_active=False)
    since = {"since": "2026-11-20T00:00:00Z"}
    assert send("POST", f"/webhooks/{NOTHING}/recover", TOO_LARGE, TEXT).status_code == 415
    assert send("POST", f"/webhooks/{NOTHING}/recover", TOO_LARGE).status_code == 413
    assert send("POST", f"/webhooks/{NOTHING}/recover", {}).status_code == 400
    assert send("POST", f"/webhooks/{off.pk}/recover", since).status_code == 404
    assert own("POST", f"/webhooks/{off.pk}/recover", since).status_code == 409


def test_order_holds_for_the_developer_api(app: App, dana: User, mira: User, sam: User) -> None:
    App.objects.filter(pk=app.pk).update(status="PENDING_REVIEW")
    path, absent = f"/developer/apps/{app.pk}", f"/developer/apps/{NOTHING}"
    merchant, stranger, owner = (sender(tokens.issue(who).access) for who in (mira, sam, dana))
    assert sender("nothing")("PATCH", absent, TOO_LARGE, TEXT).status_code == 401
    assert merchant("PATCH", absent, TOO_LARGE, TEXT).status_code == 403
    assert owner("PATCH", absent, TOO_LARGE, TEXT).status_code == 415
    assert owner("PATCH", absent, TOO_LARGE).status_code == 413
    assert owner("PATCH", absent, {"name": ""}).status_code == 400
    assert stranger("PATCH", path, {"name": "New"}).status_code == 404
    assert owner("PATCH", path, {"name": "New"}).status_code == 409


@pytest.mark.usefixtures("stopped_clock")
def test_order_holds_for_signing_in(dana: User) -> None:
    client = Client()

    def send(body: str, content_type: str = JSON) -> int:
        return client.generic("POST", "/auth/login", body, content_type).status_code

    assert send(TOO_LARGE, TEXT) == 415
    assert send(TOO_LARGE) == 413
    assert send("{}") == 400
    for _ in range(60):
        send("{}")
    assert send(TOO_LARGE, TEXT) == 429


@pytest.mark.spec("Contract 9 Precise points", "415 only where a body is read")
@pytest.mark.parametrize("content_type", [TEXT, "", "multipart/form-data", "nonsense"])
def test_call_without_a_body_takes_any_content_type(
    content_type: str, app_with: Callable[..., Send], installation: Any
) -> None:
    off = webhook(installation, "http://127.0.0.1:9/", ["order.created"])
    answer = sender(installation.raw_token)("POST", f"/webhooks/{off.pk}/test", "anything", content_type)
    assert answer.status_code == 200
    assert answer.json()["success"] is False
