"""What apps put into a storefront, with an app on another origin: blocks, widgets and scripts."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import jwt
import pytest
from playwright.sync_api import Frame, Page, expect

from accounts.models import Business, User
from extensions.enums import ExtensionType
from extensions.models import Definition, Placement, StorefrontCost
from extensions.services.extension_states import add_block, change_controls, save_embed_settings
from installations.models import Installation
from installations.services import uninstall
from marketplace.models import App
from stores.addresses import store_url
from stores.models import Order, SitePage
from stores.services.pages import create_page
from stores.services.settings import change_look
from tests import factories
from tests.extensions.cast import define
from tests.merchants.pages import installed, listed_app

from .app_site import AppSite
from .axe import violations
from .conftest import NewPage

SCHEMA = {"type": "object", "properties": {"title": {"type": "string", "default": "Stars"}}}


@pytest.fixture
def app_site(site: str, stores: str) -> Iterator[AppSite]:
    with AppSite(site, stores) as app_site:
        yield app_site


@pytest.fixture
def other_hosts(app_site: AppSite, site: str, shop: Business) -> list[str]:
    return [app_site.url, f"http://{shop.slug}.stores.localhost:{urlsplit(site).port}"]


@pytest.fixture
def app(dana: User, app_site: AppSite) -> App:
    app = listed_app(dana, ["read_orders"], name="Loyalty Stars", slug="stars")
    define(app, ExtensionType.BLOCK, "stars", renderUrl=f"{app_site.url}/block", settingsSchema=SCHEMA)
    return app


@pytest.fixture
def installation(app: App, shop: Business) -> Installation:
    return installed(app, shop)


@pytest.fixture
def about(shop: Business) -> SitePage:
    return create_page(business=shop, title="About us", slug="about", content="<p>We bake.</p>")


@pytest.fixture
def placement(about: SitePage, installation: Installation) -> Placement:
    block = Definition.objects.get(type=ExtensionType.BLOCK)
    return add_block(
        page=about, installation=installation, definition=block, settings={"title": "Five stars"}
    )


def frame_of(page: Page, path: str) -> Frame:
    [found] = [frame for frame in page.frames if path in frame.url]
    return found


@pytest.mark.spec("Block iframe message protocol", "READY is answered by INIT with settings and blockId")
@pytest.mark.spec("Block iframe message protocol", "RESIZE sets the height, at most 400 px")
def test_block_is_told_its_settings_and_gets_its_height(
    page: Page, shop: Business, placement: Placement, app_site: AppSite
) -> None:
    page.goto(f"/store/{shop.slug}/pages/about/")
    frame = page.locator("iframe.block")
    expect(page.frame_locator("iframe.block").locator("#title")).to_have_text("Five stars")
    heard = frame_of(page, "/block").evaluate("window.heard")
    assert heard == [{"settings": {"title": "Five stars"}, "blockId": str(placement.pk)}]
    assert set((frame.get_attribute("sandbox") or "").split()) == {
        "allow-scripts", "allow-same-origin", "allow-forms", "allow-popups",
    }  # fmt: skip
    assert frame.get_attribute("src") == f"{app_site.url}/block?businessId={shop.pk}&locale=en"
    for asked, given in ((300, "300"), (900, "400"), (-5, "0"), (120.4, "120")):
        frame_of(page, "/block").evaluate(f"window.block.resize({asked})")
        expect(frame).to_have_attribute("height", given)
    for nonsense in ("'300'", "NaN", "Infinity", "null", "{}"):
        frame_of(page, "/block").evaluate(
            f"parent.postMessage({{type: 'SERVICE_BLOCK_RESIZE', height: {nonsense}}}, '*')"
        )
    page.wait_for_timeout(200)
    expect(frame).to_have_attribute("height", "120")
    assert violations(page) == []


def test_block_looks_as_its_store_does_and_follows_from_light_to_dark(
    page: Page, shop: Business, placement: Placement
) -> None:
    change_look(business=shop, accent="teal")
    page.goto(f"/store/{shop.slug}/pages/about/")
    expect(page.frame_locator("iframe.block").locator("#title")).to_have_text("Five stars")
    block = frame_of(page, "/block")
    light = block.evaluate("window.theme")
    assert "Inter" in light.pop("font")
    assert light == {
        "mode": "light", "accent": "#067272", "text": "#14181f", "background": "#ffffff", "radius": "8px",
    }  # fmt: skip
    assert (
        block.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    )
    page.emulate_media(color_scheme="dark")
    block.wait_for_function("window.theme.mode === 'dark'")
    assert block.evaluate("window.theme.background") == "#161a21"
    assert block.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(22, 26, 33)"
    assert page.locator("body span:empty").count() == 0


OF_BLOCKS = "Contract 20 One key for who is looking"


def claims_of(token: str, installation: Installation, site: str) -> dict[str, Any]:
    """As the app's server reads it, by PyJWT."""
    app, audience = App.objects.get(pk=installation.app_id), f"{installation.app.client_id}/storefront"
    key: Any = installation.webhook_secret
    if app.session_token_alg == "EdDSA":
        keys = jwt.PyJWKClient(f"{site}/.well-known/jwks.json")
        key = keys.get_signing_key_from_jwt(token)
    found: dict[str, Any] = jwt.decode(token, key, algorithms=[app.session_token_alg], audience=audience)
    return found


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.spec(OF_BLOCKS, "SERVICE_BLOCK_INIT of blocks and widgets carries a sessionToken, UPDATE none")
@pytest.mark.spec(OF_BLOCKS, "A page asks once for all its blocks")
@pytest.mark.parametrize("algorithm", ["HS256", "EdDSA"])
def test_frames_of_a_page_get_tokens_by_one_request(
    page: Page,
    shop: Business,
    dana: User,
    app: App,
    placement: Placement,
    about: SitePage,
    app_site: AppSite,
    site: str,
    algorithm: str,
) -> None:
    App.objects.filter(pk=app.pk).update(session_token_alg=algorithm)
    block = Definition.objects.get(type=ExtensionType.BLOCK)
    add_block(page=about, installation=placement.installation, definition=block)
    other = listed_app(dana, ["read_orders"], name="Chat", slug="chat")
    define(other, ExtensionType.EMBED, "chat", renderUrl=f"{app_site.url}/widget")
    chat = installed(other, shop)
    requests: list[str] = []
    page.on("request", lambda request: "session-tokens" in request.url and requests.append(request.url))
    page.goto(f"/store/{shop.slug}/pages/about/")
    for frame in page.frames[1:]:
        frame.wait_for_function("window.tokens?.length === 1")
    assert len(page.frames) == 4
    assert len(requests) == 1
    for frame in page.frames[1:]:
        installation = chat if "/widget" in frame.url else placement.installation
        claims = claims_of(frame.evaluate("window.tokens[0]"), installation, site)
        assert (claims["businessId"], claims["installationId"]) == (str(shop.pk), str(installation.pk))

    first = page.frames[1]
    page.emulate_media(color_scheme="dark")
    first.wait_for_function("window.heard.length === 2")  # an UPDATE
    assert first.evaluate("window.tokens.length") == 1
    page.wait_for_timeout(1100)  # tokens of one second are alike
    before = first.evaluate("window.tokens[0]")
    first.evaluate("location.reload()")
    first.wait_for_function("window.tokens?.length === 1")
    after = first.evaluate("window.tokens[0]")
    assert after != before
    assert claims_of(after, placement.installation, site)
    assert len(requests) == 2


@pytest.mark.spec(OF_BLOCKS, "At most 60 times a minute for a session")
def test_block_without_a_token_has_its_settings(page: Page, shop: Business, placement: Placement) -> None:
    """Over the limit, or while the store's server is gone. The page goes on."""
    page.route("**/session-tokens/*", lambda route: route.fulfill(status=429, body="{}"))
    page.goto(f"/store/{shop.slug}/pages/about/")
    expect(page.frame_locator("iframe.block").locator("#title")).to_have_text("Five stars")
    assert frame_of(page, "/block").evaluate("window.tokens") == []
    page.route("**/session-tokens/*", lambda route: route.abort())
    page.reload()
    expect(page.frame_locator("iframe.block").locator("#title")).to_have_text("Five stars")
    assert frame_of(page, "/block").evaluate("window.tokens") == []


@pytest.mark.parametrize(("stores", "heading"), [("http://*.stores.localhost", "Five stars"),
                                                 ("http://*.stores.example", "Waiting"),
                                                 ("http://localhost", "Waiting")])  # fmt: skip
def test_block_hears_the_stores_that_its_app_expects(
    page: Page,
    shop: Business,
    placement: Placement,
    app_site: AppSite,
    settings: Any,
    stores: str,
    heading: str,
) -> None:
    """On a store's own host; `*` stands for the store."""
    port = urlsplit(settings.BASE_URL).port
    settings.STORES_URL = f"http://{{slug}}.stores.localhost:{port}"
    settings.ALLOWED_HOSTS = ["127.0.0.1", ".stores.localhost"]
    app_site.stores = f"{stores}:{port}"
    page.goto(store_url(shop.slug, "pages", "about"))
    frame_of(page, "/block").wait_for_function("window.block")
    page.wait_for_timeout(300)
    expect(page.frame_locator("iframe.block").locator("#title")).to_have_text(heading)


@pytest.mark.spec("Contract 6 Extensions", "Messages from another frame or origin are ignored")
def test_messages_of_others_are_ignored(page: Page, shop: Business, placement: Placement) -> None:
    page.goto(f"/store/{shop.slug}/pages/about/")
    block = frame_of(page, "/block")
    block.wait_for_function("window.heard.length === 1")
    resize = "{type: 'SERVICE_BLOCK_RESIZE', height: 333}"
    page.evaluate(f"window.postMessage({resize}, '*')")  # the page itself
    block.evaluate(  # another window of the app's own origin
        f"""() => new Promise(done => {{
            const inner = document.createElement("iframe");
            inner.srcdoc = `<script>top.postMessage({resize}, "*")</script>`;
            inner.onload = done;
            document.body.append(inner);
        }})"""
    )
    page.locator("iframe.block").evaluate("frame => { frame.dataset.origin = 'https://app.example.com'; }")
    block.evaluate(f"parent.postMessage({resize}, '*')")  # the frame, of another origin than its app's
    block.evaluate("parent.postMessage({type: 'SERVICE_BLOCK_READY'}, '*')")
    page.wait_for_timeout(300)
    expect(page.locator("iframe.block")).to_have_attribute("height", "200")
    assert len(block.evaluate("window.heard")) == 1


@pytest.mark.spec(
    "Embed definition", "FLOATING_WIDGET: an iframe at a fixed position, bottom_right or bottom_left"
)
@pytest.mark.parametrize("position", ["bottom_right", "bottom_left"])
def test_widget_sits_at_its_corner_on_every_page(
    page: Page, shop: Business, app: App, installation: Installation, app_site: AppSite, position: str
) -> None:
    chat = define(
        app, ExtensionType.EMBED, "chat", position=position, renderUrl=f"{app_site.url}/widget",
        settingsSchema=SCHEMA, defaultConfig={"title": "Ask us"},
    )  # fmt: skip
    for path in (f"/store/{shop.slug}/", f"/store/{shop.slug}/cart/"):
        page.goto(path)
        expect(page.frame_locator("iframe.widget").locator("#title")).to_have_text("Ask us")
        box = page.locator("iframe.widget").bounding_box()
        window = page.viewport_size
        assert box
        assert window
        assert box["y"] + box["height"] == window["height"] - 16
        edge = box["x"] if position == "bottom_left" else window["width"] - box["x"] - box["width"]
        assert edge == 16
        assert (
            page.locator("iframe.widget").evaluate("w => getComputedStyle(w.parentElement).position")
            == "fixed"
        )
    save_embed_settings(installation=installation, definition=chat, settings={"title": "Write to us"})
    page.reload()
    expect(page.frame_locator("iframe.widget").locator("#title")).to_have_text("Write to us")
    assert frame_of(page, "/widget").evaluate("window.heard[0].blockId") == str(chat.pk)
    change_controls(installation=installation, switched={chat.pk: False})
    page.reload()
    expect(page.locator("iframe.widget")).to_have_count(0)


@pytest.mark.spec(
    "Embed definition", "GLOBAL_SCRIPT: injected into every storefront page, at head or body_end"
)
@pytest.mark.parametrize("position", ["head", "body_end"])
def test_script_runs_on_every_page_of_the_store(
    page: Page,
    shop: Business,
    app: App,
    installation: Installation,
    about: SitePage,
    app_site: AppSite,
    position: str,
) -> None:
    product = factories.product(shop)
    define(
        app, ExtensionType.EMBED, "pixel", kind="GLOBAL_SCRIPT", position=position,
        scriptUrl=f"{app_site.url}/script.js", settingsSchema=SCHEMA, defaultConfig={"id": 7},
    )  # fmt: skip
    paths = ("", f"products/{product.slug}/", "pages/about/", "cart/", "checkout/")
    for path in paths:
        page.goto(f"/store/{shop.slug}/{path}")
        page.wait_for_function("document.documentElement.dataset.appScript")
        told = json.loads(page.evaluate("document.documentElement.dataset.appScript"))
        assert told == {"app": "stars", "businessId": str(shop.pk), "settings": {"title": "Stars", "id": 7}}
        script = page.locator('script[src$="/script.js"]')
        assert script.evaluate("s => s.parentElement.tagName") == ("HEAD" if position == "head" else "BODY")
        assert script.evaluate("s => s.async") is True


def test_store_with_scripts_widgets_and_blocks_of_apps_still_sells(
    page: Page, shop: Business, app: App, placement: Placement, app_site: AppSite, settings: Any
) -> None:
    """The page's own forms and scripts, and the frames of apps, go on; nothing is refused in the console."""
    bread = factories.product(shop, name="Bread", price=500)
    define(app, ExtensionType.EMBED, "chat", renderUrl=f"{app_site.url}/widget")
    define(
        app, ExtensionType.EMBED, "pixel", kind="GLOBAL_SCRIPT", position="head",
        scriptUrl=f"{app_site.url}/script.js",
    )  # fmt: skip
    page.goto(f"/store/{shop.slug}/pages/about/")
    expect(page.frame_locator("iframe.block").locator("#title")).to_have_text("Five stars")
    expect(page.frame_locator("iframe.widget").locator("#title")).to_have_text("No title")
    page.goto(f"/store/{shop.slug}/products/{bread.slug}/")
    page.get_by_role("button", name="Add to cart").click()
    expect(page.locator(".cart-count")).to_contain_text("1")
    page.goto(f"/store/{shop.slug}/checkout/")
    above = page.locator("iframe.widget").evaluate(
        "w => document.querySelector('.shop-foot').getBoundingClientRect().top - w.getBoundingClientRect().bottom"
    )
    assert 0 < above < 40  # where it covers nothing: between the page and its footer
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("E-mail").fill("ada@example.com")
    page.get_by_role("button", name="Place order").click()
    page.wait_for_url("**/orders/**")
    state = page.evaluate("fetch(`${location.pathname}state/`).then((answer) => answer.status)")
    assert state == 200
    settings.DEBUG = True  # a payment's address may be on this machine
    factories.payment(Order.objects.get(), payment_url=f"{app_site.url}/pay")
    app_site.pages["/pay"] = ("text/html", b"<!doctype html><title>Pay</title>")
    page.reload()
    page.get_by_role("link", name="Pay ").click()
    page.wait_for_url(f"{app_site.url}/pay")


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.spec("Installation", "uninstalled: blocks removed from pages, embeds stop being injected")
def test_after_the_uninstall_all_is_gone_from_the_next_page_view(
    page: Page, shop: Business, app: App, installation: Installation, placement: Placement, app_site: AppSite
) -> None:
    define(app, ExtensionType.EMBED, "chat", renderUrl=f"{app_site.url}/widget")
    define(
        app,
        ExtensionType.EMBED,
        "pixel",
        kind="GLOBAL_SCRIPT",
        position="head",
        scriptUrl=f"{app_site.url}/script.js",
    )
    page.goto(f"/store/{shop.slug}/pages/about/")
    expect(page.locator("iframe")).to_have_count(2)
    uninstall(installation=installation)
    page.reload()
    expect(page.locator("h1")).to_have_text("About us")
    expect(page.locator("iframe")).to_have_count(0)
    expect(page.locator('script[src$="/script.js"]')).to_have_count(0)
    assert not Placement.objects.exists()


def test_suspended_app_shows_nothing_until_it_is_reinstated(
    page: Page, shop: Business, app: App, placement: Placement
) -> None:
    App.objects.update(suspended_at=placement.created_at)
    page.goto(f"/store/{shop.slug}/pages/about/")
    expect(page.locator("iframe")).to_have_count(0)
    App.objects.update(suspended_at=None)
    page.reload()
    expect(page.locator("iframe.block")).to_have_count(1)


def test_widget_fits_a_phone(
    new_page: NewPage, shop: Business, app: App, installation: Installation, app_site: AppSite
) -> None:
    define(app, ExtensionType.EMBED, "chat", renderUrl=f"{app_site.url}/widget")
    page = new_page(viewport={"width": 320, "height": 640})
    page.goto(f"/store/{shop.slug}/")
    box = page.locator("iframe.widget").bounding_box()
    assert box
    assert (box["x"], box["width"]) == (16, 288)


BAR = (
    b"document.body.prepend(Object.assign(document.createElement('a'), { href: '#', textContent: 'Sale!' }));"
)


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_of_an_app_covers_what_the_shopper_presses(
    new_page: NewPage, shop: Business, app: App, installation: Installation, app_site: AppSite, width: int
) -> None:
    """A widget as tall as allowed. The skip link stays first although the app's script puts a bar before it."""
    bread = factories.product(shop, name="Bread", price=500)
    define(app, ExtensionType.EMBED, "chat", renderUrl=f"{app_site.url}/widget")
    define(
        app,
        ExtensionType.EMBED,
        "bar",
        kind="GLOBAL_SCRIPT",
        position="body_end",
        scriptUrl=f"{app_site.url}/bar.js",
    )
    app_site.pages["/bar.js"] = ("text/javascript", BAR)
    page = new_page(viewport={"width": width, "height": 800})
    warnings: list[str] = []
    page.on("console", lambda message: warnings.append(message.text))

    def press(name: str) -> None:
        frame = page.locator("iframe.widget")
        frame.scroll_into_view_if_needed()
        expect(page.frame_locator("iframe.widget").locator("#title")).to_have_text("No title")
        frame_of(page, "/widget").evaluate("window.block.resize(400)")
        expect(frame).to_have_attribute("height", "400")
        for end in ("start", "end"):
            button = page.get_by_role("button", name=name)
            button.evaluate(f"button => button.scrollIntoView({{ block: '{end}' }})")
            assert button.evaluate(
                """(button) => {
                  const { left, top, right, bottom } = button.getBoundingClientRect();
                  const at = (x, y) => button.contains(document.elementFromPoint(x, y));
                  return at(left + 4, (top + bottom) / 2) && at(right - 4, (top + bottom) / 2);
                }"""
            )
        button.click()

    page.goto(f"/store/{shop.slug}/products/{bread.slug}/")
    expect(page.get_by_role("link", name="Sale!")).to_be_attached()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    press("Add to cart") if width == 390 else page.get_by_role("button", name="Add to cart").click()
    page.goto(f"/store/{shop.slug}/checkout/")
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("E-mail").fill("ada@example.com")
    press("Place order")
    page.wait_for_url("**/orders/**")
    assert warnings == []


@pytest.mark.browser
def test_page_view_measures_what_each_app_loads(
    new_page: NewPage, shop: Business, app: App, installation: Installation, app_site: AppSite
) -> None:
    """The sum arrives when the shopper leaves, without a cookie. Sizes are known if the app shares them."""
    define(
        app,
        ExtensionType.EMBED,
        "script",
        kind="GLOBAL_SCRIPT",
        position="head",
        scriptUrl=f"{app_site.url}/script.js",
    )
    for visits, shares in enumerate((False, True), start=1):
        app_site.headers = {"Timing-Allow-Origin": "*"} if shares else {}
        page = new_page()
        page.add_init_script(
            """Math.random = () => 0;
            const send = fetch;
            fetch = (to, options) => { sessionStorage.sent = JSON.stringify(options); return send(to, options); };"""
        )
        page.goto(f"/store/{shop.slug}/", wait_until="load")
        page.goto(f"/store/{shop.slug}/cart/")
        sent = json.loads(page.evaluate("sessionStorage.sent"))
        assert sent["credentials"] == "omit"
        [[slug, milliseconds, size]] = json.loads(sent["body"])["apps"]
        assert slug == app.slug
        assert 0 < milliseconds < 30_000
        assert (size is not None and 300 < size < 5_000) if shares else size is None
        for _ in range(100):
            row = StorefrontCost.objects.filter(visits=visits).first()
            if row:
                break
            page.wait_for_timeout(50)
        assert row is not None
        assert (row.unshared, row.bytes) == (1, size or 0)
