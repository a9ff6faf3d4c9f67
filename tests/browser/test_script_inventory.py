"""The inventory of scripts is what Chromium loads at the checkout."""

import csv
from collections.abc import Iterator
from io import StringIO
from urllib.parse import urlsplit

import pytest
from django.test import Client
from playwright.sync_api import Page, Request, expect

from accounts.models import Business, User
from extensions.enums import ExtensionType
from marketplace.models import App
from tests import factories
from tests.extensions.cast import define
from tests.merchants.pages import installed, listed_app

from .app_site import AppSite


@pytest.fixture
def app_site(site: str, stores: str) -> Iterator[AppSite]:
    with AppSite(site, stores) as app_site:
        yield app_site


@pytest.fixture
def other_hosts(app_site: AppSite) -> list[str]:
    return [app_site.url]


@pytest.fixture
def app(dana: User, app_site: AppSite) -> App:
    app = listed_app(dana, [], name="Loyalty Stars", slug="stars")
    define(
        app,
        ExtensionType.EMBED,
        "count",
        kind="GLOBAL_SCRIPT",
        position="head",
        scriptUrl=f"{app_site.url}/script.js",
    )
    define(app, ExtensionType.EMBED, "chat", renderUrl=f"{app_site.url}/widget")
    return app


def inventory(mira: User) -> set[tuple[str, str]]:
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(mira)
    text = client.get("/merchant/scripts/inventory.csv").content.decode().removeprefix("\ufeff")
    return {
        (row["Kind"], row["Address"]) for row in csv.DictReader(StringIO(text)) if row["State"] == "On pages"
    }


@pytest.mark.parametrize("has_app", [True, False])
def test_inventory_is_what_the_checkout_loads(
    page: Page, shop: Business, mira: User, app: App, has_app: bool
) -> None:
    if has_app:
        installed(app, shop)
    product = factories.product(shop, name="Bread", slug="bread")
    loaded: set[tuple[str, str]] = set()

    def note(request: Request) -> None:
        if request.frame == page.main_frame and request.resource_type == "script":
            loaded.add(("Script", request.url))
        if request.frame != page.main_frame and request.is_navigation_request():
            loaded.add(("Frame", request.url))

    page.goto(f"/store/{shop.slug}/products/{product.slug}/")
    page.get_by_role("button", name="Add to cart").click()
    page.on("request", note)
    page.goto(f"/store/{shop.slug}/checkout/")
    expect(page.get_by_role("button", name="Place order")).to_be_visible()
    page.wait_for_load_state("networkidle")
    expected = inventory(mira)
    assert loaded == expected
    assert len(expected) == (5 if has_app else 2)
    assert any(urlsplit(url).path == "/widget" for _, url in loaded) is has_app
