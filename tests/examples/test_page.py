"""The sample app's page: what its buttons do, and who may press them."""

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


def test_empty_page_says_what_to_do(app: SampleApp) -> None:
    page = app.page()
    assert "No store yet" in page
    assert "Connect a store to begin." in page


def test_connecting_a_store_registers_the_webhook(app: SampleApp, platform: FakePlatform) -> None:
    token = platform.install("Tea & Cake")
    page = app.press("/connect", access_token=f" {token}\n")
    assert "Tea &amp; Cake is connected" in page
    assert "Tea & Cake" not in page
    assert token not in page
    webhook = platform.webhook_of(token)
    assert webhook["url"] == f"{app.url}/webhooks"
    assert {"order.created", "product.low_stock", "business.data_erasure"} <= set(webhook["events"])
    assert "Not sent until the app has the scope for them: <code>product.created</code>" in page


def test_connected_store_leads_to_its_settings_on_the_platform(
    app: SampleApp, platform: FakePlatform
) -> None:
    page = app.press("/connect", access_token=platform.install("Tea & Cake"))
    assert re.search(rf'href="{re.escape(platform.url)}/merchant/apps/[^/"]+/settings/"', page)


def test_connecting_again_keeps_the_webhook(app: SampleApp, platform: FakePlatform) -> None:
    token = platform.install()
    app.press("/connect", access_token=token)
    renewed = "fbat_test_renewed"  # a new test install issues a new token for the same installation
    platform.installations[renewed] = platform.installations.pop(token)
    platform.webhook_of(token)["token"] = renewed
    app.press("/connect", access_token=renewed)
    webhook = platform.webhook_of(renewed)
    assert platform.calls.count("POST /webhooks") == 1
    assert platform.deliver(webhook, "order.created", {}).status_code == 200


def test_connecting_again_after_the_webhook_was_deleted_makes_a_new_one(
    app: SampleApp, platform: FakePlatform
) -> None:
    token = platform.install()
    app.press("/connect", access_token=token)
    platform.webhooks.clear()
    app.press("/connect", access_token=token)
    [webhook] = platform.webhooks.values()
    assert webhook == platform.webhook_of(token)
    assert platform.deliver(webhook, "order.created", {}).status_code == 200


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


def test_sample_order_brings_its_own_webhook(app: SampleApp, platform: FakePlatform) -> None:
    token = platform.install()
    app.press("/connect", access_token=token)
    installation = platform.installations[token]["installationId"]
    page = app.press("/sample-order", installation=installation)
    assert "Order 1042 was placed" in page
    (order,) = platform.orders
    assert order["items"] == [{"productId": "p-here", "quantity": 1}]
    assert all(platform.idempotency_keys)
    wait_until(lambda: [call["event"] for call in app.received()] == ["order.created"])


def test_sample_order_in_an_empty_store_is_explained(app: SampleApp, platform: FakePlatform) -> None:
    token = platform.install()
    app.press("/connect", access_token=token)
    platform.products = []
    page = app.press("/sample-order", installation=platform.installations[token]["installationId"])
    assert "The store has no product that is available and in stock." in page


def test_test_event_arrives(app: SampleApp, platform: FakePlatform) -> None:
    token = platform.install()
    app.press("/connect", access_token=token)
    page = app.press("/test-event", installation=platform.installations[token]["installationId"])
    assert "The test event arrived" in page
    assert "It works" in page


def test_disconnecting_deletes_the_webhook(app: SampleApp, platform: FakePlatform) -> None:
    token = platform.install()
    app.press("/connect", access_token=token)
    installation = platform.installations[token]["installationId"]
    assert "Sunny Bakery is disconnected" in app.press("/disconnect", installation=installation)
    assert platform.webhooks == {}
    assert "That store is not connected" in app.press("/sample-order", installation=installation)


def test_notice_is_shown_once(app: SampleApp) -> None:
    answer = requests.post(
        f"{app.url}/connect",
        data={"csrf": app.token(), "access_token": "fbat_wrong"},
        headers={"Origin": app.url},
        timeout=5,
    )
    assert "The store was not connected" in answer.text
    assert "The store was not connected" not in requests.get(answer.url, timeout=5).text


@pytest.mark.parametrize(
    ("headers", "token"),
    [
        ({"Origin": "http://evil.example"}, True),
        ({"Origin": "null"}, True),
        ({}, True),
        ({"Sec-Fetch-Site": "cross-site"}, True),
        ({"Sec-Fetch-Site": "same-site"}, True),
        ({"Sec-Fetch-Site": "same-origin"}, False),
    ],
)
def test_form_from_elsewhere_is_refused(
    app: SampleApp, platform: FakePlatform, headers: dict[str, str], token: bool
) -> None:
    form = {"access_token": platform.install(), "csrf": app.token() if token else "guessed"}
    answer = requests.post(f"{app.url}/connect", data=form, headers=headers, timeout=5)
    assert answer.status_code == 403
    assert platform.calls == []


def test_page_under_a_foreign_name_is_refused(app: SampleApp) -> None:
    for path in ("/", "/received.json"):
        answer = requests.get(app.url + path, headers={"Host": "evil.example"}, timeout=5)
        assert answer.status_code == 421


def test_page_is_its_own_and_nobody_elses(app: SampleApp) -> None:
    answer = requests.get(f"{app.url}/", timeout=5)
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "style=" not in answer.text
    assert "<style" not in answer.text
    for name in ("app.css", "app.js", "bell.svg"):
        assert requests.get(f"{app.url}/static/{name}", timeout=5).status_code == 200


def test_unchanged_page_is_not_sent_again(app: SampleApp, platform: FakePlatform) -> None:
    version = requests.get(f"{app.url}/", timeout=5).headers["ETag"]
    look = {"If-None-Match": version}
    assert requests.get(f"{app.url}/", headers=look, timeout=5).status_code == 304
    requests.post(f"{app.url}/webhooks", data=b"{}", timeout=5)
    assert requests.get(f"{app.url}/", headers=look, timeout=5).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/healthz", 200),
        ("HEAD", "/", 200),
        ("GET", "/nowhere", 404),
        ("GET", "/static/../server.py", 404),
        ("GET", "/webhooks", 405),
        ("POST", "/", 405),
        ("POST", "/nowhere", 404),
    ],
)
def test_addresses(app: SampleApp, method: str, path: str, status: int) -> None:
    assert requests.request(method, app.url + path, timeout=5).status_code == status
