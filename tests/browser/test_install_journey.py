"""The life of an installation as a merchant lives it: find an app, install it, look at what it does, uninstall it.

The app is the sample app, a process of its own that knows the platform by its addresses alone.
"""

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from playwright.sync_api import Browser, Page, expect

from accounts.models import Business, User
from installations.models import Installation
from marketplace.models import App
from marketplace.services.apps import rotate_client_secret
from tests import factories
from tests.ports import free_port
from tests.waiting import wait_until
from tests.webhooks.helpers import drain, publish
from webhooks.models import Webhook

from .chromium import PATIENCE, overflow

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "sea otters hold hands"


@pytest.fixture
def bell(dana: User) -> App:
    """Order Bell, approved and listed; it listens on a port of its own."""
    url = f"http://localhost:{free_port()}"
    app = factories.app(
        dana,
        name="Order Bell",
        slug="order-bell",
        description="Rings for every order.",
        redirect_url=f"{url}/callback",
        webhook_url=f"{url}/webhooks",
    )
    factories.approve(app)
    return app


@pytest.fixture
def bell_url(bell: App, site: str, tmp_path: Path) -> Iterator[str]:
    """Where its process answers."""
    url = bell.redirect_url.removesuffix("/callback")
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "sdk/python"))),
        "PLATFORM_URL": site,
        "SAMPLE_APP_STATE": str(tmp_path / "bell.sqlite3"),
        "SAMPLE_APP_PORT": url.rpartition(":")[2],
        "CLIENT_ID": bell.client_id,
        "CLIENT_SECRET": rotate_client_secret(app=bell, by=bell.developer),
    }
    with subprocess.Popen(
        [sys.executable, "-m", "examples.sample_app"], cwd=tmp_path, env=environment, stdin=subprocess.PIPE
    ) as process:
        wait_until(lambda: _answers(url), 20)
        yield url
        process.terminate()


@pytest.fixture
def page(chromium: Browser, site: str, settings: Any) -> Iterator[Page]:
    """A merchant's browser. It leaves the site for the app's, so no other host is a fault here."""
    settings.DEBUG = True  # the app answers on this machine, without TLS
    context = chromium.new_context(base_url=site, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def _answers(url: str) -> bool:
    try:
        return requests.get(f"{url}/healthz", timeout=1).ok
    except requests.RequestException:
        return False


def register(page: Page) -> Business:
    """As a merchant, whose shop then has two products."""
    page.goto("/accounts/register/?role=MERCHANT")
    page.get_by_label("Your name").fill("Mary Merchant")
    page.get_by_label("E-mail").fill("mary@example.net")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Store name").fill("Harbour Bakery")
    page.get_by_role("button", name="Register").click()
    page.wait_for_url(lambda url: "/register/" not in url)
    shop = Business.objects.get(owner__email="mary@example.net")
    factories.product(shop, name="Rye bread", price=450)
    factories.product(shop, name="Cinnamon bun", price=320, stock=7)
    return shop


def install(page: Page, shop: Business, bell_url: str) -> Installation:
    """From the marketplace, in three clicks: the app, Install, Install. The app asks whose store it is before it shows it."""
    page.goto("/marketplace/")
    page.get_by_role("link", name="Order Bell").first.click()
    page.get_by_role("link", name="Install", exact=True).click()
    expect(page.locator("h1")).to_contain_text("Harbour Bakery")
    page.get_by_role("button", name="Install", exact=True).click()
    expect(page).to_have_url(re.compile(re.escape(bell_url)))
    page.get_by_role("button", name="Show").click()
    return Installation.objects.get(business=shop, uninstalled_at=None)


def expect_connected(page: Page, shop: Business) -> None:
    """By its name where the app API tells that, else by its id."""
    expect(page.locator("h1")).to_have_text(re.compile(f"Connected to ({shop.name}|Store {shop.pk})"))


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.spec("States/Installation", "not installed: merchant completes OAuth install -> installed")
@pytest.mark.spec(
    "States/Installation", "installed: merchant uninstalls -> not installed; erasure 48 hours later"
)
def test_from_the_marketplace_to_the_receipt(page: Page, site: str, bell_url: str, tmp_path: Path) -> None:
    shop = register(page)
    installation = install(page, shop, bell_url)

    expect_connected(page, shop)
    products = page.locator(".products li")
    expect(products).to_have_count(2)
    expect(page.locator(".products")).to_contain_text("Rye bread")
    expect(page.locator(".products")).to_contain_text("4.50")
    assert overflow(page) == 0

    publish(shop)
    assert drain() == 1
    expect(page.get_by_text("Signature verified")).to_be_visible()
    with sqlite3.connect(tmp_path / "bell.sqlite3") as kept:
        ((token,),) = kept.execute("SELECT access_token FROM stores")
    assert _call(site, token).status_code == 200

    its_page = page.url
    page.goto("/merchant/apps/")
    page.get_by_role("link", name="Order Bell").first.click()
    page.get_by_role("link", name="Uninstall").click()
    page.get_by_role("button", name="Uninstall").click()
    installation.refresh_from_db()
    page.goto(f"/merchant/apps/{installation.pk}/receipt/")
    due = installation.data_erasure_at
    expect(page.get_by_text(f"{due.day} {due:%b %Y}").first).to_be_visible()

    assert _call(site, token).status_code == 401
    assert not Webhook.objects.filter(installation=installation, is_active=True).exists()
    publish(shop)
    assert drain() == 0
    page.goto(its_page)
    expect(page.get_by_text("The platform answered 401")).to_be_visible()


@pytest.mark.spec(
    "Contract 3 OAuth 2.0", "Installed from the app's own page: state and PKCE, back to the app"
)
def test_from_the_apps_own_page_through_sign_in(page: Page, bell_url: str) -> None:
    shop = register(page)
    page.context.clear_cookies()
    page.goto(bell_url)
    page.get_by_role("link", name="Install on a store").click()
    page.get_by_label("E-mail").fill("mary@example.net")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Install", exact=True).click()
    expect_connected(page, shop)
    assert Installation.objects.filter(business=shop, uninstalled_at=None).count() == 1


@pytest.mark.spec("Contract 3 OAuth 2.0", "Cancel at the consent comes back as access_denied with the state")
def test_cancel_leads_back_and_installs_nothing(page: Page, bell_url: str) -> None:
    shop = register(page)
    page.goto(bell_url)
    page.get_by_role("link", name="Install on a store").click()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_text("Nothing was installed")).to_be_visible()
    assert not Installation.objects.filter(business=shop).exists()


@pytest.mark.spec(
    "States/Installation", "Re-install before the 48 hours are over: a new installation, token and secret"
)
def test_install_again(page: Page, bell_url: str) -> None:
    shop = register(page)
    first = install(page, shop, bell_url)
    page.goto(f"/merchant/apps/{first.pk}/uninstall/")
    page.get_by_role("button", name="Uninstall").click()
    page.wait_for_load_state()
    second = install(page, shop, bell_url)
    assert second.pk != first.pk
    expect_connected(page, shop)
    page.goto(bell_url)
    expect(page.locator(".store")).to_have_count(1)


def _call(site: str, token: str) -> requests.Response:
    return requests.get(f"{site}/app-api/products", headers={"Authorization": f"Bearer {token}"}, timeout=10)
