"""The platform and each store have an origin of their own, so scripts of apps and cookies stay where they belong. The
tests switch the Content-Security-Policy off: it is the second wall."""

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings as django_settings
from django.db import connections
from playwright.sync_api import Browser, BrowserContext, Page, Request

from accounts.models import Business
from extensions.enums import ExtensionType
from tests import factories
from tests.browser.app_site import AppSite
from tests.browser.chromium import PATIENCE
from tests.extensions.cast import define
from tests.faults.servers import skipped_if_missing
from tests.merchants.pages import installed, listed_app
from tests.ports import free_port
from tests.security.sites import Site, waitress
from tests.waiting import wait_until
from tools.servers import Nginx

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]

# What a script of an app may try in the browser of a shopper or a merchant: each way answers with what it has read.
ATTACK = b"""const soon = () => new Promise((done) => setTimeout(done, 1500));
window.attack = {
  fetch: (url) => fetch(url, { credentials: "include" }).then((answer) => answer.text()),
  frame: async (url) => {
    const frame = Object.assign(document.createElement("iframe"), { src: url });
    document.body.append(frame);
    await soon();
    return frame.contentDocument.body.innerText;
  },
  popup: async (url) => {
    const popup = window.open(url);
    await soon();
    return popup.document.body.innerText;
  },
  worker: (url) => new Promise((done, fail) => {
    const code = `fetch("${url}", { credentials: "include" }).then((a) => a.text()).then(postMessage, () => postMessage(""))`;
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    worker.onmessage = ({ data }) => data ? done(data) : fail(Error("refused"));
  }),
};
window.attempt = (way, url) => window.attack[way](url).catch(() => "refused");"""


@pytest.fixture
def app_site(site: Site) -> Iterator[AppSite]:
    with AppSite(*site) as app_site:
        app_site.pages["/script.js"] = ("text/javascript", ATTACK)
        yield app_site


@pytest.fixture
def attacked(shop: Business, app_site: AppSite) -> Business:
    """Mira's shop, with a script of an app on every page."""
    app = listed_app(factories.developer("eve@example.com"), ["read_pages"], name="Stars", slug="stars")
    define(
        app, ExtensionType.EMBED, "pixel", kind="GLOBAL_SCRIPT", position="head",
        scriptUrl=f"{app_site.url}/script.js",
    )  # fmt: skip
    installed(app, shop)
    return shop


@pytest.fixture
def browser(chromium: Browser, site: Site) -> Iterator[BrowserContext]:
    context = chromium.new_context(base_url=site.platform, ignore_https_errors=True, bypass_csp=True)
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture
def page(browser: BrowserContext) -> Page:
    return browser.new_page()


def sign_in(page: Page, email: str) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(factories.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/merchant/")


def order_bread(page: Page, store: str) -> str:
    """A loaf ordered and another in the cart; gives the address of the order's page."""
    for _ in range(2):
        page.goto(f"{store}products/bread/")
        page.get_by_role("button", name="Add to cart").click()
        page.get_by_text("1 × Bread added.").wait_for()
        if _ == 0:
            page.goto(f"{store}checkout/")
            page.get_by_label("Name").fill("Philomena Quill")
            page.get_by_label("E-mail").fill("quill@example.com")
            page.get_by_role("button", name="Place order").click()
            page.wait_for_url("**/orders/**")
            order = page.url
    return order


def reader(page: Page) -> Callable[[str, str], str]:
    """`read(way, url)`: what the page's script of an app gets to see of another page."""
    page.wait_for_function("window.attack")

    def read(way: str, url: str) -> str:
        found: str = page.evaluate(f"attempt({json.dumps(way)}, {json.dumps(url)})")
        return found

    return read


@pytest.mark.slow  # ten seconds: two stores, eight attacks
@pytest.mark.spec("Contract 7 Pages", "A script in one store reads neither cart nor orders of another")
def test_script_in_one_store_reads_no_other_store(page: Page, site: Site, attacked: Business) -> None:
    other = factories.merchant("olga@example.com", name="Olga").businesses.get()
    for business in (attacked, other):
        factories.product(business, name="Bread", slug="bread")
    order, own_order = (order_bread(page, site.store(business)) for business in (other, attacked))
    read = reader(page)
    assert page.url.startswith(site.store(attacked))
    for url in (f"{site.store(other)}cart/", order):
        for way in ("fetch", "worker", "frame", "popup"):
            assert (way, read(way, url)) == (way, "refused")
    # The ways are real ones: they lead to what the store has itself.
    assert "Bread" in read("fetch", f"{site.store(attacked)}cart/")
    assert "Philomena Quill" in read("popup", own_order)


@pytest.mark.spec("Contract 6 Extensions", "A script of an app can't act on the site as the signed-in person")
def test_script_of_an_app_reads_and_changes_nothing_on_the_platform(
    page: Page, site: Site, attacked: Business
) -> None:
    sign_in(page, attacked.owner.email)
    page.goto(site.store(attacked))
    read = reader(page)
    for way in ("fetch", "worker", "frame", "popup"):
        assert (way, read(way, f"{site.platform}/merchant/orders/")) == (way, "refused")
    page.evaluate(
        """(action) => {
            const form = Object.assign(document.createElement("form"), { method: "post", action });
            const sent = { name: "Taken", accent: "red", timezone: "UTC", delivery_fee: "66.60" };
            for (const [name, value] of Object.entries(sent))
                form.append(Object.assign(document.createElement("input"), { name, value }));
            document.body.append(form);
            form.submit();
        }""",
        f"{site.platform}/merchant/store/",
    )
    page.wait_for_url(f"{site.platform}/**")
    assert not hasattr(Business.objects.get(pk=attacked.pk), "store_settings")


@pytest.mark.spec("Contract 6 Extensions", "A script of an app can't act on the site as the signed-in person")
def test_script_of_an_app_plants_nothing_on_the_platform(page: Page, site: Site, attacked: Business) -> None:
    """No session of somebody else, no cookies that make each request too large, no form at the platform's address."""
    sign_in(page, attacked.owner.email)
    page.goto(site.store(attacked))
    page.wait_for_function("window.attack")
    host = urlsplit(site.platform).hostname
    drawn = page.evaluate(
        """([platform, host, names]) => {
            for (const name of names) {
                document.cookie = `${name}=attackers; path=/; domain=${host}`;
                document.cookie = `${name}=attackers; path=/`;
            }
            for (let each = 0; each < 80; each++) {
                document.cookie = `bomb${each}=${"x".repeat(3800)}; path=/merchant/; domain=${host}`;
            }
            try { history.pushState({}, "", `${platform}/accounts/login/`); } catch (error) { return error.name; }
        }""",
        [site.platform, host, ["__Host-sessionid", django_settings.SESSION_COOKIE_NAME]],
    )
    assert drawn == "SecurityError"
    answer = page.goto(f"{site.platform}/merchant/")
    assert answer
    assert (answer.status, attacked.name in page.content()) == (200, True)


@pytest.mark.spec("Contract 7 Pages", "Cookies of platform and stores never reach each other")
def test_cookies_never_reach_the_other_host(browser: BrowserContext, site: Site, shop: Business) -> None:
    factories.product(shop, name="Bread", slug="bread")
    sent: list[Request] = []
    browser.on("request", lambda request: sent.append(request))
    page = browser.new_page()
    sign_in(page, shop.owner.email)
    page.goto(f"/store/{shop.slug}/")  # redirected to the store
    order_bread(page, site.store(shop))
    page.goto("/merchant/")
    names: dict[str, set[str]] = {"platform": set(), "store": set()}
    for request in sent:
        host = urlsplit(request.url).hostname
        cookies = request.all_headers().get("cookie", "")
        names["platform" if host == "127.0.0.1" else "store"] |= {
            each.partition("=")[0] for each in cookies.split("; ") if each
        }
    prefix = "__Host-" if site.platform.startswith("https:") else ""
    assert names == {
        "platform": {django_settings.SESSION_COOKIE_NAME, django_settings.CSRF_COOKIE_NAME, "zone"},
        "store": {django_settings.CART_COOKIE_NAME},
    }
    for cookie in _all(browser):
        assert (cookie["domain"][0] != ".", cookie["path"], cookie["secure"]) == (True, "/", bool(prefix))


def _all(browser: BrowserContext) -> list[Any]:
    return list(browser.cookies())


@pytest.fixture
def proxied(
    transactional_db: None, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Site]:
    """The product behind `deploy/nginx.conf`."""
    port = free_port()
    settings.BASE_URL, settings.STORES_URL = site = Site(
        f"http://127.0.0.1:{port}", f"http://{{slug}}.stores.localhost:{port}"
    )
    settings.ALLOWED_HOSTS = ["127.0.0.1", ".stores.localhost"]
    monkeypatch.setitem(connections.databases["default"], "CONN_MAX_AGE", 0)
    with waitress() as web, _proxy(tmp_path, port, web):
        wait_until(
            lambda: not socket.socket().connect_ex(("127.0.0.1", port)),
            said=(tmp_path / "nginx.log").read_text,
        )
        yield site


def _proxy(folder: Path, port: int, web: int) -> Nginx:
    with skipped_if_missing():
        return Nginx(folder, listen=f"127.0.0.1:{port}", web=[f"127.0.0.1:{web}"])


def test_cookies_of_a_script_bar_visitors_from_no_other_store(
    chromium: Browser, proxied: Site, shop: Business
) -> None:
    """A script can set cookies for the domain of all stores. The proxy has them cleared at the next visit."""
    other = factories.merchant("olga@example.com", name="Olga").businesses.get()
    context = chromium.new_context(bypass_csp=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{proxied.store(shop)}healthz")  # which loads nothing that would meet the proxy first
    page.evaluate("document.cookie = `bomb0=${'x'.repeat(3800)}; path=/; domain=stores.localhost`")
    (bomb,) = wait_until(context.cookies)  # the browser keeps it a moment after the script has set it
    assert bomb["domain"] == ".stores.localhost"
    # The script could set the others as well. On a busy machine the browser takes half a minute for it.
    place = {"value": bomb["value"], "domain": bomb["domain"], "path": "/"}
    context.add_cookies([{"name": f"bomb{number}", **place} for number in range(1, 60)])  # type: ignore[typeddict-item]
    for expected, text in ((400, "Too many cookies"), (200, other.name)):
        answer = page.goto(proxied.store(other))
        assert answer
        assert (answer.status, text in page.content()) == (expected, True)
    assert not context.cookies()
    page.goto(proxied.store(shop))
    assert shop.name in page.content()
    context.close()
