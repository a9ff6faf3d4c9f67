"""The consent page in a browser: what it says, and that its answer really leads to the app."""

from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from accounts.models import Business, User
from extensions.services.manifests import save_manifest
from marketplace.models import App
from tests import factories
from tests.extensions.manifests import admin_page, block, hook, script, widget
from tests.installations.oauth_client import address
from tests.receivers import Answer, Receiver

from .axe import violations
from .chromium import PATIENCE, overflow
from .conftest import PHONE, NewPage, SignIn

LOOKS = {"light": {"color_scheme": "light"}, "dark": {"color_scheme": "dark"}, "phone": PHONE}


@pytest.fixture
def app(dana: User) -> App:
    app = factories.app(dana, name="Loyalty Stars", slug="loyalty-stars")
    factories.approve(app)
    return app


@pytest.fixture
def elsewhere() -> Iterator[Receiver]:
    """A second site of the app's, to which its Redirect URL leads on."""
    with Receiver(host="localhost") as receiver:
        receiver.respond_with(Answer(body=b"<title>Welcome</title>", headers={"Content-Type": "text/html"}))
        yield receiver


@pytest.fixture
def callback(app: App, elsewhere: Receiver) -> Iterator[Receiver]:
    """The app's Redirect URL."""
    with Receiver() as receiver:
        receiver.respond_with(Answer(status=302, headers={"Location": elsewhere.url}))
        app.redirect_url = receiver.url
        app.save()
        app.approved_version.redirect_url = receiver.url  # type: ignore[union-attr]
        app.approved_version.save()  # type: ignore[union-attr]
        yield receiver


@pytest.fixture
def leaving(chromium: Browser, site: str) -> Iterator[Callable[[], Page]]:
    """A page that may go to other sites; at the end nothing must have been refused by a policy."""
    context = chromium.new_context(base_url=site)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    yield lambda: page
    context.close()
    assert [text for text in said if "Content Security Policy" in text] == []


def query_of(receiver: Receiver) -> dict[str, list[str]]:
    return parse_qs(urlsplit(receiver.wait_for(1)[0].target).query)


@pytest.mark.parametrize("look", LOOKS)
def test_page_is_accessible(new_page: NewPage, sign_in: SignIn, app: App, mira: User, look: str) -> None:
    factories.business(mira, name="Second shop")
    page = new_page(**LOOKS[look])
    sign_in(page.context, mira)
    page.goto(address(app))
    assert violations(page) == []
    expect(page.locator("h1")).to_have_text("Loyalty Stars wants to connect to your store")


@pytest.mark.long
def test_what_a_large_app_asks_for_fits_one_screen(
    new_page: NewPage, sign_in: SignIn, app: App, mira: User, shop: Business
) -> None:
    points = (
        "checkout.payment_methods", "checkout.create_payment", "order.validate", "checkout.shipping_rates", "order.calculate_discounts",
    )  # fmt: skip
    document = {
        "hooks": [hook(hookPoint=each) for each in points],
        "embeds": [script(), widget()],
        "blocks": [block()],
        "adminPages": [admin_page()],
    }
    save_manifest(app=app, developer=app.developer, document=document)
    factories.approve(app, scopes=["read_products", "read_orders", "write_orders", "read_business"])
    page = new_page(viewport={"width": 1440, "height": 900})
    sign_in(page.context, mira)
    page.goto(address(app))
    assert page.evaluate("document.documentElement.scrollHeight") <= 900
    sentence = page.get_by_text("from stars.example.com/count.js", exact=False)
    expect(sentence).to_be_hidden()
    page.locator("summary", has_text="Visit counter").click()
    expect(sentence).to_be_visible()


def test_page_fits_320_pixels_with_long_names(
    new_page: NewPage, sign_in: SignIn, app: App, mira: User, shop: Business
) -> None:
    long = "Wolfeschlegelsteinhausenbergerdorff" * 2
    App.objects.filter(pk=app.pk).update(name=long)
    app.approved_version.name = long  # type: ignore[union-attr]
    app.approved_version.save()  # type: ignore[union-attr]
    Business.objects.filter(pk=shop.pk).update(name=long)
    page = new_page(viewport={"width": 320, "height": 640})
    sign_in(page.context, mira)
    page.goto(address(app))
    assert overflow(page) == 0


@pytest.mark.spec(
    "Contract 7 Pages", "Install on the consent page leads to the app, wherever that sends people next"
)
def test_install_leads_to_the_app_and_on(
    leaving: Callable[[], Page],
    sign_in: SignIn,
    app: App,
    mira: User,
    callback: Receiver,
    elsewhere: Receiver,
) -> None:
    page = leaving()
    sign_in(page.context, mira)
    page.goto(address(app))
    page.get_by_role("button", name="Install").click()
    page.wait_for_url(elsewhere.url)
    assert set(query_of(callback)) == {"code", "state", "iss"}


def test_cancel_leads_to_the_app_with_the_error(
    leaving: Callable[[], Page],
    sign_in: SignIn,
    app: App,
    mira: User,
    callback: Receiver,
    elsewhere: Receiver,
) -> None:
    page = leaving()
    sign_in(page.context, mira)
    page.goto(address(app))
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_url(elsewhere.url)
    assert query_of(callback)["error"] == ["access_denied"]


def test_signing_in_leads_back_to_the_page(page: Page, app: App, mira: User) -> None:
    page.goto(address(app))
    page.get_by_label("E-mail").fill(mira.email)
    page.get_by_label("Password").fill(factories.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Install")).to_be_visible()
    expect(page.get_by_text("mira@example.com")).to_be_visible()
    page.get_by_role("button", name="Use another account").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert "oauth%2Fauthorize" in page.url or "/oauth/authorize" in page.url


def test_wrong_request_leads_to_the_app_after_the_sign_in(
    leaving: Callable[[], Page], app: App, mira: User, callback: Receiver, elsewhere: Receiver
) -> None:
    page = leaving()
    page.goto(address(app, scope="read_everything"))
    page.get_by_label("E-mail").fill(mira.email)
    page.get_by_label("Password").fill(factories.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(elsewhere.url)
    assert query_of(callback)["error"] == ["invalid_scope"]


@pytest.mark.parametrize("scripted", [True, False])
def test_reconsent_shows_what_is_new_first_with_the_reason(
    new_page: NewPage, sign_in: SignIn, app: App, mira: User, shop: Business, scripted: bool
) -> None:
    factories.installation(app, shop, granted_scopes=["read_products"])
    factories.approve(app, scopes=["read_products", "read_orders"], scope_reason="To count the stars.")
    page = new_page(java_script_enabled=scripted)
    sign_in(page.context, mira)
    page.goto(address(app))
    expect(page.locator("h1")).to_have_text("Loyalty Stars asks for more permissions on Mira's shop")
    expect(page.get_by_text("To count the stars.")).to_be_visible()
    new = page.locator(".permissions").first.get_by_role("listitem")
    expect(new).to_have_count(1)
    expect(new).to_contain_text("Your orders and customers")
    expect(new).to_contain_text("New")
    expect(page.get_by_text("Your products", exact=True)).to_be_hidden()
    page.get_by_text("Permissions it already has", exact=True).click()
    expect(page.get_by_text("Your products", exact=True)).to_be_visible()
    if scripted:
        assert violations(page) == []


def test_buttons_have_equal_size(new_page: NewPage, sign_in: SignIn, app: App, mira: User) -> None:
    page = new_page(**PHONE)
    sign_in(page.context, mira)
    page.goto(address(app))
    boxes = [page.get_by_role("button", name=name).bounding_box() for name in ("Install", "Cancel")]
    sizes = [(box["width"], box["height"]) for box in boxes if box]
    assert len(sizes) == 2
    assert sizes[0] == sizes[1]
    assert sizes[0][1] >= 44


def test_sandbox_is_marked(page: Page, sign_in: SignIn, app: App, dana: User) -> None:
    sign_in(page.context, dana)
    page.goto(address(app))
    expect(page.get_by_text("Sandbox: test install")).to_be_visible()
    assert violations(page) == []
