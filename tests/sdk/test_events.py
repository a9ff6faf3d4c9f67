"""The router: which answer each request gets, and how often a handler runs."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from extension_platform_sdk import MemorySeen, Response, WebhookEvent, WebhookRouter

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text())
SECRET = "whsec_test_c2VjcmV0"
NOW = 1_763_650_000
ENVELOPE: dict[str, Any] = {
    "event": "order.created",
    "timestamp": "2026-11-20T15:04:05.123Z",
    "webhookId": "w-1",
    "businessId": "b-1",
    "data": {"orderNumber": "1042"},
}


class Receiver:
    """A router with one handler that remembers its events, and fails as often as asked."""

    def __init__(self) -> None:
        self.router = WebhookRouter()
        self.events: list[WebhookEvent] = []
        self.failures = 0
        self.router.on("order.created", "order.cancelled")(self.handle)

    def handle(self, event: WebhookEvent) -> None:
        self.events.append(event)
        if self.failures:
            self.failures -= 1
            raise RuntimeError("the app's database is away")

    def post(self, envelope: object = ENVELOPE, *, secret: Any = SECRET, **headers: str | None) -> Response:
        """Deliver; a header is changed by its name in lower case with underscores, removed by ``None``."""
        body = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
        digest = hmac.new(SECRET.encode(), f"{NOW}.".encode() + body, hashlib.sha256).hexdigest()
        sent: dict[str, str | None] = {
            "x-webhook-id": "w-1",
            "x-webhook-event": "order.created",
            "x-webhook-signature": f"sha256={digest}",
            "x-webhook-timestamp": str(NOW),
            "x-service-event-id": "d-1",
        }
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.router.handle(
            {name.title(): value for name, value in sent.items() if value is not None},
            body,
            secret,
            now=NOW + 5,
        )


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.mark.spec("Events/Delivery format", "event, timestamp, webhookId, businessId, data")
def test_event_reaches_its_handler(receiver: Receiver) -> None:
    response = receiver.post()
    assert (response.status, json.loads(response.body)) == (200, {"received": True})
    assert receiver.events == [
        WebhookEvent(
            event="order.created",
            timestamp=datetime(2026, 11, 20, 15, 4, 5, 123000, UTC),
            webhook_id="w-1",
            business_id="b-1",
            data={"orderNumber": "1042"},
            delivery_id="d-1",
        )
    ]


@pytest.mark.parametrize("vector", VECTORS["ids"])
def test_event_has_the_ids_of_its_headers(receiver: Receiver, vector: Any) -> None:
    """The same names as in the SDK for Node, spelt as Python does."""
    given = {"x-service-event-id": None} | vector["headers"]
    assert receiver.post(**{name.lower(): value for name, value in given.items()}).status == 200
    (event,) = receiver.events
    assert {
        "deliveryId": event.delivery_id,
        "id": event.id,
        "cursor": event.cursor,
        "requestId": event.request_id,
        "traceparent": event.traceparent,
    } == vector["event"]


def test_unknown_event_is_acknowledged(receiver: Receiver) -> None:
    response = receiver.post(ENVELOPE | {"event": "tea.brewed"})
    assert response.status == 200
    assert response.event
    assert receiver.events == []


@pytest.mark.spec("Errors", "Webhook receivers: respond 401 for an invalid signature or stale timestamp")
@pytest.mark.parametrize(
    "headers",
    [
        {"x_webhook_signature": None},
        {"x_webhook_timestamp": None},
        {"x_webhook_signature": "sha256=" + "0" * 64},
        {"x_webhook_signature": "nonsense"},
        {"x_webhook_timestamp": str(NOW - 1)},
    ],
)
def test_untrusted_request_is_401(receiver: Receiver, headers: dict[str, str | None]) -> None:
    response = receiver.post(**headers)
    assert response.status == 401
    assert json.loads(response.body) == {"message": response.reason}
    assert response.event is None
    assert receiver.events == []


def test_stale_request_is_401(receiver: Receiver) -> None:
    body = json.dumps(ENVELOPE).encode()
    digest = hmac.new(SECRET.encode(), f"{NOW}.".encode() + body, hashlib.sha256).hexdigest()
    headers = {"X-Webhook-Signature": f"sha256={digest}", "X-Webhook-Timestamp": str(NOW)}
    assert receiver.router.handle(headers, body, SECRET, now=NOW + 300).status == 200
    assert receiver.router.handle(headers, body, SECRET, now=NOW + 301).status == 401


def test_secret_is_looked_up_by_webhook(receiver: Receiver) -> None:
    assert receiver.post(secret={"w-1": SECRET}.get).status == 200
    assert receiver.post(secret={"w-2": SECRET}.get).status == 401
    assert receiver.post(secret={"w-1": ""}.get).status == 401
    assert receiver.post(secret={"w-1": SECRET}.get, x_webhook_id=None).status == 401


@pytest.mark.parametrize(
    ("envelope", "reason"),
    [
        (b"", "the body is not JSON"),
        (b"\xff", "the body is not JSON"),
        (b"[" * 100_000, "the body is not JSON"),
        ([], "the body is not a JSON object"),
        (ENVELOPE | {"event": 1}, "event is missing or not a string"),
        (ENVELOPE | {"event": ""}, "event is missing or not a string"),
        (ENVELOPE | {"webhookId": None}, "webhookId is missing or not a string"),
        (ENVELOPE | {"businessId": []}, "businessId is missing or not a string"),
        (ENVELOPE | {"data": []}, "data is missing or not an object"),
        (ENVELOPE | {"timestamp": "yesterday"}, "timestamp is not an ISO 8601 time"),
        (ENVELOPE | {"webhookId": "w-2"}, "X-Webhook-Id is not the body's webhookId"),
    ],
)
def test_signed_body_that_is_no_envelope_is_400(receiver: Receiver, envelope: object, reason: str) -> None:
    response = receiver.post(envelope)
    assert (response.status, response.reason) == (400, reason)
    assert receiver.events == []


@pytest.mark.spec("Events", "X-Service-Event-Id: identical across retries; used for deduplication")
def test_repeat_is_acknowledged_without_the_handler(receiver: Receiver) -> None:
    assert not receiver.post().repeat
    again = receiver.post()
    assert (again.status, again.repeat) == (200, True)
    assert len(receiver.events) == 1
    receiver.post(x_service_event_id="d-2")
    assert len(receiver.events) == 2


def test_same_delivery_id_of_another_webhook_is_no_repeat(receiver: Receiver) -> None:
    receiver.post()
    assert not receiver.post(ENVELOPE | {"webhookId": "w-2"}, x_webhook_id="w-2").repeat
    assert len(receiver.events) == 2


def test_without_a_delivery_id_nothing_is_a_repeat(receiver: Receiver) -> None:
    for _ in range(2):
        assert receiver.post(x_service_event_id=None).status == 200
    assert [event.delivery_id for event in receiver.events] == [None, None]


@pytest.mark.spec("Events/Retry policy", "A delivery fails when the endpoint returns a non-2xx status")
def test_failed_handler_is_500_and_runs_again_at_the_retry(receiver: Receiver) -> None:
    receiver.failures = 1
    response = receiver.post()
    assert response.status == 500
    assert b"database" not in response.body
    assert receiver.post().status == 200
    assert receiver.post().repeat
    assert len(receiver.events) == 2


def test_event_has_one_handler(receiver: Receiver) -> None:
    with pytest.raises(ValueError, match=r"order\.cancelled has a handler already"):
        receiver.router.on("order.cancelled")(print)


def test_decorated_function_stays_itself() -> None:
    def ring(event: WebhookEvent) -> None: ...

    assert WebhookRouter().on("order.created")(ring) is ring


def test_own_store_is_asked_and_told(receiver: Receiver) -> None:
    keys = MemorySeen()
    receiver.router = WebhookRouter(seen=keys)
    receiver.post()
    assert keys.seen("w-1/d-1")


def test_memory_forgets_the_oldest() -> None:
    keys = MemorySeen(size=2)
    for key in "abc":
        keys.mark(key)
    assert [keys.seen(key) for key in "abc"] == [False, True, True]
