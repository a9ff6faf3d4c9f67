"""`store.js` on pages of a shop that isn't ours, under the policy of the guide, with an app on a third origin."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Browser, Frame, Page, expect

from accounts.enums import StoreRole
from accounts.models import Business, ConnectedStore, User
from accounts.services import shops
from extensions.enums import ExtensionType
from extensions.models import Definition, ExtensionState
from extensions.services.extension_states import add_block
from installations.models import Installation
from installations.services import pause
from marketplace.models import App
from stores.connected.framing import look_at_pages
from stores.connected.stores import open_store
from stores.models import SitePage
from tests.extensions.cast import define
from tests.merchants.pages import installed, listed_app
from tests.storeapi.people import person_in

from .app_site import AppSite
from .axe import violations
from .conftest import NewPage, SignIn

SCHEMA = {"type": "object", "properties": {"title": {"type": "string", "default": "Stars"}}}
EVIL = "</script><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
NONCE = "bm9uY2U"
OPEN = {"Access-Control-Allow-Origin": "*", "Content-Type": "application/json"}
TAG = '<script async src="{base}/store.js" data-store="{store}" data-page="about"{more}></script>'
DARK = '<style nonce="bm9uY2U">body { background: oklch(0.2 0.02 250); color: #fafafa; }</style>'


@pytest.fixture
def app_site(site: str, stores: str, shop_site: AppSite) -> Iterator[AppSite]:
    with AppSite(site, f"{stores} {shop_site.url}") as running:
        yield running


@pytest.fixture
def shop_site(site: str, stores: str) -> Iterator[AppSite]:
    """The shop's own server."""
    with AppSite(site, stores) as running:
        yield running


@pytest.fixture
def other_hosts(app_site: AppSite, shop_site: AppSite) -> list[str]:
    return [app_site.url, shop_site.url]


@pytest.fixture
def app(dana: User, app_site: AppSite) -> App:
    app = listed_app(dana, ["read_orders"], name="Stars <img src=x onerror=alert(1)>", slug="stars")
    define(app, ExtensionType.BLOCK, "stars", renderUrl=f"{app_site.url}/block", settingsSchema=SCHEMA)
    define(app, ExtensionType.EMBED, "chat", renderUrl=f"{app_site.url}/widget", settingsSchema=SCHEMA)
    script = f"{app_site.url}/script.js"
    define(app, ExtensionType.EMBED, "stats", kind="GLOBAL_SCRIPT", position="head", scriptUrl=script)
    return app


@pytest.fixture
def store(shop_site: AppSite) -> Business:
    system = shops.connect(name="Northwind").system
    values = {"name": "Northwind", "currency": "USD", "storefront_url": f"{shop_site.url}/"}
    return open_store(system=system, external_id="main", values=values).business


@pytest.fixture
def installation(app: App, store: Business) -> Installation:
    """With a block on the page `about` whose settings have markup, as those of the script."""
    installation = installed(app, store)
    page = SitePage.objects.create(business=store, slug="about", title="About us", external_id="about")
    block, script = (Definition.objects.get(app=app, key=key) for key in ("stars", "stats"))
    add_block(page=page, installation=installation, definition=block, settings={"title": EVIL})
    ExtensionState.objects.create(installation=installation, definition=script, settings={"title": EVIL})
    return installation


def serve(
    shop_site: AppSite, site: str, store: Business, *, more: str = "", copies: int = 1, **policy: str
) -> None:
    """The page `/about` as the guide has it, with the policy of what the store's placements name."""
    hosts = Client(headers={"host": site.partition("//")[2]}).get(f"/placements/{store.pk}").json()["hosts"]
    directives = {
        "default-src": "'none'",
        "script-src": f"{site} {' '.join(hosts['scripts'])}",
        "connect-src": site,
        "frame-src": " ".join(hosts["frames"]) or "'none'",
        "img-src": "'self'",
    } | {f"{name}-src": value for name, value in policy.items()}
    shop_site.headers["Content-Security-Policy"] = "; ".join(" ".join(each) for each in directives.items())
    tag = TAG.format(base=site, store=store.pk, more=more) * copies
    body = '<h1>About us</h1><div id="blocks" data-extension-blocks></div><div data-extension-blocks></div>'
    shop_site.pages["/about"] = (
        "text/html", f'<!doctype html><html lang="en"><title>About us</title>{tag}{body}</html>'.encode(),
    )  # fmt: skip


def frame_of(page: Page, path: str) -> Frame:
    [found] = [frame for frame in page.frames if path in frame.url]
    return found


@pytest.mark.journey
def test_block_widget_and_script_are_mounted_under_the_policy_of_the_guide(
    new_page: NewPage, installation: Installation, shop_site: AppSite, app_site: AppSite, site: str
) -> None:
    store = installation.business
    serve(shop_site, site, store, copies=3)
    page = new_page()
    page.goto(f"{shop_site.url}/about")
    expect(page.frame_locator("iframe.extension-block").locator("#title")).to_have_text(EVIL)
    expect(page.frame_locator("iframe.extension-widget").locator("#title")).to_have_text("Stars")
    frame = page.locator("#blocks > iframe")
    assert frame.get_attribute("src") == f"{app_site.url}/block?businessId={store.pk}&locale=en"
    assert set((frame.get_attribute("sandbox") or "").split()) == {
        "allow-scripts", "allow-same-origin", "allow-forms", "allow-popups",
    }  # fmt: skip
    block = frame_of(page, "/block")
    assert block.evaluate("window.heard") == [
        {"settings": {"title": EVIL}, "blockId": frame.get_attribute("data-block")}
    ]
    assert block.evaluate("window.tokens") == []
    for asked, given in ((300, "300"), (900, "400")):
        block.evaluate(f"window.block.resize({asked})")
        expect(frame).to_have_attribute("height", given)
    expect(page.locator("html")).to_have_attribute("data-app-script", re.compile("stars"))
    assert json.loads(page.evaluate("document.documentElement.dataset.appScript")) == {
        "app": "stars", "businessId": str(store.pk), "settings": {"title": EVIL},
    }  # fmt: skip
    box = page.locator(".extension-widgets").bounding_box()
    assert box
    assert (box["x"] + box["width"], box["y"] + box["height"]) == (1280 - 16, 900 - 16)
    # Three copies of the script mount once, and nothing of an app became markup.
    assert (page.locator("iframe").count(), page.locator("script[data-app]").count()) == (2, 1)
    assert (page.title(), page.locator("img").count()) == ("About us", 0)
    assert page.context.cookies() == []

    pause(installation=installation, user=store.owner)
    later = new_page()  # whose browser has no copy of the answer, which is good for 30 seconds
    with later.expect_response(f"**/placements/{store.pk}*"):
        later.goto(f"{shop_site.url}/about")
    later.wait_for_load_state("networkidle")
    assert (later.locator("iframe").count(), later.locator("script[data-app]").count()) == (0, 0)


def test_policy_of_nonces_is_enough_and_the_look_is_that_of_the_page(
    page: Page, installation: Installation, shop_site: AppSite, site: str
) -> None:
    nonce = f' nonce="{NONCE}" data-locale="de"'
    serve(
        shop_site,
        site,
        installation.business,
        more=nonce,
        script=f"'nonce-{NONCE}'",
        style=f"'nonce-{NONCE}'",
    )
    kind, body = shop_site.pages["/about"]
    shop_site.pages["/about"] = kind, body.replace(b"<h1>", DARK.encode() + b"<h1>")
    page.goto(f"{shop_site.url}/about")
    expect(page.frame_locator("iframe.extension-block").locator("#title")).to_have_text(EVIL)
    assert "locale=de" in frame_of(page, "/block").url
    theme = frame_of(page, "/block").evaluate("window.theme")
    assert (theme["mode"], theme["text"], theme["radius"]) == ("dark", "#fafafa", "0px")
    assert int(theme["background"][1:3], 16) < 40
    expect(page.locator("html")).to_have_attribute("data-app-script", re.compile("stars"))


@pytest.mark.parametrize("failure", ["stranger", "silent", "broken"])
def test_page_stays_as_it_is_without_an_answer(
    chromium: Browser, installation: Installation, shop_site: AppSite, site: str, failure: str
) -> None:
    """A stranger's page can't read the answer either: the browser keeps it from its scripts."""
    page = chromium.new_page()  # not watched: the console names the answer that it kept from the page
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    store = installation.business
    serve(shop_site, site, store)
    if failure == "stranger":
        ConnectedStore.objects.update(storefront_url="https://northwind.example/")
    else:
        page.route(
            "**/placements/**",
            lambda route: route.abort() if failure == "silent" else route.fulfill(body="{", headers=OPEN),
        )
    read = f"fetch('{site}/placements/{store.pk}').then(() => 'read', () => 'refused')"
    page.goto(f"{shop_site.url}/about")
    page.wait_for_load_state("networkidle")
    assert (page.locator("iframe").count(), page.locator("h1").inner_text(), errors) == (0, "About us", [])
    if failure == "stranger":
        assert page.evaluate(read) == "refused"
    page.close()


def test_editor_shows_the_page_where_it_can_be_framed_and_else_the_blocks_alone(
    new_page: NewPage,
    installation: Installation,
    shop_site: AppSite,
    site: str,
    sign_in: SignIn,
    settings: Any,
) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    store = installation.business
    serve(shop_site, site, store)
    SitePage.objects.update(url=f"{shop_site.url}/about")
    look_at_pages()
    page = new_page()
    sign_in(page.context, person_in(store, StoreRole.MANAGER))
    editor = f"/merchant/pages/{SitePage.objects.get().pk}/edit/"
    answer = page.goto(editor)
    assert answer
    framed = page.frame_locator(".shop-page iframe")
    expect(framed.locator("h1")).to_have_text("About us")
    expect(framed.frame_locator("iframe.extension-block").locator("#title")).to_have_text(EVIL)
    expect(page.frame_locator(".slot iframe").locator("#title")).to_have_text(EVIL)
    assert shop_site.url in answer.headers["content-security-policy"]
    assert violations(page) == []
    elsewhere = page.request.get(f"{site}/merchant/pages/")
    assert shop_site.url not in elsewhere.headers["content-security-policy"]

    shop_site.headers["X-Frame-Options"] = "DENY"
    look_at_pages(now=timezone.now() + timedelta(days=2))
    answer = page.goto(editor)
    assert answer
    expect(page.frame_locator(".slot iframe").locator("#title")).to_have_text(EVIL)
    assert page.locator(".shop-page").count() == 0
    assert shop_site.url not in answer.headers["content-security-policy"]
    assert page.get_by_role("link", name="View page").get_attribute("href") == f"{shop_site.url}/about"


@pytest.mark.spec(
    "Contract 23 What an order tells", "store.js checks and merges, fires an event, and answers SAVED"
)
def test_page_keeps_what_a_block_puts_into_the_cart(
    new_page: NewPage, installation: Installation, shop_site: AppSite, site: str
) -> None:
    kept = """ data-attributes='{"stars": {"old": "x", "gone": "y"}}'"""
    serve(shop_site, site, installation.business, more=kept)
    page = new_page()
    page.goto(f"{shop_site.url}/about")
    expect(page.frame_locator("iframe.extension-block").locator("#title")).to_have_text(EVIL)
    page.evaluate(
        "window.events = []; document.addEventListener('extension-platform:attributes', ({detail}) => window.events.push(detail))"
    )
    block = frame_of(page, "/block")
    good = "slot: 'Friday', lines: 'a\\nb', gone: null, long: '🛎'.repeat(500)"
    bad = "Bad: 'x', tab: 'a\\tb', number: 7, longer: 'x'.repeat(501), half: '\\ud800'"
    block.evaluate(f"window.block.setAttributes({{{good}, {bad}}})")
    block.wait_for_function("window.kept.length === 1")
    own = {"old": "x", "slot": "Friday", "lines": "a\nb", "long": "🛎" * 500}
    assert block.evaluate("window.kept") == [own]
    assert page.evaluate("window.events") == [{"app": "stars", "attributes": own}]
    many = "Object.fromEntries([...Array(30).keys()].map((number) => [`key_${number}`, 'x']))"
    block.evaluate(f"window.block.setAttributes({many})")
    block.wait_for_function("window.kept.length === 2")
    assert len(block.evaluate("window.kept[1]")) == 20
    assert block.evaluate("window.kept[1].slot") == "Friday"
