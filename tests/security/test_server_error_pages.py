"""HTTP servers and proxies answer some requests by themselves: with pages that have none of our headers. A script that
gets hold of such a page of the platform's acts in it as the signed-in person. Only the origin keeps scripts of apps from
it, so these tests switch the Content-Security-Policy off."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from accounts.models import Business
from extensions.enums import ExtensionType
from stores.models import StoreSettings
from tests import factories
from tests.browser.app_site import AppSite
from tests.browser.chromium import PATIENCE
from tests.extensions.cast import define
from tests.merchants.pages import installed, listed_app
from tests.security.sites import Site

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]

CUSTOMER = "Philomena Quill"
REFUSED = "refused"
TOO_LONG = "a" * 300_000
"""An address that both servers refuse, with 414 or 431."""

# Changes the delivery fee and reads the orders: by the window that opened this one or, at a click, by one that it opens.
SCRIPT = """
const ERROR_PAGE = "ERROR-PAGE";
const isThere = (reached) => {
  try {
    return reached.document.readyState === "complete" && reached.location.href === ERROR_PAGE;
  } catch (error) {
    if (error.name === "SecurityError") return false;  // the page of another site, which may go to ours
    throw error;
  }
};
const act = async (reached) => {
  for (let tries = 0; !isThere(reached) && tries < 60; tries++) await new Promise((next) => setTimeout(next, 50));
  const store = "PLATFORM/merchant/store/";
  const page = await (await reached.fetch(store, { credentials: "include" })).text();
  const form = new FormData(new DOMParser().parseFromString(page, "text/html").querySelector("main form"));
  form.set("delivery_fee", "66.60");
  await reached.fetch(store, { method: "POST", body: form, credentials: "include" });
  return (await reached.fetch("PLATFORM/merchant/orders/", { credentials: "include" })).text();
};
const attempt = (reached) => { window.loot = act(reached).catch(() => "refused"); };
addEventListener("click", () => attempt(window.open(ERROR_PAGE)));
attempt(window.opener);
"""

# Opens the store, and goes to the error page itself: then that page is the one that opened the store.
LURE = """<!doctype html><html lang="en"><title>Lure</title><h1>Free bread</h1>
<script>addEventListener("click", () => { open("STORE"); location = "ERROR-PAGE"; });</script></html>"""


@pytest.fixture
def app_site(site: Site) -> Iterator[AppSite]:
    with AppSite(*site) as app_site:
        yield app_site


@pytest.fixture
def store(site: Site, shop: Business, app_site: AppSite) -> str:
    """The store's address; Mira's shop has an order, and an app with a script on every page."""
    factories.order(shop, customer_name=CUSTOMER)
    app = listed_app(factories.developer("eve@example.com"), ["read_pages"], name="Stars", slug="stars")
    define(
        app, ExtensionType.EMBED, "pixel", kind="GLOBAL_SCRIPT", position="body_end",
        scriptUrl=f"{app_site.url}/script.js",
    )  # fmt: skip
    installed(app, shop)
    return site.store(shop)


@pytest.fixture
def mira_signed_in(chromium: Browser, site: Site, store: str, shop: Business) -> Iterator[BrowserContext]:
    context = chromium.new_context(base_url=site.platform, ignore_https_errors=True, bypass_csp=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.get_by_label("E-mail").fill(shop.owner.email)
    page.get_by_label("Password").fill(factories.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/merchant/")
    yield context
    context.close()


def prepare(app_site: AppSite, site: Site, store: str, error_page: str) -> None:
    for path, kind, text in (("/script.js", "text/javascript", SCRIPT), ("/lure", "text/html", LURE)):
        for name, value in (("ERROR-PAGE", error_page), ("PLATFORM", site.platform), ("STORE", store)):
            text = text.replace(name, value)
        app_site.pages[path] = (kind, text.encode())


def loot(page: Page) -> str:
    """What the last attempt of the page's script brought; there is one from the page's load on."""
    found: str = page.evaluate("window.loot")
    return found


def fee_of(shop: Business) -> int:
    return sum(StoreSettings.objects.filter(business=shop).values_list("delivery_fee", flat=True))


@pytest.mark.spec("Contract 6 Extensions", "A script of an app can't act on the site as the signed-in person")
@pytest.mark.parametrize("ending", [
    pytest.param(TOO_LONG, id="too-long"),
    *(pytest.param(f"by-proxy/{status}", id=str(status), marks=pytest.mark.slow) for status in (400, 413, 502)),
])  # fmt: skip
def test_script_of_an_app_can_not_act_in_an_error_page_of_the_platform(
    mira_signed_in: BrowserContext, shop: Business, site: Site, store: str, app_site: AppSite, ending: str
) -> None:
    error_page = f"{site.platform}/{ending}"
    prepare(app_site, site, store, error_page)
    page = mira_signed_in.new_page()
    page.goto(store)
    with mira_signed_in.expect_page():
        page.locator("h1").click()
    assert loot(page) == REFUSED
    assert fee_of(shop) == 0

    # The attack is a real one: the same script succeeds within the platform's origin.
    answer = page.goto(error_page)
    assert answer
    assert answer.status in (400, 413, 414, 431, 502)
    assert not {"content-security-policy", "cross-origin-opener-policy"} & answer.headers.keys()
    page.add_script_tag(url=f"{app_site.url}/script.js")
    page.mouse.click(5, 5)
    assert CUSTOMER in loot(page)
    assert fee_of(shop) == 6660


@pytest.mark.spec("Contract 6 Extensions", "A script of an app can't act on the site as the signed-in person")
def test_error_page_of_the_store_is_no_way_to_the_platform(
    mira_signed_in: BrowserContext, shop: Business, site: Site, store: str, app_site: AppSite
) -> None:
    prepare(app_site, site, store, store + TOO_LONG)
    page = mira_signed_in.new_page()
    page.goto(store)
    with mira_signed_in.expect_page() as opened:
        page.locator("h1").click()
    assert loot(page) == REFUSED
    assert opened.value.url == store + TOO_LONG
    assert fee_of(shop) == 0


@pytest.mark.spec("Contract 6 Extensions", "A script of an app can't act on the site as the signed-in person")
def test_script_of_an_app_is_cut_off_from_an_error_page_that_opened_the_store(
    mira_signed_in: BrowserContext, shop: Business, site: Site, store: str, app_site: AppSite
) -> None:
    prepare(app_site, site, store, f"{site.platform}/{TOO_LONG}")
    lure = mira_signed_in.new_page()
    lure.goto(f"{app_site.url}/lure")
    with mira_signed_in.expect_page() as opened:
        lure.locator("h1").click()
    opened.value.wait_for_url(store)
    assert loot(opened.value) == REFUSED
    assert lure.url.startswith(site.platform)  # so the error page was there to be reached
    assert fee_of(shop) == 0
