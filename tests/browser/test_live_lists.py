"""Lists that show by themselves what arrives, while they are visible: requests and the inbox. Deliveries are tested in
test_portal_deliveries."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from activity import log
from installations.models import Installation
from marketplace.models import App
from tests import factories
from webhooks.models import Inbox, InboxEntry
from webhooks.services.inboxes import open_inbox

from .conftest import NewPage, SignIn

SECONDS = 1_000  # ms


@pytest.fixture
def stars(dana: User) -> App:
    return factories.app(dana, name="Loyalty Stars", slug="stars")


@pytest.fixture
def installed(stars: App, sandbox: Business) -> Installation:
    return factories.installation(stars, sandbox)


@pytest.fixture
def call(installed: Installation) -> Callable[[], None]:
    """Makes the app list products. The log is written at once."""

    def made() -> None:
        token: str = installed.raw_token  # type: ignore[attr-defined]
        headers = {"host": "127.0.0.1", "authorization": f"Bearer {token}"}
        assert Client(headers=headers).get("/app-api/products").status_code == 200
        log.flush()

    return made


@pytest.fixture
def receive(installed: Installation, site: str, settings: Any) -> Callable[[], None]:
    """Has a webhook arrive in the inbox."""
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    inbox: Inbox = open_inbox(installation=installed)

    def made() -> None:
        InboxEntry.objects.create(
            inbox=inbox,
            delivery_id=inbox.pk,
            event_type="order.created",
            headers={},
            body="{}",
            answer=inbox.answer,
        )

    return made


@pytest.mark.parametrize("path", ["/merchant/", "/merchant/orders/"])
def test_merchant_sees_in_list_and_title_that_orders_came(
    new_page: NewPage, sign_in: SignIn, mira: User, shop: Business, path: str
) -> None:
    factories.order(shop)
    page = new_page()
    sign_in(page.context, mira)
    page.goto(path)
    title = page.title()
    for _ in range(2):
        factories.order(shop)
    expect(page.get_by_role("link", name="2 new")).to_be_visible(timeout=15 * SECONDS)
    assert page.title() == f"(2) {title}"
    page.get_by_role("link", name="2 new").click()
    expect(page).to_have_title(title)


def show(page: Page, *, hidden: bool) -> None:
    page.evaluate(
        "hidden => { Object.defineProperty(document, 'hidden', {get: () => hidden, configurable: true});"
        " document.dispatchEvent(new Event('visibilitychange')); }",
        hidden,
    )


@pytest.fixture
def portal(new_page: NewPage, sign_in: SignIn, dana: User) -> Callable[[str], tuple[Page, list[str]]]:
    """Opens a page as Dana; also the URLs that it asks for afterwards, reloads among them."""

    def opened(path: str) -> tuple[Page, list[str]]:
        page = new_page()
        sign_in(page.context, dana)
        page.goto(path)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        return page, asked

    return opened


def rests(page: Page, asked: list[str]) -> None:
    """A hidden page asks for nothing, for longer than it waits while it is visible."""
    show(page, hidden=True)
    page.wait_for_timeout(300)  # what was on its way
    asked.clear()
    page.wait_for_timeout(3 * SECONDS)
    assert asked == []


def test_request_is_offered_as_it_arrives(portal: Any, call: Callable[[], None]) -> None:
    call()
    page, asked = portal("/portal/apps/stars/logs/")
    call()
    link = page.get_by_role("link", name="1 new")
    expect(link).to_be_visible(timeout=9 * SECONDS)
    assert not [url for url in asked if "/logs/new/" not in url and "/static/" not in url]
    rests(page, asked)
    call()
    show(page, hidden=False)
    expect(page.get_by_role("link", name="2 new")).to_be_visible(timeout=9 * SECONDS)
    page.get_by_role("link", name="2 new").click()
    expect(page.locator("tbody tr")).to_have_count(3)


def test_webhook_is_in_the_inbox_as_it_arrives(portal: Any, receive: Callable[[], None]) -> None:
    page, asked = portal("/portal/apps/stars/inbox/")
    entries = page.locator("[data-arrival]")
    expect(entries).to_have_count(0)
    receive()
    expect(entries).to_have_count(1, timeout=9 * SECONDS)
    entries.locator("summary").click()
    receive()
    expect(entries).to_have_count(2, timeout=9 * SECONDS)
    expect(page.locator("details[data-arrival][open], [data-arrival] details[open]")).to_have_count(1)
    assert not [url for url in asked if "/inbox/entries/" not in url and "/static/" not in url]
    rests(page, asked)
    receive()
    show(page, hidden=False)
    expect(entries).to_have_count(3, timeout=9 * SECONDS)
