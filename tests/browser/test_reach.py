"""An app that grows after its approval: on the sandbox at once, in a merchant's store after a review and a yes."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from extensions.services.manifests import save_manifest
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.models import App
from marketplace.services import reviews
from stores.models import Order, Product
from tests import factories
from tests.extensions.manifests import hook, script
from tests.installations.oauth_client import address
from tests.merchants.pages import installed, listed_app
from tests.receivers import Answer, Receiver

from .app_site import AppSite
from .conftest import PHONE, NewPage, SignIn

REACH = "Contract 2 Reach"
POINTS = ("order.calculate_discounts", "order.validate", "checkout.shipping_rates")
ADDED = ("Visit counter", "Takes discounts off orders", "Can refuse orders", "Sets the delivery price")
ANSWER = {"discount": 100, "reason": "A star", "valid": True, "fee": 0}


@pytest.fixture
def app_site(site: str, stores: str) -> Iterator[AppSite]:
    with AppSite(site, stores) as app_site:
        yield app_site


@pytest.fixture
def server(settings: Any) -> Iterator[Receiver]:
    """The app's, which answers each hook."""
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    with Receiver() as receiver:
        receiver.respond_with(Answer(body=orjson.dumps(ANSWER)))
        yield receiver


@pytest.fixture
def other_hosts(app_site: AppSite, site: str, shop: Business) -> list[str]:
    return [app_site.url, f"http://{shop.slug}.stores.localhost:{urlsplit(site).port}"]


@pytest.fixture
def app(dana: User, server: Receiver) -> App:
    """Approved with an empty manifest."""
    return listed_app(dana, ["read_pages"], name="Loyalty Stars", slug="stars", webhook_url=server.url)


@pytest.fixture
def installation(app: App, shop: Business) -> Installation:
    return installed(app, shop)


@pytest.fixture
def grown(app: App, installation: Installation, sandbox: Business, app_site: AppSite) -> App:
    """Saved since: a script and three hooks."""
    installed(app, sandbox)
    document = {
        "embeds": [script(scriptUrl=f"{app_site.url}/script.js")],
        "hooks": [hook(hookPoint=point) for point in POINTS],
    }
    save_manifest(app=app, developer=app.developer, document=document)
    return app


def buy(page: Page, product: Product) -> Order:
    """As a shopper, whatever apps do meanwhile."""
    page.goto(f"/store/{product.business.slug}/products/{product.slug}/")
    page.get_by_role("button", name="Add to cart").click()
    expect(page.locator(".cart-count")).to_contain_text("1")
    page.goto(f"/store/{product.business.slug}/checkout/")
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("E-mail").fill("ada@example.com")
    page.get_by_role("button", name="Place order").click()
    page.wait_for_url("**/orders/**")
    return Order.objects.filter(business=product.business).latest("created_at")


def runs(page: Page, product: Product, server: Receiver) -> bool:
    """Whether the script and the hooks run in a store, all of them or none."""
    server.requests.clear()
    order = buy(page, product)
    asked = {orjson.loads(each.body)["hookPoint"] for each in server.requests}
    has_script = page.locator('script[src$="/script.js"]').count() == 1
    assert has_script == bool(asked) == bool(order.discount)
    assert asked in (set(), set(POINTS))
    return has_script


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.spec(
    REACH, "A script and hooks saved after an approval need the next one and the merchant's yes"
)
def test_what_is_added_after_an_approval_runs_after_a_yes(
    new_page: NewPage,
    sign_in: SignIn,
    grown: App,
    installation: Installation,
    server: Receiver,
    mira: User,
    shop: Business,
    sandbox: Business,
) -> None:
    bread, test_bread = (factories.product(each, name="Bread", price=500) for each in (shop, sandbox))
    shopper = new_page()
    assert runs(shopper, test_bread, server), "on the sandbox at once"
    assert not runs(shopper, bread, server), "in a store nothing before the approval"

    reviews.approve(submission=factories.submit(grown), reviewer=factories.reviewer())
    follow_all()
    assert not runs(shopper, bread, server), "nor after it, before the merchant's answer"

    merchant = new_page()
    sign_in(merchant.context, mira)
    merchant.goto("/merchant/")
    merchant.get_by_role("link", name="Review (").click()
    new = merchant.locator(".question li", has_text="New")
    expect(new).to_have_count(len(ADDED))
    for title in ADDED:
        expect(new.filter(has_text=title)).to_have_count(1)
    merchant.get_by_role("button", name="Not now").click()
    expect(merchant.get_by_text("keeps its current permissions")).to_be_visible()
    assert not runs(shopper, bread, server)

    merchant.get_by_role("link", name="Review the request").click()
    merchant.get_by_role("button", name="Approve", exact=True).click()
    expect(merchant.get_by_text("can use its new permissions now")).to_be_visible()
    assert runs(shopper, bread, server)


@pytest.mark.spec("Contract 7 Pages", "Install is in view without scrolling, however much is asked for")
@pytest.mark.parametrize("look", [{"viewport": {"width": 1440, "height": 900}}, PHONE], ids=["wide", "phone"])
def test_install_is_in_view(
    new_page: NewPage, sign_in: SignIn, grown: App, mira: User, look: dict[str, Any]
) -> None:
    App.objects.update(scopes=["read_products", "read_orders", "write_orders", "read_reviews", "read_pages"])
    reviews.approve(submission=factories.submit(App.objects.get(pk=grown.pk)), reviewer=factories.reviewer())
    factories.business(mira, name="Second store")
    page = new_page(**look)
    sign_in(page.context, mira)
    page.goto(address(App.objects.get(pk=grown.pk)))
    expect(page.get_by_role("button", name="Install")).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 0
    assert page.evaluate("document.documentElement.scrollHeight > innerHeight")
