"""People of a connected store in a browser: from their shop's page to an installed app, without a password."""

from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from accounts.models import ConnectedStore, User
from accounts.services import shops
from marketplace.models import App
from stores.connected.stores import open_store
from tests import factories
from tests.installations.oauth_client import address
from tests.receivers import Answer, Receiver
from tests.storeapi.people import ticket

from .axe import violations
from .chromium import PATIENCE, overflow
from .conftest import PHONE, NewPage, SignIn

LOOKS = {"light": {"color_scheme": "light"}, "dark": {"color_scheme": "dark"}, "phone": PHONE}
HTML = {"Content-Type": "text/html; charset=utf-8"}


@pytest.fixture
def connected() -> shops.Connected:
    return shops.connect(name="Northwind", sign_in_url="https://northwind.example/platform")


@pytest.fixture
def shop(connected: shops.Connected, site: str) -> Client:
    return Client(headers={"authorization": f"Bearer {connected.key}", "host": urlsplit(site).netloc})


@pytest.fixture
def store(connected: shops.Connected) -> ConnectedStore:
    values = {"name": "Northwind Main", "currency": "USD"}
    return open_store(system=connected.system, external_id="main", values=values)


@pytest.fixture
def callback() -> Iterator[Receiver]:
    """The app's Redirect URL."""
    with Receiver() as receiver:
        receiver.respond_with(Answer(body=b"<title>Welcome</title>", headers=HTML))
        yield receiver


@pytest.fixture
def bell(dana: User, callback: Receiver) -> App:
    app = factories.app(dana, name="Bell", redirect_url=callback.url)
    factories.approve(app)
    return app


@pytest.fixture
def admin() -> Iterator[Callable[[str], str]]:
    """The shop's own admin, on another site: a page with a link, which its server answers with a ticket. Its address, for a ticket's."""
    with Receiver(host="localhost") as server, Receiver(host="localhost") as page:

        def with_link_to(url: str) -> str:
            server.respond_with(Answer(status=302, headers={"Location": url}))
            page.respond_with(Answer(body=f'<a href="{server.url}">Get Bell</a>'.encode(), headers=HTML))
            return page.url

        yield with_link_to


@pytest.fixture
def leaving(chromium: Browser, site: str) -> Iterator[Page]:
    """A page that may go to other sites; at the end nothing must have been refused by a policy."""
    context = chromium.new_context(base_url=site)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    yield page
    context.close()
    assert [text for text in said if "Content Security Policy" in text] == []


def test_two_presses_lead_from_the_shops_admin_to_an_installed_app(
    leaving: Page,
    admin: Callable[[str], str],
    shop: Client,
    store: ConnectedStore,
    bell: App,
    callback: Receiver,
) -> None:
    made = ticket(shop, next=address(bell, business_id=str(store.pk)))
    leaving.goto(admin(made["url"]))
    leaving.get_by_role("link", name="Get Bell").click()
    expect(leaving.get_by_role("heading", level=1)).to_contain_text("wants to connect to Northwind Main")
    leaving.get_by_role("button", name="Install", exact=True).click()
    expect(leaving).to_have_title("Welcome")
    query = parse_qs(urlsplit(callback.wait_for(1)[0].target).query)
    assert query["state"] == ["xyz"]
    assert "code" in query


@pytest.mark.parametrize("look", LOOKS)
def test_continue_works_from_its_page(
    new_page: NewPage, sign_in: SignIn, shop: Client, store: ConnectedStore, mira: User, look: str
) -> None:
    page = new_page(**LOOKS[look])
    factories.business(mira)
    sign_in(page.context, mira)
    url = ticket(shop)["url"]
    page.goto(url)
    assert violations(page) == []
    assert overflow(page) == 0
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Apps")
    expect(page.get_by_role("link", name="Northwind Main")).to_be_visible()
    page.get_by_role("button", name="Account of Kim Lee").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(page.get_by_role("link", name="Account")).to_have_count(0)


@pytest.mark.parametrize("look", LOOKS)
def test_sign_in_page_offers_the_shop(new_page: NewPage, store: ConnectedStore, bell: App, look: str) -> None:
    page = new_page(**LOOKS[look])
    page.goto(address(bell, business_id=str(store.pk)))
    button = page.get_by_role("link", name="Sign in with Northwind")
    expect(button).to_be_visible()
    assert (button.get_attribute("href") or "").startswith("https://northwind.example/platform?next=%2Foauth")
    assert violations(page) == []
    assert overflow(page) == 0
