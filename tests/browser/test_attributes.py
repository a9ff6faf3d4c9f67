"""What an app's block and widget put into the cart, in our stores: the messages, their rate, and an order that waits for them."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Frame, Page, expect

from accounts.models import Business, User
from extensions.enums import ExtensionType
from extensions.models import Definition
from extensions.services.extension_states import add_block
from installations.models import Installation
from stores.models import Cart, Order, SitePage
from stores.services.pages import create_page
from tests import factories
from tests.extensions.cast import define
from tests.merchants.pages import installed, listed_app
from tests.waiting import wait_until

from .app_site import AppSite
from .conftest import SignIn

SPEC = "Contract 23 What an order tells"
SCHEMA = {"type": "object", "properties": {"title": {"type": "string", "default": "Stars"}}}


@pytest.fixture
def app_site(site: str, stores: str) -> Iterator[AppSite]:
    with AppSite(site, stores) as app_site:
        yield app_site


@pytest.fixture
def other_hosts(app_site: AppSite, site: str, shop: Business) -> list[str]:
    return [app_site.url, f"http://{shop.slug}.stores.localhost:{urlsplit(site).port}"]


@pytest.fixture
def installation(dana: User, shop: Business, app_site: AppSite) -> Installation:
    app = listed_app(dana, ["read_orders"], name="Slots", slug="slots")
    define(app, ExtensionType.BLOCK, "slots", renderUrl=f"{app_site.url}/block", settingsSchema=SCHEMA)
    define(app, ExtensionType.EMBED, "chat", renderUrl=f"{app_site.url}/widget", settingsSchema=SCHEMA)
    return installed(app, shop)


@pytest.fixture
def about(shop: Business, installation: Installation) -> SitePage:
    page = create_page(business=shop, title="About us", slug="about", content="<p>We bake.</p>")
    block = Definition.objects.get(type=ExtensionType.BLOCK)
    add_block(page=page, installation=installation, definition=block, settings={"title": "Slots"})
    return page


def frame_of(page: Page, path: str) -> Frame:
    expect(page.locator(f"iframe[src*='{path}']")).to_have_count(1)
    wait_until(lambda: any(path in frame.url for frame in page.frames))
    [found] = [frame for frame in page.frames if path in frame.url]
    found.wait_for_function("window.heard?.length")
    return found


@pytest.mark.spec(
    SPEC, "The host answers SERVICE_CART_ATTRIBUTES_SAVED; at most two a second count, the last wins"
)
def test_block_puts_texts_into_the_cart(page: Page, shop: Business, about: SitePage) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "attributes" in request.url else None)
    page.goto(f"/store/{shop.slug}/pages/about/")
    block = frame_of(page, "/block")
    block.evaluate("window.block.setAttributes({slot: 'Friday', Bad: 'x'})")
    block.wait_for_function("window.kept.length === 1")
    assert block.evaluate("window.kept") == [{"slot": "Friday"}]
    block.evaluate(
        "for (let number = 0; number < 50; number++) window.block.setAttributes({slot: `Slot ${number}`})"
    )
    block.wait_for_function("window.kept.at(-1).slot === 'Slot 49'")
    assert len(asked) <= 3
    for nonsense in ("null", "'x'", "[]", "7", "undefined"):
        block.evaluate(f"window.block.setAttributes({nonsense})")
    widget = frame_of(page, "/widget")
    widget.evaluate("window.block.setAttributes({slot: null, gate: '2'})")
    widget.wait_for_function("window.kept.length === 1")
    assert widget.evaluate("window.kept") == [{"gate": "2"}]
    [own] = Cart.objects.get().attributes.values()
    assert own == {"gate": "2"}


@pytest.mark.spec(SPEC, "The editor's preview doesn't answer")
def test_preview_of_the_editor_does_not_answer(
    page: Page, sign_in: SignIn, mira: User, about: SitePage
) -> None:
    sign_in(page.context, mira)
    page.goto(f"/merchant/pages/{about.pk}/edit/")
    block = frame_of(page, "/block")
    block.evaluate("window.block.setAttributes({slot: 'Friday'})")
    page.wait_for_timeout(1000)
    assert block.evaluate("window.kept") == []
    assert not Cart.objects.exists()


@pytest.mark.parametrize(("delay", "kept"), [(400, {"slot": "Friday"}), (4000, None)])
@pytest.mark.spec(SPEC, "Place order waits for one under way, at most a second")
def test_place_order_waits_for_attributes_but_not_for_long(
    page: Page, shop: Business, installation: Installation, delay: int, kept: dict[str, str] | None
) -> None:
    bread = factories.product(shop, name="Bread")

    page.goto(f"/store/{shop.slug}/products/{bread.slug}/")
    page.get_by_role("button", name="Buy now").click()
    page.get_by_label("Name").fill("Kim")
    page.get_by_label("E-mail").fill("kim@example.com")
    page.get_by_label("Pickup").check()
    page.get_by_label("Cash").check()
    expect(page.locator("form.checkout[data-sums='known']")).to_be_visible()
    widget = frame_of(page, "/widget")
    page.evaluate(
        """delay => {
          const real = window.fetch;
          window.fetch = async (...given) => {
            if (String(given[0]).includes('attributes')) await new Promise((done) => setTimeout(done, delay));
            return real(...given);
          };
        }""",
        delay,
    )
    widget.evaluate("window.block.setAttributes({slot: 'Friday'})")
    page.get_by_role("button", name="Place order").click()
    page.wait_for_url("**/orders/*/")
    assert Order.objects.get().attributes == (kept and {str(installation.app_id): kept})
