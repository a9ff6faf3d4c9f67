"""The sample app's pages: what their buttons do, who may press them, and who sees what."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import requests

from tests.waiting import wait_until

from .driver import SampleApp
from .fake_platform import FakePlatform


@pytest.fixture
def app(start_app: Callable[..., SampleApp]) -> SampleApp:
    return start_app()


@pytest.fixture
def store(app: SampleApp, platform: FakePlatform) -> str:
    """The address of a store that the browser has connected."""
    token = platform.install()
    app.press("/connect", access_token=token)
    return f"/stores/{platform.installations[token]['installationId']}"


def test_empty_page_says_what_to_do(app: SampleApp) -> None:
    page = app.page()
    assert "No store yet" in page
    assert "/merchant/" in page


def test_connecting_a_store_registers_the_webhook(app: SampleApp, platform: FakePlatform) -> None:
    token = platform.install("Tea & Cake")
    page = app.press("/connect", access_token=f" {token}\n")
    assert "Tea &amp; Cake is connected" in page
    assert "Tea & Cake" not in page
    assert token not in page
    webhook = platform.webhook_of(token)
    assert webhook["url"] == f"{app.url}/webhooks"
    assert {"order.created", "product.low_stock", "business.data_erasure"} <= set(webhook["events"])
    assert re.search(r"Not sent until the app has the scope for them:\s+<code>product.created</code>", page)
    assert re.search(rf'href="{re.escape(platform.url)}/merchant/apps/[^/"]+/welcome/"', page)


def test_connecting_again_keeps_the_webhook(app: SampleApp, platform: FakePlatform) -> None:
    token = platform.install()
    app.press("/connect", access_token=token)
    renewed = "fbat_test_renewed"  # a new test install issues a new token for the same installation
    platform.installations[renewed] = platform.installations.pop(token)
    platform.webhook_of(token)["token"] = renewed
    app.press("/connect", access_token=renewed)
    webhook = platform.webhook_of(renewed)
    assert platform.calls.count("POST /webhooks") == 1
    assert platform.deliver(webhook, "order.created", {"orderNumber": "1"}).status_code == 200


def test_connecting_again_after_the_webhook_was_deleted_makes_a_new_one(
    app: SampleApp, platform: FakePlatform
) -> None:
    token = platform.install()
    app.press("/connect", access_token=token)
    platform.webhooks.clear()
    app.press("/connect", access_token=token)
    [webhook] = platform.webhooks.values()
    assert webhook == platform.webhook_of(token)
    assert platform.deliver(webhook, "order.created", {"orderNumber": "1"}).status_code == 200


def test_store_that_hides_its_name_is_connected_all_the_same(app: SampleApp, platform: FakePlatform) -> None:
    token = platform.install()
    platform.readable_business = False
    assert f"Store {platform.installations[token]['businessId']} is connected" in app.press(
        "/connect", access_token=token
    )


def test_wrong_token_shows_the_platforms_words(app: SampleApp) -> None:
    page = app.press("/connect", access_token="fbat_wrong")
    assert "The store was not connected" in page
    assert "The platform says: The access token is not valid." in page


@pytest.mark.parametrize("pasted", ["", "whsec_abc", "fbat_a b", "fbat_é"])
def test_what_is_no_token_is_not_sent_anywhere(app: SampleApp, platform: FakePlatform, pasted: str) -> None:
    assert "begins with fbat_" in app.press("/connect", access_token=pasted)
    assert platform.calls == []


def test_refused_address_shows_the_platforms_words(
    start_app: Callable[..., SampleApp], platform: FakePlatform
) -> None:
    app = start_app("--public-url", "http://forbidden.example")
    page = app.press("/connect", access_token=platform.install())
    assert "The platform says: url leads to a private address." in page


@pytest.mark.long
def test_sample_order_brings_its_own_webhook(app: SampleApp, platform: FakePlatform, store: str) -> None:
    assert "Order 1042 was placed" in app.press(f"{store}/sample-order")
    (order,) = platform.orders
    assert order["items"] == [{"productId": "p-here", "quantity": 1}]
    assert all(platform.idempotency_keys)
    wait_until(lambda: [call["event"] for call in app.received()] == ["order.created"])


def test_sample_order_in_an_empty_store_is_explained(
    app: SampleApp, platform: FakePlatform, store: str
) -> None:
    platform.products = []
    page = app.press(f"{store}/sample-order")
    assert "The store has no product that is available and in stock." in page


def test_test_event_arrives(app: SampleApp, store: str) -> None:
    page = app.press(f"{store}/test-event")
    assert "The test event arrived" in page
    assert "It works" in page


def test_disconnecting_deletes_the_webhook(app: SampleApp, platform: FakePlatform, store: str) -> None:
    assert "Sunny Bakery is disconnected" in app.press(f"{store}/disconnect")
    assert platform.webhooks == {}
    assert app.get(store).status_code == 404


def test_notice_is_shown_once(app: SampleApp) -> None:
    assert "The store was not connected" in app.press("/connect", access_token="fbat_wrong")
    assert "The store was not connected" not in app.page()


def test_only_the_browser_that_connected_a_store_sees_it(
    app: SampleApp, platform: FakePlatform, store: str
) -> None:
    (webhook,) = platform.webhooks.values()
    platform.deliver(webhook, "order.created", {"orderNumber": "1042"})
    assert "Sunny Bakery" in app.page()
    assert len(app.received()) == 1
    stranger = SampleApp(app.url, app.stop)
    stranger.press("/connect", access_token=platform.install("Other Shop"))
    assert "Other Shop" in stranger.page()
    assert "Sunny Bakery" not in stranger.page()
    assert stranger.received() == []
    for path in (store, f"{store}/received"):
        assert stranger.get(path).status_code == 404
    origin = {"Origin": app.url}
    for button in ("sample-order", "test-event", "disconnect"):
        answer = stranger.browser.post(f"{app.url}{store}/{button}", headers=origin, timeout=5)
        assert answer.status_code == 404
    assert len(platform.webhooks) == 2
    assert platform.orders == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:1"},
    ],
)
def test_form_from_elsewhere_is_refused(
    app: SampleApp, platform: FakePlatform, store: str, headers: dict[str, str]
) -> None:
    answer = app.browser.post(f"{app.url}{store}/disconnect", headers=headers, timeout=5)
    assert answer.status_code == 403
    assert len(platform.webhooks) == 1


@pytest.mark.parametrize("path", ["/", "/received.json", "/install", "/callback?code=x", "/stores/x"])
def test_page_under_a_foreign_name_is_refused(app: SampleApp, path: str) -> None:
    answer = requests.get(app.url + path, headers={"Host": "evil.example"}, timeout=5)
    assert answer.status_code == 400


def test_page_is_its_own_and_nobody_elses(app: SampleApp, store: str) -> None:
    for path in ("/", store):
        answer = app.get(path)
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cache-Control"] == "no-store"
        assert "style=" not in answer.text
        assert "<style" not in answer.text
    for name in ("app.css", "app.js", "bell.svg"):
        assert app.get(f"/static/{name}").status_code == 200


def test_only_new_webhooks_are_sent_to_the_page(app: SampleApp, platform: FakePlatform, store: str) -> None:
    (webhook,) = platform.webhooks.values()
    for number in ("1042", "1043"):
        platform.deliver(webhook, "order.created", {"orderNumber": number})
    rows = app.page(f"{store}/received?after=1")
    assert "1043" in rows
    assert "1042" not in rows
    assert app.get(f"{store}/received?after=2").status_code == 204


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/healthz", 200),
        ("HEAD", "/", 200),
        ("GET", "/nowhere", 404),
        ("GET", "/static/../app.py", 404),
        ("GET", "/webhooks", 405),
        ("POST", "/nowhere", 404),
    ],
)
def test_addresses(app: SampleApp, method: str, path: str, status: int) -> None:
    headers = {"Origin": app.url}
    assert requests.request(method, app.url + path, headers=headers, timeout=5).status_code == status
