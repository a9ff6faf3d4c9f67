"""Every extension of the sample app, at work in the demo's store: what a newcomer meets after `make demo`."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.chromium import PATIENCE, launch
from tests.examples.driver import SampleApp
from tests.waiting import wait_until

from .process import Demo

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timed]

STORE = "/store/harbour-bakery"
GOODS = f"{STORE}/products/elderflower-lemonade/"  # 3.80 each, more than twelve in stock


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    running = Demo(tmp_path_factory.mktemp("demo") / "var").start()
    SampleApp(running.sample_app_url, running.end).wait_until_connected()
    yield running
    running.end()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, demo: Demo) -> Iterator[Page]:
    """A new browser. Any message in its console about the demo's pages fails the test."""
    context = chromium.new_context(base_url=demo.url)
    context.set_default_timeout(PATIENCE)
    said: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    yield page
    context.close()
    # The console repeats the status of a page that is meant to be an error page.
    assert [each for each in said if each.startswith("error") and "Failed to load resource" not in each] == []


def sign_in(page: Page, email: str) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password", exact=True).fill("extension-demo")
    page.get_by_role("button", name="Sign in").click()


def fill_checkout(page: Page, quantity: int) -> None:
    """Some lemonade, to be delivered, and paid with Bell Pay."""
    page.goto(GOODS)
    page.get_by_label("Quantity").fill(str(quantity))
    page.get_by_role("button", name="Add to cart").click()
    page.goto(f"{STORE}/checkout/")
    page.get_by_label("Name", exact=True).fill("Kim")
    page.get_by_label("E-mail").fill("kim@example.com")
    page.get_by_label("Delivery", exact=True).check()
    page.get_by_label("Address").fill("1 Quay Street")
    page.get_by_label("Bell Pay").check()


def settle(page: Page, button: str) -> None:
    """To the app's page, press a button there, and back to the order."""
    order = page.url
    page.get_by_role("link", name="Pay").click()
    page.get_by_role("button", name=button).click()
    page.wait_for_load_state()
    page.goto(order)


@pytest.mark.spec("Contract 9 Demo", "The demo's store shows the sample app's block, script and widget")
def test_block_script_and_widget_are_in_the_store(page: Page) -> None:
    page.goto(f"{STORE}/")
    announcement = page.get_by_role("complementary", name="Announcement")
    expect(announcement).to_contain_text("Buy three, get 10% off.")
    widget = page.frame_locator("iframe.widget")
    widget.get_by_role("button", name="Ring us").click()
    expect(widget.get_by_role("status")).to_contain_text("We heard the bell.")
    page.get_by_role("link", name="About us").click()
    block = page.frame_locator("iframe.block")
    expect(block.get_by_role("heading", name="Just ordered")).to_be_visible()
    expect(block.locator("#orders li")).to_have_count(4)
    expect(announcement).to_be_visible()


@pytest.mark.spec(
    "Contract 9 Demo", "An order of the demo's store goes through all five hooks of the sample app"
)
def test_shopper_pays_with_bell_pay_at_a_discount_with_free_delivery(page: Page) -> None:
    fill_checkout(page, 10)
    summary = page.get_by_role("region", name="Your order")
    for words in ("$38.00", "10% off from 3 pieces", "−$3.80", "Free", "$34.20"):
        expect(summary).to_contain_text(words)
    page.get_by_role("button", name="Place order").click()
    expect(page.locator(".payment")).to_contain_text("Waiting for your payment")
    settle(page, "Pay 34.20 USD")
    expect(page.locator(".payment")).to_contain_text("$34.20 received")

    # The platform said so itself, to the app's webhook.
    sign_in(page, "merchant@example.com")
    paid = opened(page).locator("#received > li").filter(has_text="payment.completed").first
    expect(paid).to_contain_text("34.20 USD completed")
    expect(paid).to_contain_text("Signature verified")


def test_payment_that_fails_lets_the_shopper_choose_again(page: Page) -> None:
    fill_checkout(page, 1)
    page.get_by_role("button", name="Place order").click()
    settle(page, "Let it fail")
    expect(page.locator(".payment")).to_contain_text("The payment failed.")
    page.get_by_role("link", name="Choose how to pay").click()
    page.get_by_label("Bell Pay").check()
    page.locator("main form button").last.click()
    settle(page, "Pay ")
    expect(page.locator(".payment")).to_contain_text("received")


def test_app_refuses_too_many_of_one_product(page: Page) -> None:
    page.goto(f"{STORE}/")
    fill_checkout(page, 13)
    page.get_by_role("button", name="Place order").click()
    expect(page.locator("main")).to_contain_text("At most 12 pieces of one product in an order, please.")


def opened(page: Page) -> Page:
    """The app's own page of the store, from its admin page: the platform says there who is looking."""
    page.goto("/merchant/")
    page.get_by_role("navigation").get_by_role("link", name="Order Bell").first.click()
    with page.context.expect_page() as tab:
        page.frame_locator("iframe.app-page").get_by_role("button", name="See them as they arrive").click()
    return tab.value


def test_developer_sees_the_app_on_the_sandbox_too(page: Page) -> None:
    """Connected by its app-defined webhook, with its own credentials."""
    sign_in(page, "developer@example.com")
    shown = opened(page)
    expect(shown.get_by_role("heading", level=1)).to_contain_text("sandbox")
    expect(shown.get_by_text("Test install")).to_be_visible()
    expect(shown.locator(".products")).to_contain_text("in stock")
    shown.get_by_role("button", name="Place a sample order").click()
    expect(shown.locator("#received > li").first).to_contain_text("Signature verified")


@pytest.mark.spec("Contract 9 Demo", "The merchant of the demo sees the sample app's admin page")
def test_merchant_sees_the_admin_page_and_changes_the_rules(page: Page) -> None:
    sign_in(page, "merchant@example.com")
    page.get_by_role("navigation").get_by_role("link", name="Order Bell").first.click()
    frame = page.frame_locator("iframe.app-page")
    expect(frame.get_by_role("status")).to_contain_text("Harbour Bakery")
    expect(frame.get_by_text("At most 12 pieces of one product in an order.")).to_be_visible()

    page.goto("/merchant/apps/")
    page.locator("main a[href*='/merchant/apps/']").filter(has_text="Order Bell").first.click()
    page.get_by_role("link", name="Settings", exact=True).click()
    page.get_by_label("Discount in percent").fill("25")
    page.get_by_role("button", name="Save").click()
    page.wait_for_load_state()
    fill_checkout(page, 3)

    def is_cheaper() -> bool:
        """The app asks for its settings every few seconds."""
        page.reload()
        page.locator("form[data-sums=known]").wait_for()
        return "25% off from 3 pieces" in page.locator("main").inner_text()

    wait_until(is_cheaper, 10)
