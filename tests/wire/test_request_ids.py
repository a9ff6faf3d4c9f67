"""The request id: on every answer, and on everything that a request causes."""

import json
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from installations.models import Installation
from tests import factories
from tests.clients import client_of
from tests.config.commands import run
from tests.receivers import Receiver
from tests.webhooks import helpers
from tests.wire.traces import TRACE, TRACEPARENT, order_body
from webhooks.models import Event, Webhook

SECTION = "Contract 0 Request id"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def webhook(transactional_db: None, installation: Installation, receiver: Receiver) -> Webhook:
    return helpers.webhook(installation, receiver.url, ["order.created"])


@pytest.mark.spec(SECTION, "Every answer carries X-Request-Id, its own; an incoming one is ignored")
@pytest.mark.parametrize("host", ["testserver", "stores.test", "elsewhere.example"])
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/healthz",
        "/nothing/here",
        "/static/css/nothing.css",
        "/app-api/products",
        "/auth/login",
        "/portal/",
    ],
)
def test_every_answer_has_an_id_of_its_own(db: None, host: str, path: str) -> None:
    client = Client(headers={"host": host, "X-Request-Id": "mine"})
    first, second = (client.get(path)["X-Request-Id"] for _ in range(2))
    assert UUID(first).version == UUID(second).version == 7
    assert first != second


@pytest.mark.spec(SECTION, "Error pages show the id; the JSON error object keeps its fields")
def test_error_page_shows_the_id_and_the_error_object_does_not(
    client: Client, dana: User, shop: Business
) -> None:
    client.force_login(dana)
    pages = {
        ("testserver", "/nothing/here"),
        ("testserver", "/oauth/authorize?client_id=nobodys"),
        ("stores.test", "/nothing"),
        ("stores.test", f"/store/{shop.slug}/products/nothing/"),
    }
    for host, path in pages:
        page = client.get(path, headers={"host": host, "Accept": "text/html"})
        assert page.status_code in (400, 404), path
        assert f"Request ID: <code>{page['X-Request-Id']}</code>" in page.content.decode(), path
    assert client.get("/nothing/here").json().keys() == {"statusCode", "message", "error"}


@pytest.mark.spec("Contract 5 Webhooks", "Deliveries carry X-Request-Id, traceparent, business and event")
def test_delivery_carries_the_request_that_caused_it(
    webhook: Webhook, installation: Installation, receiver: Receiver
) -> None:
    """The same over retries, with a span of its own for each attempt; an order keeps its caller's trace."""
    receiver.respond_with(500, 200)
    api = client_of(installation)
    body = order_body(factories.product(installation.business))
    answer = api.post(
        "/app-api/orders", body, content_type="application/json", headers={"traceparent": TRACEPARENT}
    )
    helpers.drain()
    with time_machine.travel(timezone.now() + timedelta(minutes=1)):
        helpers.drain()
    first, second = (request.headers for request in receiver.wait_for(2))
    assert first["x-request-id"] == second["x-request-id"] == answer["X-Request-Id"]
    assert first["traceparent"].startswith(f"00-{TRACE}-")
    assert first["traceparent"][:36] == second["traceparent"][:36]
    assert first["traceparent"] != second["traceparent"]
    event = Event.objects.get()
    assert first["x-webhook-event-uid"] == second["x-webhook-event-uid"] == str(event.pk)
    assert first["x-webhook-business-id"] == str(installation.business_id)
    assert receiver.requests[0].body == receiver.requests[1].body


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        (TRACEPARENT, True),
        (f"cc-{TRACE}-00f067aa0ba902b7-01-what-comes-later", True),
        ("", False),
        (f"00-{TRACE}-00f067aa0ba902b7-01-more", False),
        (f"ff-{TRACE}-00f067aa0ba902b7-01", False),
        (f"00-{'0' * 32}-00f067aa0ba902b7-01", False),
        (f"00-{TRACE}-{'0' * 16}-01", False),
        (f"00-{TRACE.upper()}-00f067aa0ba902b7-01", False),
        (f"00-{TRACE}-00f067aa0ba902b7", False),
        ("x" * 5000, False),
    ],
)
@pytest.mark.spec(SECTION, "A valid incoming W3C traceparent keeps its trace")
def test_trace_of_the_caller_is_kept_where_it_is_valid(
    db: None, installation: Installation, header: str, kept: bool
) -> None:
    helpers.webhook(installation, "https://127.0.0.1:9/", ["order.created"])
    body = order_body(factories.product(installation.business))
    answer = client_of(installation).post(
        "/app-api/orders", body, content_type="application/json", headers={"traceparent": header}
    )
    trace = Event.objects.get().trace
    assert str(trace.request_id) == answer["X-Request-Id"]
    assert trace.trace_id == (UUID(TRACE) if kept else trace.request_id)


def test_event_without_a_request_carries_its_own_id(webhook: Webhook, receiver: Receiver) -> None:
    """As those of a worker: an expired payment, an erasure that is due."""
    delivery = helpers.published(webhook.installation.business)
    helpers.drain()
    (request,) = receiver.wait_for(1)
    assert request.headers["x-request-id"] == str(delivery.event_id)
    assert request.headers["traceparent"].split("-")[1] == delivery.event_id.hex


@pytest.mark.spec("Contract 6 Hooks", "Hook calls carry X-Webhook-Business-Id, X-Request-Id and traceparent")
def test_hook_call_carries_the_request_that_asks(
    transactional_db: None, dana: User, shop: Business, hooking: Any
) -> None:
    app = hooking("order.validate", {"valid": True})
    caller = factories.app(dana)
    factories.approve(caller)
    answer = client_of(factories.installation(caller, shop)).post(
        "/app-api/orders", order_body(factories.product(shop)), content_type="application/json",
        headers={"traceparent": TRACEPARENT},
    )  # fmt: skip
    assert answer.status_code == 201
    (request,) = app.receiver.requests
    assert request.headers["x-webhook-business-id"] == str(shop.pk)
    assert request.headers["x-request-id"] == answer["X-Request-Id"]
    assert request.headers["traceparent"].startswith(f"00-{TRACE}-")
    assert str(app.call.request_id) == answer["X-Request-Id"]


LOG = """
import logging, django
django.setup()
from common import tracing
with tracing.of_request(None) as trace:
    logging.getLogger("stores").warning("Stock of %s is low", "Brötchen")
    print(trace.request_id)
"""


@pytest.mark.slow  # a process of its own
def test_production_logs_json_with_the_request_id(tmp_path: Path) -> None:
    logged: subprocess.CompletedProcess[str] = run(tmp_path, "-c", LOG)
    line = json.loads(logged.stderr)
    assert (line["level"], line["logger"], line["message"]) == (
        "WARNING",
        "stores",
        "Stock of Brötchen is low",
    )
    assert line["request_id"] == logged.stdout.strip()
    assert line["trace_id"] == UUID(line["request_id"]).hex
