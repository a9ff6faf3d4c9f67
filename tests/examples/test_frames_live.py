"""The sample app's block, widget, script and admin page in a browser, hosted by the platform's own scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Literal

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.axe import violations
from tests.browser.chromium import launch, overflow

from .fake_platform import FakePlatform
from .host_page import admin_frame, block_frame, open_host, script_tag
from .stores import Store, install

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SETTINGS = {"title": "Fresh from the oven", "color": "#116b3d", "entries": 2}


@pytest.fixture(scope="module")
def pages() -> Iterator[Page]:
    with sync_playwright() as playwright:
        chromium = launch(playwright)
        yield chromium.new_page()
        chromium.close()


@pytest.fixture
def page(pages: Page) -> Iterator[Page]:
    """Whatever its scripts throw fails the test."""
    said: list[str] = []
    listen = lambda error: said.append(str(error))  # noqa: E731
    pages.on("pageerror", listen)
    yield pages
    pages.remove_listener("pageerror", listen)
    assert said == []


def orders(*names: str) -> list[dict[str, object]]:
    now = datetime.now(UTC).isoformat()
    return [
        {"status": "PENDING", "createdAt": now, "items": [{"name": name, "quantity": 2}]} for name in names
    ]


@pytest.mark.spec(
    "Block iframe message protocol", "The sample app's block shows its settings, changed ones too"
)
def test_block_shows_orders_by_its_settings(page: Page, store: Store) -> None:
    store.platform.orders = orders("Rye bread", "Plum cake", "Baguette")
    open_host(page, store, block_frame(store, "/block/recent-orders", SETTINGS))
    block = page.frame_locator("iframe")
    expect(block.get_by_role("heading")).to_have_text("Fresh from the oven")
    expect(block.locator("#orders li")).to_have_text(["Rye bread × 2this minute", "Plum cake × 2this minute"])
    height = int(page.locator("iframe").get_attribute("height") or 0)
    assert 100 < height < 400
    changed = {"title": "Latest", "entries": 3, "link": "https://example.com/all", "linkText": "All of them"}
    page.locator("iframe").evaluate(
        "(frame, detail) => frame.dispatchEvent(new CustomEvent('block:update', { bubbles: true, detail }))",
        changed,
    )
    expect(block.get_by_role("heading")).to_have_text("Latest")
    expect(block.locator("#orders li")).to_have_count(3)
    expect(block.get_by_role("link", name="All of them")).to_have_attribute("href", "https://example.com/all")
    page.wait_for_function(f"Number(document.querySelector('iframe').height) > {height}")


def test_block_leaves_out_older_orders_and_links_that_are_no_web_addresses(page: Page, store: Store) -> None:
    store.platform.orders = orders("Rye bread")
    settings = {"since": "2999-01-01T00:00:00Z", "link": "javascript:alert(1)"}
    open_host(page, store, block_frame(store, "/block/recent-orders", settings))
    block = page.frame_locator("iframe")
    expect(block.get_by_text("No orders yet")).to_be_visible()
    expect(block.get_by_role("link")).to_have_count(0)


@pytest.mark.spec(
    "Block iframe message protocol", "The sample app has the look of the page around it, light and dark"
)
def test_frames_look_like_the_page_around_them(page: Page, store: Store) -> None:
    store.platform.orders = orders("Rye bread")
    page.emulate_media(color_scheme="dark")
    open_host(page, store, block_frame(store, "/block/recent-orders", {}))
    block = page.frame_locator("iframe")
    expect(block.locator("html")).to_have_css("background-color", "rgb(22, 26, 33)")
    expect(block.get_by_role("heading")).to_have_css("color", "rgb(232, 235, 240)")
    page.emulate_media(color_scheme="light")
    expect(block.locator("html")).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(block.get_by_role("heading")).to_have_css("color", "rgb(20, 24, 31)")

    page.emulate_media(color_scheme="dark")
    open_host(page, store, block_frame(store, "/widget/ring-us", {}))
    widget = page.frame_locator("iframe")
    expect(widget.get_by_role("button")).to_have_css("background-color", "rgb(22, 26, 33)")
    expect(widget.locator("html")).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    open_host(page, store, admin_frame(store))
    expect(page.frame_locator("iframe").locator("html")).to_have_css("background-color", "rgb(22, 26, 33)")
    page.emulate_media(color_scheme="light")


@pytest.mark.spec("Block iframe message protocol", "The sample app's widget receives its settings")
def test_bell_is_rung_in_the_store_and_heard_by_the_merchant(page: Page, store: Store) -> None:
    settings = {"label": "Call the baker", "answer": "Coming!", "phone": "+44 20 7946 0000"}
    open_host(page, store, block_frame(store, "/widget/ring-us", settings))
    widget = page.frame_locator("iframe")
    widget.get_by_role("button", name="Call the baker").click()
    expect(widget.get_by_role("status")).to_have_text("Coming! Or call +44 20 7946 0000.")
    expect(widget.get_by_role("link")).to_have_attribute("href", "tel:+442079460000")
    open_host(page, store, admin_frame(store))
    expect(page.frame_locator("iframe").get_by_text("Someone pressed the bell")).to_be_visible()


@pytest.mark.parametrize(
    ("locale", "ring", "title"),
    [("de", "Klingeln", "Gerade bestellt"), ("fr-FR", "Sonner", "Commandé à l’instant"), ("nl", "Ring us", "Just ordered")],
)  # fmt: skip
def test_frames_speak_the_stores_language_but_keep_the_merchants_words(
    page: Page, store: Store, locale: str, ring: str, title: str
) -> None:
    store.platform.orders = orders("Rye bread")
    frame = page.frame_locator("iframe")
    open_host(page, store, block_frame(store, "/widget/ring-us", {"label": "Ring us"}, locale))
    expect(frame.get_by_role("button")).to_have_text(ring)
    expect(frame.locator("html")).to_have_attribute("lang", "en" if locale == "nl" else locale[:2])
    open_host(page, store, block_frame(store, "/block/recent-orders", {"title": "Just ordered"}, locale))
    expect(frame.get_by_role("heading")).to_have_text(title)
    open_host(page, store, block_frame(store, "/block/recent-orders", {"title": "Hot now"}, locale))
    expect(frame.get_by_role("heading")).to_have_text("Hot now")


@pytest.mark.spec(
    "Admin page iframe contract", "The sample app's admin page shows the store of its session token"
)
def test_admin_page_shows_the_store_that_the_token_is_of(page: Page, store: Store) -> None:
    webhook = store.platform.webhook_of(store.token)
    store.platform.deliver(webhook, "order.created", {"orderNumber": "1042", "amount": 24.5})
    open_host(page, store, admin_frame(store))
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("Order 1042: 24.50 EUR")).to_be_visible()
    expect(frame.get_by_role("status")).to_contain_text("Harbour Bakery")


def test_admin_page_of_another_store_stays_empty(page: Page, store: Store) -> None:
    other = Store(store.app, store.platform, install(store.platform))
    open_host(page, store, admin_frame(store, businessId=other.business_id))
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("status")).to_contain_text("Not signed in: the token is of another store.")
    expect(frame.locator("#overview")).to_be_hidden()


def test_frame_on_another_site_does_not_load(page: Page, store: Store) -> None:
    """By its own word: the policy of the page around it would allow it."""
    elsewhere = FakePlatform()
    try:
        other = Store(store.app, elsewhere, store.token)
        elsewhere.installations = store.platform.installations
        open_host(page, other, block_frame(store, "/block/recent-orders", SETTINGS))
        page.wait_for_load_state("networkidle")
        assert [frame.url.partition(":")[0] for frame in page.frames] == ["http", "chrome-error"]
        expect(page.frame_locator("iframe").locator("#block")).to_have_count(0)
    finally:
        elsewhere.close()


@pytest.mark.spec("Contract 6 Extensions", "The sample app's global script shows what the merchant wrote")
def test_announcement_shows_the_merchants_words_until_it_is_closed(page: Page, store: Store) -> None:
    settings = {"text": "<b>Plums</b> are here", "color": "#ffe9a8", "link": "https://example.com/plums"}
    open_host(page, store, f"<h1>Shop</h1>{script_tag(store, json.dumps(settings))}")
    bar = page.get_by_role("complementary", name="Announcement")
    expect(bar.get_by_role("link", name="<b>Plums</b> are here")).to_have_attribute("href", settings["link"])
    assert bar.evaluate("bar => getComputedStyle(bar).backgroundColor") == "rgb(255, 233, 168)"
    assert bar.evaluate("bar => getComputedStyle(bar).color") == "rgb(0, 0, 0)"
    bar.get_by_role("button", name="Close the announcement").click()
    expect(bar).to_have_count(0)
    page.reload()
    page.wait_for_load_state("networkidle")
    expect(bar).to_have_count(0)


@pytest.mark.parametrize("attribute", ["", "{}", "null", "[1]", '{"text": "  "}', '{"text": 7}'])
def test_announcement_without_words_changes_nothing(page: Page, store: Store, attribute: str) -> None:
    open_host(page, store, f"<h1>Shop</h1>{script_tag(store, attribute)}")
    page.wait_for_load_state("networkidle")
    assert page.locator("body > :not(script)").count() == 1
    assert page.evaluate("Object.keys(window).filter(name => /bell|announce/i.test(name))") == []


def test_announcement_with_odd_values_shows_its_words_all_the_same(page: Page, store: Store) -> None:
    settings = {"text": "Plums", "color": "red; x", "link": "javascript:alert(1)"}
    open_host(page, store, script_tag(store, json.dumps(settings)))
    bar = page.get_by_role("complementary", name="Announcement")
    expect(bar).to_contain_text("Plums")
    expect(bar.get_by_role("link")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_payment_page_is_accessible_on_a_phone(
    page: Page, store: Store, scheme: Literal["light", "dark"]
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme=scheme)
    page.goto(store.invoice(description="Order 1042 at " + "Harbour" * 9)["paymentUrl"])
    assert violations(page) == []
    assert overflow(page) == 0
    page.get_by_role("button", name="Pay 24.50 EUR").click()
    expect(page.get_by_role("status")).to_contain_text("Paid")
    assert violations(page) == []
