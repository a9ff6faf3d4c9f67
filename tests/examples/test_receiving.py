"""The sample app receives webhooks: what it answers, keeps and shows."""

from __future__ import annotations

import http.client
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from tests.waiting import wait_until

from .driver import SampleApp
from .fake_platform import FakePlatform

ORDER = {"orderId": "o-1", "orderNumber": "1042", "amount": 24.5, "isGuest": True}

Started = tuple[SampleApp, dict[str, Any]]


@pytest.fixture
def connected(start_app: Callable[..., SampleApp], platform: FakePlatform) -> Started:
    """The app, connected to one store at its start, and that store's webhook."""
    token = platform.install()
    app = start_app(token=token)
    wait_until(lambda: "Sunny Bakery" in app.page())
    return app, platform.webhook_of(token)


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
    page = app.page()
    assert "Signature verified" in page
    assert "Order 1042: 24.50 EUR" in page
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
        ({"without": "X-Webhook-Id"}, "X-Webhook-Id is missing"),
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
    page = app.page()
    assert "Refused: " in page
    assert "Signature verified" not in page


def test_unknown_webhook_is_refused(connected: Started, platform: FakePlatform) -> None:
    _, webhook = connected
    answer = platform.deliver(webhook | {"id": "another"}, "order.created", ORDER)
    assert answer.status_code == 401


@pytest.mark.spec("Events", "X-Service-Event-Id: identical across retries; used for deduplication")
def test_repeat_is_acknowledged_and_marked(connected: Started, platform: FakePlatform) -> None:
    app, webhook = connected
    for _ in range(2):
        assert platform.deliver(webhook, "order.created", ORDER, delivery_id="d-1").status_code == 200
    assert [call["repeat"] for call in app.received()] == [True, False]


def test_large_body_is_refused_without_being_kept(connected: Started) -> None:
    app, _ = connected
    answer = requests.post(f"{app.url}/webhooks", data=b"x" * (1024 * 1024 + 1), timeout=5)
    assert answer.status_code == 413
    (call,) = app.received()
    assert (call["verified"], call["data"]) == (False, "")


def test_body_without_a_length_is_refused(connected: Started) -> None:
    app, _ = connected
    answer = requests.post(f"{app.url}/webhooks", data=iter([b"{}"]), timeout=5)
    assert answer.status_code == 411


def test_what_a_stranger_sends_is_escaped_and_harmless(connected: Started) -> None:
    app, _ = connected
    host = urlsplit(app.url).netloc
    connection = http.client.HTTPConnection(host, timeout=5)
    body = b"<script>alert(1)</script>\xff" + b"[" * 20000
    connection.request("POST", "/webhooks", body, {"X-Webhook-Event": "<img src=x>" + "e" * 500})
    assert connection.getresponse().status == 401
    connection.close()
    page = app.page()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert len(app.received()[0]["data"]) <= 4096


def test_restart_keeps_stores_and_webhooks(
    connected: Started, platform: FakePlatform, start_app: Callable[..., SampleApp]
) -> None:
    app, webhook = connected
    platform.deliver(webhook, "order.created", ORDER)
    platform.deliver(webhook, "order.created", ORDER, age=400)
    before = app.received()
    app.stop()

    again = start_app()
    assert again.received() == before
    wait_until(lambda: webhook["url"] == f"{again.url}/webhooks")  # it listens elsewhere now, and says so
    assert platform.deliver(webhook, "order.created", ORDER).status_code == 200
    assert [call["number"] for call in again.received()] == [3, 2, 1]


def test_only_the_newest_two_hundred_are_kept(
    connected: Started, platform: FakePlatform, state_file: Path, start_app: Callable[..., SampleApp]
) -> None:
    app, _ = connected
    kept = state_file.with_suffix(".received.jsonl")
    with requests.Session() as session:
        for _ in range(450):
            session.post(f"{app.url}/webhooks", data=b"{}", timeout=5)
    assert [call["number"] for call in app.received()] == list(range(450, 250, -1))
    assert len(kept.read_text().splitlines()) <= 400
    app.stop()
    kept.write_text(kept.read_text() + '{"number": 451, "receiv')  # as a crash would leave it
    assert [call["number"] for call in start_app().received()] == list(range(450, 250, -1))


@pytest.mark.spec("Events/Data erasure", "The receiving app must delete all stored data and answer 2xx")
def test_data_erasure_deletes_the_store_and_a_repeat_is_still_acknowledged(
    connected: Started, platform: FakePlatform, state_file: Path, start_app: Callable[..., SampleApp]
) -> None:
    app, webhook = connected
    other = platform.install("Other Shop")
    app.press("/connect", access_token=other)
    platform.deliver(webhook, "order.created", ORDER)
    platform.deliver(webhook, "order.created", ORDER, age=400)
    platform.deliver(platform.webhook_of(other), "order.created", ORDER)

    erasure = {"appId": "a", "businessId": platform.installations[webhook["token"]]["businessId"]}
    assert platform.deliver(webhook, "business.data_erasure", erasure, delivery_id="e").status_code == 200

    assert [call["event"] for call in app.received()] == ["business.data_erasure", "order.created"]
    page = app.page()
    assert "Sunny Bakery" not in page
    assert "Other Shop" in page
    kept = state_file.read_text() + state_file.with_suffix(".received.jsonl").read_text()
    assert webhook["token"] not in kept
    assert kept.count('"1042"') == 1
    app.stop()
    webhook["url"] = start_app().url + "/webhooks"
    assert platform.deliver(webhook, "business.data_erasure", erasure, delivery_id="e").status_code == 200


def test_files_are_private(connected: Started, platform: FakePlatform, state_file: Path) -> None:
    _, webhook = connected
    platform.deliver(webhook, "order.created", ORDER)
    (stored,) = json.loads(state_file.read_text())["connections"]
    assert stored["webhook_secret"] == webhook["secret"]
    assert stored["access_token"] == webhook["token"]
    files = [state_file, state_file.with_suffix(".received.jsonl")]
    assert sorted(state_file.parent.iterdir()) == sorted(files)
    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600, 0o600]
