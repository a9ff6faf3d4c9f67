"""Windows that apps open from their frames, which inherit the frame's sandbox."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from extensions.enums import ExtensionType
from installations.models import Grant, Installation
from tests import factories
from tests.extensions.cast import define
from tests.installations.oauth_client import address
from tests.merchants.pages import ask_for_more, installed, listed_app

from .app_site import AppSite
from .conftest import NewPage, SignIn

SPEC = pytest.mark.spec(
    "Contract 15 Doors", "A window opened from an app's frame shows sign-in, registration, consent and stores"
)


@pytest.fixture
def app_site(site: str, stores: str) -> Iterator[AppSite]:
    with AppSite(site, stores) as app_site:
        app_site.pages["/callback"] = ("text/html", b"<!doctype html><title>Callback</title>")
        yield app_site


@pytest.fixture
def other_hosts(app_site: AppSite, site: str, shop: Business) -> list[str]:
    return [app_site.url, f"http://{shop.slug}.stores.localhost:{urlsplit(site).port}"]


@pytest.fixture
def installation(dana: User, shop: Business, app_site: AppSite) -> Installation:
    app = listed_app(dana, ["read_orders"], name="Order Bell", redirect_url=f"{app_site.url}/callback")
    define(app, ExtensionType.ADMIN_PAGE, "summary", title="Summary", renderUrl=f"{app_site.url}/admin")
    define(app, ExtensionType.EMBED, "chat", position="bottom_right", renderUrl=f"{app_site.url}/widget")
    return installed(app, shop)


@pytest.fixture
def merchant(new_page: NewPage, sign_in: SignIn, mira: User) -> Page:
    page = new_page()
    sign_in(page.context, mira)
    return page


def opened(page: Page, path: str, url: str) -> Page:
    """The window that a frame of the page, at this path of the app, opens by itself."""
    page.locator("iframe").first.wait_for()
    [frame] = [frame for frame in page.frames if urlsplit(frame.url).path == path]
    with page.expect_popup() as popup:
        frame.evaluate("url => { window.opened = window.open(url); }", url)
    return popup.value


@pytest.mark.long
@SPEC
@pytest.mark.journey
@pytest.mark.spec("Contract 3 OAuth", "Sending the merchant through /oauth/authorize again adds permissions")
def test_admin_page_sends_its_merchant_through_consent_again(
    merchant: Page, site: str, installation: Installation
) -> None:
    ask_for_more(installation, ["read_orders", "read_products"])
    merchant.goto(f"/merchant/apps/{installation.pk}/pages/summary/")
    window = opened(merchant, "/admin", site + address(installation.app))
    expect(window.locator("h1")).to_contain_text("Order Bell")
    window.get_by_role("button", name="Install", exact=True).click()
    window.wait_for_url("**/callback?**")
    came = parse_qs(urlsplit(window.url).query)
    assert came["state"] == ["xyz"]
    assert set(Grant.objects.get().scope.split()) == {"read_orders", "read_products"}
    [frame] = [frame for frame in merchant.frames if "/admin" in frame.url]
    assert frame.evaluate("opened") is None  # the page around the frame keeps `same-origin`


@SPEC
def test_window_leads_through_signing_in(merchant: Page, site: str, installation: Installation) -> None:
    merchant.goto(f"/merchant/apps/{installation.pk}/pages/summary/")
    merchant.locator("iframe").first.wait_for()
    merchant.context.clear_cookies()
    window = opened(merchant, "/admin", site + address(installation.app))
    window.get_by_role("link", name="Register").first.click()
    expect(window.locator("h1")).to_be_visible()
    window.go_back()
    window.get_by_label("E-mail").fill("mira@example.com")
    window.get_by_label("Password").fill(factories.PASSWORD)
    window.get_by_role("button", name="Sign in").click()
    expect(window.locator("h1")).to_contain_text("Order Bell")


@SPEC
@pytest.mark.parametrize("through_the_platform", [False, True])
def test_link_of_a_widget_opens_a_product_of_its_store(
    page: Page, site: str, stores: str, shop: Business, installation: Installation, through_the_platform: bool
) -> None:
    factories.product(shop, name="Rye bread", slug="rye")
    page.goto(f"/store/{shop.slug}/")
    origin = site if through_the_platform else stores
    window = opened(page, "/widget", f"{origin}/store/{shop.slug}/products/rye/")
    expect(window.locator("h1")).to_have_text("Rye bread")


def test_window_shows_no_other_page_of_the_platform(
    merchant: Page, site: str, installation: Installation
) -> None:
    """All others keep a window of their own, which no app holds."""
    merchant.goto(f"/merchant/apps/{installation.pk}/pages/summary/")
    window = opened(merchant, "/admin", f"{site}/merchant/")
    window.wait_for_url("chrome-error://**")
