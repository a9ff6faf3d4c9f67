"""Admin pages of apps in the merchant's area, with an app on another origin."""

from collections.abc import Iterator

import jwt
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from extensions.enums import ExtensionType
from installations.models import Installation
from installations.services import uninstall
from tests.extensions.cast import define
from tests.merchants.pages import installed, listed_app

from .app_site import AppSite
from .axe import violations
from .conftest import NewPage, SignIn


@pytest.fixture
def app_site(site: str, stores: str) -> Iterator[AppSite]:
    with AppSite(site, stores) as app_site:
        yield app_site


@pytest.fixture
def other_hosts(app_site: AppSite) -> list[str]:
    return [app_site.url]


@pytest.fixture
def installation(dana: User, shop: Business, app_site: AppSite) -> Installation:
    app = listed_app(dana, ["read_orders"], name="Order Bell", slug="bell")
    define(
        app, ExtensionType.ADMIN_PAGE, "summary", title="Bell summary", renderUrl=f"{app_site.url}/admin?v=2"
    )
    return installed(app, shop)


@pytest.fixture
def merchant(new_page: NewPage, sign_in: SignIn, mira: User) -> Page:
    page = new_page()
    sign_in(page.context, mira)
    return page


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.spec("Admin page iframe contract", "src carries businessId and locale; four sandbox attributes")
@pytest.mark.spec("Admin page iframe contract", "service:init with businessId, businessName, role, locale")
@pytest.mark.spec(
    "Contract 6 Extensions", "service:init carries a sessionToken that the app's server can trust"
)
def test_page_is_framed_and_told_who_is_looking(
    merchant: Page, shop: Business, mira: User, installation: Installation, app_site: AppSite
) -> None:
    merchant.goto("/merchant/")
    merchant.get_by_role("link", name="Bell summary").click()
    frame = merchant.locator("iframe")
    assert frame.get_attribute("src") == f"{app_site.url}/admin?v=2&businessId={shop.pk}&locale={shop.locale}"
    assert set((frame.get_attribute("sandbox") or "").split()) == {
        "allow-scripts", "allow-same-origin", "allow-forms", "allow-popups",
    }  # fmt: skip
    expect(merchant.frame_locator("iframe").locator("#name")).to_have_text(shop.name)
    [heard] = merchant.frames[1].evaluate("window.heard")
    token = heard.pop("sessionToken")
    assert heard.pop("theme")["accent"] == "#3b4cca"
    assert heard == {
        "businessId": str(shop.pk),
        "businessName": shop.name,
        "role": "MERCHANT",
        "locale": "en",
    }
    claims = jwt.decode(
        token, installation.webhook_secret, algorithms=["HS256"], audience=installation.app.client_id
    )
    assert (claims["sub"], claims["businessId"]) == (str(mira.pk), str(shop.pk))
    assert claims["installationId"] == str(installation.pk)
    assert violations(merchant) == []


def test_page_that_loads_again_gets_a_new_token(merchant: Page, installation: Installation) -> None:
    merchant.goto(f"/merchant/apps/{installation.pk}/pages/summary/")
    name = merchant.frame_locator("iframe").locator("#name")
    expect(name).to_have_text("Mira's shop")
    first = merchant.frames[1].evaluate("window.heard[0].sessionToken")
    merchant.wait_for_timeout(1100)  # tokens of one second are alike
    merchant.frames[1].evaluate("location.reload()")
    merchant.frames[1].wait_for_function("window.heard?.length === 1")
    second = merchant.frames[1].evaluate("window.heard[0].sessionToken")
    assert second != first
    assert jwt.decode(second, options={"verify_signature": False})["sub"]


def test_frame_of_another_origin_is_told_nothing(merchant: Page, installation: Installation) -> None:
    """Messages go to the app's origin alone: a page that came into the frame from elsewhere hears nothing."""
    merchant.goto(f"/merchant/apps/{installation.pk}/pages/summary/")
    merchant.frames[1].wait_for_function("window.heard?.length === 1")
    merchant.locator("iframe").evaluate("frame => { frame.dataset.origin = 'https://app.example.com'; }")
    with merchant.expect_response("**/session-token/"):
        merchant.frames[1].evaluate("location.reload()")
    merchant.wait_for_timeout(300)
    assert merchant.frames[1].evaluate("window.heard") == []


@pytest.mark.spec("Installation", "uninstalled: admin pages are gone")
def test_page_of_an_uninstalled_app_is_gone(merchant: Page, installation: Installation) -> None:
    merchant.goto("/merchant/")
    expect(merchant.get_by_role("link", name="Bell summary")).to_be_visible()
    uninstall(installation=installation)
    merchant.goto("/merchant/")
    expect(merchant.get_by_role("link", name="Bell summary")).to_have_count(0)
    merchant.goto(f"/merchant/apps/{installation.pk}/pages/summary/")
    assert "receipt" in merchant.url
