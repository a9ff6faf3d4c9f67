"""Registering a webhook and trying it, as an app does."""

import hashlib
import hmac
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from common.http import transport
from installations.models import Installation
from tests.clients import client_of
from tests.receivers import Receiver
from tests.state import unchanged
from webhooks.models import Webhook

JSON = "application/json"
URL = "https://127.0.0.1:9/hook"  # nothing listens there


def register(api: Client, **body: Any) -> Any:
    return api.post("/webhooks", {"url": URL, "events": ["order.created"]} | body, content_type=JSON)


@pytest.mark.spec(
    "Webhook endpoints", "POST /webhooks answers 201 with the record and, only here, the secret"
)
def test_registration_shows_the_secret_once(api: Client, installation: Installation) -> None:
    answer = register(api, events=["order.created", "product.updated", "order.created"], description="Até já")
    assert answer.status_code == 201
    assert answer.headers["Cache-Control"] == "no-store"
    record = answer.json()
    webhook = Webhook.objects.get()
    assert record.pop("secret").startswith("whsec_test_")
    assert record.pop("createdAt").endswith("Z")
    assert record == {
        "id": str(webhook.pk),
        "url": URL,
        "events": ["order.created", "product.updated"],
        "filter": None,
        "description": "Até já",
        "isActive": True,
        "isAppDefined": False,
        "eventsWithoutScope": [],
        "disabledReason": None,
        "disabledAt": None,
    }
    assert webhook.installation_id == installation.pk


def test_event_without_its_scope_is_accepted_and_listed(api_with: Any) -> None:
    record = register(api_with("read_orders"), events=["order.created", "review.created"]).json()
    assert record["eventsWithoutScope"] == ["review.created"]
    assert record["description"] is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": None}, "url"),
        ({"url": 5}, "url"),
        ({"url": ""}, "url"),
        ({"url": "ftp://example.com/"}, "url"),
        ({"url": "https://example.com/" + "a" * 2048}, "url"),
        ({"events": []}, "events"),
        ({"events": "order.created"}, "events"),
        ({"events": None}, "events"),
        ({"events": ["order.created", "order.eaten"]}, "events[1]"),
        ({"events": ["order.created", 5]}, "events[1]"),
        ({"events": ["order.created\n"]}, "events[0]"),
        ({"events": [" order.created"]}, "events[0]"),
        ({"events": ["webhook.test"]}, "events[0]"),
        ({"events": ["app.uninstalled"]}, "events[0]"),
        ({"description": "d" * 301}, "description"),
        ({"description": 5}, "description"),
    ],
)
def test_wrong_input_is_400_and_named(api: Client, body: dict[str, Any], field: str) -> None:
    answer = register(api, **body)
    assert answer.status_code == 400
    assert [problem["field"] for problem in answer.json()["details"]] == [field]
    assert Webhook.objects.count() == 0


@pytest.mark.spec("Webhook endpoints", "At most 20 webhooks per installation; the 21st is a 409")
def test_twenty_first_webhook_is_409(api: Client) -> None:
    assert [register(api).status_code for _ in range(20)] == [201] * 20
    with unchanged(Webhook):
        assert register(api).status_code == 409


@pytest.mark.spec("Errors", "404: absent, or another tenant's")
def test_webhook_of_another_installation_is_not_found(api: Client, elsewhere: Installation) -> None:
    foreign = register(client_of(elsewhere)).json()["id"]
    for webhook_id in (foreign, uuid4(), "nonsense", "%00"):
        answer = api.post(f"/webhooks/{webhook_id}/test")
        assert (answer.status_code, answer.json()["message"]) == (404, "Webhook not found")


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """An endpoint on this machine, which the URL rule lets through in DEBUG."""
    settings.DEBUG = True
    with Receiver() as running:
        yield running
    transport.close()


@pytest.mark.spec("Webhook endpoints", "The test call sends webhook.test, signed, whatever the endpoint did")
@pytest.mark.parametrize(("status", "error"), [(204, None), (500, "http_5xx"), (404, "http_4xx")])
def test_test_call_tells_what_the_endpoint_did(
    api: Client, receiver: Receiver, status: int, error: str | None
) -> None:
    receiver.respond_with(status)
    webhook = register(api, url=receiver.url).json()
    answer = api.post(f"/webhooks/{webhook['id']}/test")
    result = answer.json()
    [request] = receiver.requests
    timestamp = request.headers["x-webhook-timestamp"]
    signed = hmac.new(webhook["secret"].encode(), f"{timestamp}.".encode() + request.body, hashlib.sha256)
    assert answer.status_code == 200
    assert (result["success"], result["httpStatus"], result["error"]) == (error is None, status, error)
    assert request.headers["x-webhook-event"] == "webhook.test"
    assert request.headers["x-service-event-id"] == result["eventId"]
    assert request.headers["x-webhook-signature"] == f"sha256={signed.hexdigest()}"


@pytest.mark.spec("Webhook endpoints", "The test call sends once and tells status, duration and error class")
def test_test_call_to_a_closed_port_tells_the_failure(api: Client) -> None:
    webhook_id = register(api).json()["id"]
    answer = api.post(f"/webhooks/{webhook_id}/test")
    assert answer.status_code == 200
    result = answer.json()
    assert (result["success"], result["httpStatus"], result["error"]) == (False, None, "refused")
    assert isinstance(result["durationMs"], int)
    assert set(result) == {"success", "httpStatus", "durationMs", "error", "eventId"}
