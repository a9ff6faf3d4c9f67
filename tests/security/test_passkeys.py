"""Passkeys in a browser, over TLS, with an authenticator that the browser plays."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from tests.browser.axe import violations
from tests.browser.chromium import PATIENCE, Watch, overflow
from tests.factories import PASSWORD
from tests.security.sites import Site, gunicorn

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def platform(tmp_path: Path, transactional_db: None) -> Iterator[Site]:
    """Passkeys need a domain name, so the platform is not at an IP address here."""
    with gunicorn(tmp_path, host="platform.localhost") as site:
        yield site


@pytest.fixture
def page(chromium: Browser, platform: Site) -> Iterator[Page]:
    context = chromium.new_context(base_url=platform.platform, ignore_https_errors=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    watch = Watch(page, platform.platform)
    yield page
    assert watch.problems == []
    context.close()


def enter_password(page: Page) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("E-mail").fill("dana@example.com")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="Account of").click()
    page.get_by_role("button", name="Sign out").click()


def look(page: Page) -> None:
    assert violations(page) == []
    page.set_viewport_size({"width": 320, "height": 800})
    assert overflow(page) == 0
    page.set_viewport_size({"width": 1280, "height": 800})


@pytest.mark.long
@pytest.mark.spec("Trust 3 People", "A passkey signs in alone, and is a second factor after the password")
def test_passkey_added_and_used(page: Page, dana: User) -> None:
    enter_password(page)
    page.goto("/accounts/security/")
    look(page)
    page.get_by_role("link", name="Add passkey").click()
    look(page)
    page.get_by_label("Sign in with this passkey alone").check()
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Recovery codes")
    look(page)
    page.get_by_role("link", name="I saved them").click()
    expect(page.get_by_text("Passkey 1", exact=True).first).to_be_visible()

    sign_out(page)
    page.goto("/accounts/login/?next=/docs/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url("**/docs/")

    sign_out(page)
    enter_password(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Second step")
    look(page)
    page.get_by_role("button", name="Use passkey").click()
    page.wait_for_url("**/portal/**")
