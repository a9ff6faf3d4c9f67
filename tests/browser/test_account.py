"""The account's pages: sessions, tokens, the security log, and the page that lets a command line in."""

import re

import pytest
from playwright.sync_api import Page, expect

from accounts.models import DeveloperToken, User
from accounts.services import developer_tokens

from .axe import violations
from .chromium import overflow
from .conftest import NewPage, SignIn

PATHS = ("/accounts/sessions/", "/accounts/tokens/", "/accounts/security-log/", "/portal/device/")


@pytest.fixture
def danas(new_page: NewPage, sign_in: SignIn, dana: User) -> Page:
    """Dana's browser, on a small phone and without JavaScript."""
    page = new_page(java_script_enabled=False, viewport={"width": 320, "height": 640})
    sign_in(page.context, dana)
    return page


def test_token_is_created_and_revoked(danas: Page) -> None:
    danas.goto("/accounts/tokens/")
    danas.get_by_label("Name").fill("CI")
    danas.get_by_role("button", name="Create token").click()
    expect(danas.get_by_label("Developer token")).to_have_value(re.compile("^fbdt_"))
    danas.get_by_role("link", name="Back to tokens").click()
    expect(danas.get_by_text("fbdt_…")).to_be_visible()
    danas.get_by_role("button", name="Revoke CI").click()
    expect(danas.get_by_text("CI no longer works.")).to_be_visible()
    expect(danas.get_by_text("fbdt_…")).to_have_count(0)


@pytest.mark.long
@pytest.mark.journey
def test_command_line_is_let_in(danas: Page, dana: User) -> None:
    codes = developer_tokens.start_grant(client_name="Order tool", network="203.0.113.0/24")
    danas.goto("/portal/device/")
    danas.get_by_label("Code").fill("BBBB-BBBB")
    danas.get_by_role("button", name="Continue").click()
    expect(danas.get_by_text("This code is wrong or has expired").first).to_be_visible()
    danas.get_by_label("Code").fill(codes.user_code)
    danas.get_by_role("button", name="Continue").click()
    expect(danas.get_by_text(codes.user_code)).to_be_visible()
    danas.get_by_role("button", name="Allow").click()
    expect(danas.get_by_text("Order tool can sign in now.")).to_be_visible()
    pending = danas.get_by_text("Order tool gets its token when it next asks")
    danas.goto("/accounts/tokens/")
    expect(pending).to_be_visible()
    expect(danas.get_by_text("You have no tokens yet.")).to_have_count(0)
    assert developer_tokens.redeem_grant(device_code=codes.device_code).token == DeveloperToken.objects.get(
        user=dana
    )
    danas.reload()
    expect(pending).to_have_count(0)
    expect(danas.get_by_text("fbdt_…")).to_be_visible()


def test_pages_are_accessible_and_fit_a_phone(new_page: NewPage, sign_in: SignIn, dana: User) -> None:
    page = new_page(viewport={"width": 320, "height": 640})
    sign_in(page.context, dana)
    sign_in(page.context, dana)  # there is another session to end
    for path in PATHS:
        page.goto(path)
        assert (violations(page), overflow(page)) == ([], 0), path
        expect(page.locator("h1")).to_have_count(1)
