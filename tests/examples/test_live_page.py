"""The sample app's page in a browser: webhooks appear by themselves, and nothing is disturbed by that."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect, sync_playwright

from tests.browser.chromium import launch

from .driver import SampleApp, SampleAppProcess
from .fake_platform import FakePlatform

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def page() -> Iterator[Page]:
    """A page on a phone; whatever its console says fails the test."""
    said: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if "Failed to load resource" not in message.text:  # the app is stopped in the middle of one test
            said.append(message.text)

    with sync_playwright() as playwright:
        chromium = launch(playwright)
        page = chromium.new_page(viewport={"width": 390, "height": 844})
        page.on("console", listen)
        page.on("pageerror", lambda error: said.append(str(error)))
        yield page
        chromium.close()
    assert said == []


def connect(page: Page, url: str, token: str) -> None:
    page.goto(url)
    page.get_by_label("Access token").fill(token)
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("Sunny Bakery is connected")


def test_order_appears_without_reload_and_opened_rows_stay_open(
    start_app: Callable[..., SampleApp], platform: FakePlatform, page: Page
) -> None:
    token = platform.install()
    connect(page, start_app().url, token)
    page.get_by_role("button", name="Place a sample order").click()
    rows = page.locator("#received > li")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("Order 1042: 12.25 EUR")
    expect(page.get_by_text("Nothing has arrived yet")).to_be_hidden()

    rows.first.locator("summary").click()
    platform.deliver(platform.webhook_of(token), "order.created", {"orderNumber": "1043", "amount": 5})
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("Order 1043")
    expect(rows.last.locator("pre")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_page_outlives_a_restart_of_the_app(
    start_process: Callable[..., SampleAppProcess], platform: FakePlatform, page: Page
) -> None:
    app = start_process()
    connect(page, app.url, platform.install())
    app.end()
    expect(page.get_by_text("The app does not answer.")).to_be_visible()

    start_process("--port", app.url.rpartition(":")[2])
    expect(page.get_by_text("New ones appear by themselves.")).to_be_visible()
    page.get_by_role("button", name="Send a test event").click()
    expect(page.get_by_role("status").first).to_contain_text("The test event arrived")
