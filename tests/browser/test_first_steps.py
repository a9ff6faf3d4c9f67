"""From nothing to a seen webhook, with every press and every page counted."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.webhooks.helpers import wait_until
from webhooks.models import InboxEntry

from .axe import violations
from .chromium import overflow
from .conftest import PHONE, NewPage

pytestmark = pytest.mark.django_db(transaction=True)


class Counted:
    """A page on which presses of links and buttons are counted, and the pages they lead to. Typing is free."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.presses = 0
        self.paths: list[str] = []
        page.on("framenavigated", lambda frame: self._went(frame.url))

    def _went(self, url: str) -> None:
        self.paths.append(re.sub(r"^https?://[^/]+|\?.*$", "", url))

    def press(self, role: str, name: str) -> None:
        self.presses += 1
        self.page.get_by_role(role, name=name, exact=True).first.click()  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _plain_http(settings: object) -> None:
    settings.DEBUG = True  # type: ignore[attr-defined]


@pytest.fixture
def counted(new_page: NewPage) -> Counted:
    """The home page, before any press."""
    page = new_page()
    page.goto("/")
    return Counted(page)


def register(counted: Counted) -> None:
    page = counted.page
    counted.press("link", "Register as developer")
    page.get_by_label("Your name").fill("Nora Newcomer")
    page.get_by_label("E-mail").fill("nora@example.net")
    page.get_by_label("Password", exact=True).fill("sea otters hold hands")
    counted.press("button", "Register")


def create_app(counted: Counted) -> None:
    counted.press("link", "Create app")
    counted.page.get_by_label("Name", exact=True).fill("First app")
    counted.press("button", "Create app")


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.spec("Contract 7 Pages", "Sign-up to the first API call takes 5 presses and 4 pages")
def test_sign_up_to_the_first_call(counted: Counted) -> None:
    register(counted)
    create_app(counted)
    counted.press("button", "Run it here")
    result = counted.page.get_by_role("status").filter(has_text="Your first call")
    expect(result).to_contain_text("200 in")
    expect(result).to_contain_text('"name"')
    expect(result.locator(".what-was-read")).to_have_text(re.compile(r"^\d+ products, the newest is \S.*\.$"))
    expect(result.locator("svg.drawn")).to_have_count(1)
    assert counted.presses == 5
    assert len(counted.paths) == 4
    assert violations(counted.page) == []


@pytest.mark.spec("Contract 7 Pages", "The first webhook is seen after 2 more presses, without a server")
@pytest.mark.parametrize("look", ["desktop", "phone"])
def test_first_webhook_is_seen(new_page: NewPage, dispatcher: object, look: str) -> None:
    page = new_page(**(PHONE if look == "phone" else {}))
    page.goto("/accounts/register/?role=DEVELOPER")
    page.get_by_label("Your name").fill("Nora Newcomer")
    page.get_by_label("E-mail").fill("nora@example.net")
    page.get_by_label("Password", exact=True).fill("sea otters hold hands")
    page.get_by_role("button", name="Register").click()
    counted = Counted(page)
    create_app(counted)
    page.get_by_text("Each by itself").click()  # a browser asks only somebody who has touched the page
    counted.presses = 0
    counted.press("button", "I stored them. Open the test store")
    counted.press("button", "Place a test order")
    entry = page.locator(".entries > li").filter(has_text="order.created")
    expect(entry).to_contain_text("Signature verified", timeout=15_000)
    assert counted.presses == 2
    expect(page.locator(".run-report")).to_contain_text("Delivered", timeout=15_000)
    entry.locator("summary").click()
    expect(entry).to_contain_text('"event": "order.created"')
    assert violations(page) == []
    assert overflow(page) == 0


def test_what_the_inbox_answers_is_chosen_without_scripts(new_page: NewPage, dispatcher: object) -> None:
    page = new_page(java_script_enabled=False)
    page.goto("/accounts/register/?role=DEVELOPER")
    page.get_by_label("Your name").fill("Nora Newcomer")
    page.get_by_label("E-mail").fill("nora@example.net")
    page.get_by_label("Password", exact=True).fill("sea otters hold hands")
    page.get_by_role("button", name="Register").click()
    create_app(Counted(page))
    page.get_by_role("link", name="Test store", exact=True).click()
    page.get_by_label("Test store").get_by_role("link", name="Inbox", exact=True).click()
    page.get_by_label("500 Internal Server Error").check()
    page.get_by_role("button", name="Save answer").click()
    page.get_by_role("button", name="Place a test order").click()
    expect(page.locator("#effects").get_by_text("was placed.")).to_be_visible()
    wait_until(InboxEntry.objects.exists)
    page.reload()
    expect(page.locator(".entries > li")).to_contain_text("500 Internal Server Error")
