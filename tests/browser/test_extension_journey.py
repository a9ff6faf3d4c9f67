"""From the marketplace to a block on a page, and out of the store again: with an app on another origin."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from extensions.enums import ExtensionType
from extensions.models import ExtensionState, Manifest, Placement
from installations.models import Installation
from marketplace.models import App
from marketplace.services.apps import rotate_client_secret
from stores.models import SitePage
from tests import factories
from tests.extensions.cast import define
from tests.merchants.pages import listed_app
from tests.receivers import Answer, Receiver

from .app_site import AppSite
from .conftest import NewPage, SignIn

SETTINGS = {
    "type": "object",
    "properties": {"greeting": {"type": "string", "title": "Greeting", "default": "Hello"}},
}
BLOCK = {"type": "object", "properties": {"title": {"type": "string", "title": "Title", "default": "Stars"}}}


@pytest.fixture
def app_site(site: str, stores: str) -> Iterator[AppSite]:
    with AppSite(site, stores) as app_site:
        app_site.pages["/callback"] = (
            "text/html",
            b"<!doctype html><title>Connected</title><h1>Connected</h1>",
        )
        yield app_site


@pytest.fixture
def other_hosts(app_site: AppSite) -> list[str]:
    return [app_site.url]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        receiver.respond_with(Answer(200, b'{"discount": 100, "reason": "A star for you"}'))
        yield receiver


@pytest.fixture
def app(dana: User, app_site: AppSite, receiver: Receiver) -> App:
    app = listed_app(
        dana, ["read_orders"], name="Loyalty Stars", slug="stars",
        redirect_url=f"{app_site.url}/callback", webhook_url=receiver.url,
    )  # fmt: skip
    Manifest.objects.create(app=app, document={"settingsSchema": SETTINGS})
    define(
        app,
        ExtensionType.BLOCK,
        "wall",
        name="Star wall",
        renderUrl=f"{app_site.url}/block",
        settingsSchema=BLOCK,
    )
    define(app, ExtensionType.EMBED, "chat", name="Chat", renderUrl=f"{app_site.url}/widget")
    define(app, ExtensionType.HOOK, "order.calculate_discounts", url="discounts")
    return app


def exchange(site: str, app: App, page: Page) -> Installation:
    """What the app's server does with the code that the browser brought."""
    code = parse_qs(urlsplit(page.url).query)["code"][0]
    answer = requests.post(
        f"{site}/oauth/token",
        data={"grant_type": "authorization_code", "code": code, "redirect_uri": app.redirect_url},
        auth=(app.client_id, rotate_client_secret(app=app, by=app.developer)),
        timeout=10,
    )
    assert answer.status_code == 200, answer.text
    return Installation.objects.get(pk=answer.json()["installationId"])


def order(page: Page, shop: Business, path: str) -> str:
    """The text of the confirmation of an order placed as a shopper."""
    page.goto(f"/store/{shop.slug}/products/{path}/")
    page.get_by_role("button", name="Add to cart").click()
    page.goto(f"/store/{shop.slug}/checkout/")
    page.get_by_role("textbox", name="Name").fill("Kim")
    page.get_by_role("textbox", name="E-mail").fill("kim@example.com")
    page.get_by_role("button", name="Place order").click()
    expect(page.locator("h1")).not_to_have_text("Checkout")
    return page.locator("main").inner_text()


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.spec(
    "Contract 7 Pages", "Install, settings, a block that shoppers of a new store see: six presses"
)
@pytest.mark.spec("Installation", "uninstalled: blocks, embeds and hooks are out of the store")
def test_install_set_up_place_a_block_and_uninstall(
    new_page: NewPage, sign_in: SignIn, site: str, mira: User, shop: Business, app: App, receiver: Receiver
) -> None:
    product = factories.product(shop, price=1000)
    page, shopper = new_page(), new_page()
    sign_in(page.context, mira)

    page.goto("/marketplace/stars/")
    page.get_by_role("link", name="Install", exact=True).or_(
        page.get_by_role("button", name="Install", exact=True)
    ).first.click()  # 1
    expect(page.get_by_text("Star wall").first).to_be_visible()  # the consent says what it will add
    page.get_by_role("button", name="Install", exact=True).click()  # 2
    page.wait_for_url("**/callback**")
    installation = exchange(site, app, page)
    page.goto(f"/merchant/apps/{installation.pk}/settings/")  # 3: the app's own link
    expect(page.get_by_role("textbox", name="Greeting")).to_have_value("Hello")
    page.get_by_role("button", name="Save").last.click()  # 4
    page.get_by_role("button", name="Add to a page").click()  # 5: a new page, since the store has none
    canvas = page.frame_locator("iframe[data-draft]")
    expect(canvas.frame_locator("iframe.block").locator("#title")).to_have_text("Stars")
    page.get_by_role("button", name="Publish", exact=True).click()  # 6
    expect(page.get_by_text("Saved and published.")).to_be_visible()

    wall = f"/store/{shop.slug}/pages/{SitePage.objects.get().slug}/"
    shopper.goto(wall)
    expect(shopper.locator("iframe.block")).to_have_count(1)
    expect(shopper.locator("iframe.widget")).to_have_count(1)
    assert "A star for you" in order(shopper, shop, product.slug)
    asked = len(receiver.requests)

    page.goto(f"/merchant/apps/{installation.pk}/")
    page.get_by_role("link", name="Uninstall").click()
    page.get_by_role("button", name="Uninstall").click()
    page.wait_for_url("**/receipt/")
    shopper.goto(wall)
    expect(shopper.locator("iframe")).to_have_count(0)
    assert "A star for you" not in order(shopper, shop, product.slug)
    hooks = [request for request in receiver.requests[asked:] if b"hookPoint" in request.body]
    assert hooks == []
    assert not Placement.objects.exists()
    assert not ExtensionState.objects.exists()
