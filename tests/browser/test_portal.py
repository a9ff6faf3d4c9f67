"""The portal as a developer uses it."""

import re

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

from accounts.models import Business, User
from installations.models import Installation
from marketplace.enums import AppRole
from marketplace.models import App
from tests import factories

from .axe import violations
from .conftest import NewPage, SignIn


@pytest.fixture
def portal(new_page: NewPage, sign_in: SignIn, dana: User) -> NewPage:
    """Makes a page of the portal that Dana sees."""

    def make(path: str, **options: object) -> Page:
        page = new_page(**options)
        sign_in(page.context, dana)
        page.goto(path)
        return page

    return make


@pytest.fixture
def stars(dana: User, sandbox: Business) -> App:
    """An app that is installed for test, beside another one that is not."""
    app = factories.app(dana, name="Loyalty Stars", slug="stars")
    factories.installation(app, sandbox)
    factories.app(dana, name="Another", slug="other")
    return app


def fill_in(page: Page) -> None:
    page.get_by_label("Name", exact=True).fill("Café Étoile 2")
    page.get_by_label("Description").fill("Stars for regulars.")
    page.get_by_label("Category").select_option("loyalty")
    page.get_by_label("See your products").check()
    page.get_by_label("Place orders").check()
    page.get_by_label("Redirect URL").fill("https://stars.example.com/callback")


@pytest.mark.parametrize("scripted", [True, False])
def test_every_field_of_a_new_app_can_be_chosen(portal: NewPage, sandbox: Business, scripted: bool) -> None:
    factories.product(sandbox)
    page = portal("/portal/", java_script_enabled=scripted)
    page.get_by_role("link", name="Create app").click()
    page.get_by_text("More settings").click()
    fill_in(page)
    if scripted:
        expect(page.get_by_label("Slug")).to_have_value("cafe-etoile-2")
    else:
        page.get_by_label("Slug").fill("cafe-etoile-2")
    page.get_by_role("button", name="Create app").click()
    expect(page.get_by_label("Client secret", exact=True)).to_have_value(_starting("fbcs_"))
    expect(page.get_by_label("Access token")).to_have_value(_starting("fbat_test_"))
    if scripted:
        assert violations(page) == []
    page.get_by_text("More requests").click()
    expect(page.locator("figcaption", has_text="Place an order")).to_be_visible()
    assert App.objects.get().redirect_url == "https://stars.example.com/callback"


def test_a_name_typed_before_the_scripts_came_makes_the_slug_all_the_same(
    portal: NewPage, sandbox: Business
) -> None:
    page = portal("/portal/")
    held: list[Route] = []
    page.route("**/site*.js", lambda route: held.append(route))
    with page.expect_request("**/site*.js"):
        page.goto("/portal/create/", wait_until="commit")
    page.get_by_label("Name", exact=True).fill("Early Bird")
    expect(page.get_by_label("Slug")).to_have_value("")
    for each in held:
        each.continue_()
    expect(page.get_by_label("Slug")).to_have_value("early-bird")


def test_a_reload_of_the_secret_does_not_make_another(portal: NewPage, stars: App) -> None:
    page = portal("/portal/apps/stars/credentials/regenerate/")
    page.get_by_label("to confirm").fill("stars")
    page.get_by_role("button", name="Regenerate secret").click()
    secret = page.get_by_label("Client secret", exact=True).input_value()
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(page.get_by_role("heading", name="Already shown")).to_be_visible()
    assert secret not in page.content()
    stars.refresh_from_db()
    assert stars.client_secret_hint == secret[-4:]


def test_leaving_the_secret_unstored_is_asked_about_once(portal: NewPage, stars: App) -> None:
    page = portal("/portal/apps/stars/test/")
    page.get_by_role("button", name="Issue a new token").click()
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.get_by_label("Access token").click()  # a browser asks only somebody who has touched the page
    page.get_by_role("link", name="Overview").click()
    page.wait_for_url(re.compile(r"/portal/apps/stars/\??$"))
    assert asked == ["beforeunload"]


def test_continue_needs_the_checkbox(portal: NewPage, stars: App) -> None:
    page = portal("/portal/apps/stars/test/")
    page.get_by_role("button", name="Issue a new token").click()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_label("Access token")).to_be_visible()
    page.get_by_label("I have stored this token").check()
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url(re.compile(r"/portal/apps/stars/test/\??$"))


def test_uninstall_takes_two_presses(portal: NewPage, stars: App) -> None:
    page = portal("/portal/apps/stars/test/")
    page.get_by_role("link", name="Uninstall").click()
    page.get_by_role("button", name="Uninstall").click()
    expect(page.get_by_role("button", name="Install on sandbox")).to_be_visible()
    assert not Installation.objects.active().exists()


def test_viewer_sees_no_button_that_changes_something(portal: NewPage, stars: App, dana: User) -> None:
    """`tests/wire/test_shown.py` takes this rule of the style sheet for granted."""
    owner = factories.developer("kim@example.com", name="Kim")
    App.objects.filter(pk=stars.pk).update(developer=owner)
    factories.member(stars, dana, AppRole.VIEWER)
    factories.member(App.objects.get(pk=stars.pk), factories.developer("ann@example.com"))
    for path, hidden in (
        ("credentials/", "Regenerate secret"),
        ("webhooks/", "Add endpoint"),
        ("manifest/", "Save manifest"),
        ("test/", "Install on sandbox"),
    ):
        page = portal(f"/portal/apps/stars/{path}")
        expect(page.get_by_text("You are a viewer")).to_be_visible()
        for role in ("link", "button"):
            expect(page.get_by_role(role, name=hidden)).to_have_count(0)  # type: ignore[arg-type]
    expect(portal("/portal/apps/stars/signatures/").get_by_role("button", name="Check")).to_be_visible()


def _starting(prefix: str) -> re.Pattern[str]:
    return re.compile(f"^{prefix}")


@pytest.mark.parametrize("scripted", [True, False])
def test_a_section_of_the_details_is_saved(portal: NewPage, stars: App, scripted: bool) -> None:
    page = portal("/portal/apps/stars/", java_script_enabled=scripted)
    page.get_by_role("link", name="Listing", exact=True).first.click()
    page.get_by_role("link", name="Access", exact=True).click()
    save, url = page.get_by_role("button", name="Save"), page.get_by_label("Redirect URL")
    expect(save).to_be_visible(visible=not scripted)  # with scripts, once something is unsaved
    before = url.input_value()
    url.fill("https://stars.example.com/connected")
    expect(save).to_be_in_viewport()
    if scripted:
        url.fill(before)
        expect(save).to_be_hidden()
        url.fill("https://stars.example.com/connected")
    save.click()
    expect(page.get_by_role("status")).to_contain_text("Saved.")
    expect(url).to_have_value("https://stars.example.com/connected")
    stars.refresh_from_db()
    assert stars.redirect_url == "https://stars.example.com/connected"


def test_leaving_unsaved_details_asks_first(portal: NewPage, stars: App) -> None:
    asked: list[str] = []
    page = portal("/portal/apps/stars/details/")

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.get_by_label("Name").press_sequentially(" 2")
    page.get_by_role("link", name="Access", exact=True).click(no_wait_after=True)
    expect(page.get_by_text("Unsaved changes")).to_be_visible()
    assert asked == ["beforeunload"]
    page.get_by_role("link", name="Discard").click()
    expect(page.get_by_label("Name")).to_have_value("Loyalty Stars")
    page.get_by_role("link", name="Access", exact=True).click()
    expect(page.get_by_label("Redirect URL")).to_be_visible()
    assert asked == ["beforeunload"]
