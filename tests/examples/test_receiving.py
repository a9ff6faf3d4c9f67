"""The sample app receives webhooks: what it answers, keeps and shows."""

from __future__ import annotations

import http.client
import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from .driver import SampleApp
from .fake_platform import FakePlatform

ORDER = {"orderId": "o-1", "orderNumber": "N-1042", "amount": 24.5, "isGuest": True}

Started = tuple[SampleApp, dict[str, Any]]


@pytest.fixture
def connected(start_app: Callable[..., SampleApp], platform: FakePlatform) -> Started:
    """The app, connected to one store by the test's browser, and that store's webhook."""
    token = platform.install()
    app = start_app()
    app.press("/connect", access_token=token)
    return app, platform.webhook_of(token)


def page_of(app: SampleApp, platform: FakePlatform, webhook: dict[str, Any]) -> str:
    return app.store(platform.installations[webhook["token"]]["installationId"])


@pytest.mark.spec("Events/Signature", "sha256= and the hex HMAC-SHA256 of <timestamp>.<rawBody>")
def test_signed_webhook_is_accepted_and_shown(connected: Started, platform: FakePlatform) -> None:
    app, webhook = connected
    answer = platform.deliver(webhook, "order.created", ORDER, delivery_id="d-1")
    assert answer.status_code == 200
    (call,) = app.received()
    assert call.pop("receivedAt").endswith("Z")
    assert call == {
        "number": 1,
        "status": 200,
        "verified": True,
        "reason": None,
        "repeat": False,
        "event": "order.created",
        "timestamp": "2026-11-20T15:04:05.123Z",
        "deliveryId": "d-1",
        "webhookId": webhook["id"],
        "businessId": platform.installations[webhook["token"]]["businessId"],
        "data": ORDER,
    }
    page = page_of(app, platform, webhook)
    assert "Signature verified" in page
    assert "Order N-1042: 24.50 EUR" in page
    assert "d-1" in page


@pytest.mark.spec("Errors", "Webhook receivers: respond 401 for an invalid signature or stale timestamp")
@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"age": 301}, "seconds old"),
        ({"age": -330}, "seconds ahead"),
        ({"secret": "whsec_of_somebody_else"}, "does not match"),
        ({"tamper": b" "}, "does not match"),
        ({"without": "X-Webhook-Signature"}, "X-Webhook-Signature is missing"),
        ({"without": "X-Webhook-Timestamp"}, "X-Webhook-Timestamp is missing"),
    ],
)
def test_untrusted_webhook_is_refused_and_shown(
    connected: Started, platform: FakePlatform, how: dict[str, Any], reason: str
) -> None:
    app, webhook = connected
    assert platform.deliver(webhook, "order.created", ORDER, **how).status_code == 401
    (call,) = app.received()
    assert not call["verified"]
    assert reason in call["reason"]
    assert call["businessId"] is None
    page = page_of(app, platform, webhook)
    assert "Refused: " in page
    assert "Signature verified" not in page


def test_unknown_webhook_is_refused_and_not_kept(
    connected: Started, platform: FakePlatform, state_file: Path
) -> None:
    _, webhook = connected
    answer = platform.deliver(webhook | {"id": "another"}, "order.created", ORDER)
    assert answer.status_code == 401
    assert platform.deliver(webhook, "order.created", ORDER, without="X-Webhook-Id").status_code == 401
    assert b"N-1042" not in state_file.read_bytes()


@pytest.mark.spec("Events", "X-Service-Event-Id: identical across retries; used for deduplication")
def test_repeat_is_acknowledged_and_marked(connected: Started, platform: FakePlatform) -> None:
    app, webhook = connected
    for _ in range(2):
        assert platform.deliver(webhook, "order.created", ORDER, delivery_id="d-1").status_code == 200
    assert [call["repeat"] for call in app.received()] == [True, False]


def test_large_body_is_refused_without_being_kept(connected: Started) -> None:
    app, webhook = connected
    body, headers = b"x" * (1024 * 1024 + 1), {"X-Webhook-Id": webhook["id"]}
    assert requests.post(f"{app.url}/webhooks", data=body, headers=headers, timeout=5).status_code == 413
    assert app.received() == []


def test_what_a_stranger_sends_is_escaped_and_harmless(connected: Started, platform: FakePlatform) -> None:
    app, webhook = connected
    host = urlsplit(app.url).netloc
    connection = http.client.HTTPConnection(host, timeout=5)
    body = b"<script>alert(1)</script>\xff" + b"[" * 20000
    headers = {"X-Webhook-Event": "<img src=x>" + "e" * 500, "X-Webhook-Id": webhook["id"]}
    connection.request("POST", "/webhooks", body, headers)
    assert connection.getresponse().status == 401
    connection.close()
    page = page_of(app, platform, webhook)
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert len(app.received()[0]["data"]) <= 4096


@pytest.mark.long
def test_restart_keeps_stores_and_webhooks(
    connected: Started, platform: FakePlatform, start_app: Callable[..., SampleApp]
) -> None:
    app, webhook = connected
    platform.deliver(webhook, "order.created", ORDER)
    platform.deliver(webhook, "order.created", ORDER, age=400)
    before = app.received()
    app.stop()

    again = start_app()
    again.take_over(app)
    assert again.received() == before
    again.wait_until_connected()
    assert webhook["url"] == f"{again.url}/webhooks"  # it listens elsewhere now, and says so
    assert platform.deliver(webhook, "order.created", ORDER).status_code == 200
    assert [call["number"] for call in again.received()] == [3, 2, 1]


@pytest.mark.long
def test_only_the_newest_two_hundred_are_kept(connected: Started) -> None:
    app, webhook = connected
    with requests.Session() as session:
        session.headers["X-Webhook-Id"] = webhook["id"]
        for _ in range(210):
            session.post(f"{app.url}/webhooks", data=b"{}", timeout=5)
    assert [call["number"] for call in app.received()] == list(range(210, 10, -1))


@pytest.mark.long
@pytest.mark.spec("Events/Data erasure", "The receiving app must delete all stored data and answer 2xx")
def test_data_erasure_deletes_the_store_and_a_repeat_is_still_acknowledged(
    connected: Started, platform: FakePlatform, state_file: Path, start_app: Callable[..., SampleApp]
) -> None:
    app, webhook = connected
    other = platform.install("Other Shop")
    app.press("/connect", access_token=other)
    platform.deliver(webhook, "order.created", ORDER | {"note": "erased"})
    platform.deliver(webhook, "order.created", ORDER | {"note": "erased"}, age=400)
    platform.deliver(platform.webhook_of(other), "order.created", ORDER | {"note": "stays"})

    erasure = {"appId": "a", "businessId": platform.installations[webhook["token"]]["businessId"]}
    assert platform.deliver(webhook, "business.data_erasure", erasure, delivery_id="e").status_code == 200

    assert [call["event"] for call in app.received()] == ["business.data_erasure", "order.created"]
    page = app.page()
    assert "Sunny Bakery" not in page
    assert "Other Shop" in page
    kept = state_file.read_bytes()
    assert [word in kept for word in (webhook["token"].encode(), b'erased"', b"stays")] == [
        False,
        False,
        True,
    ]
    app.stop()
    again = start_app()
    again.take_over(app)
    webhook["url"] = f"{again.url}/webhooks"
    assert platform.deliver(webhook, "business.data_erasure", erasure, delivery_id="e").status_code == 200
    assert again.received()[0]["repeat"]


def test_what_is_kept_is_private(
    start_app: Callable[..., SampleApp], platform: FakePlatform, state_file: Path
) -> None:
    token, generous = platform.install(), os.umask(0)
    try:
        start_app().press("/connect", access_token=token)
    finally:
        os.umask(generous)
    with sqlite3.connect(state_file) as database:
        kept = database.execute("SELECT access_token, webhook_secret FROM stores").fetchall()
    assert kept == [(token, platform.webhook_of(token)["secret"])]
    assert list(state_file.parent.iterdir()) == [state_file]
    assert stat.S_IMODE(state_file.stat().st_mode) == 0o600
