"""The frame and the components as people meet them: by eye, by keyboard, on a phone, without JavaScript."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from accounts.models import User
from tests import factories

from .axe import violations
from .chromium import overflow
from .conftest import PHONE, NewPage, SignIn


@pytest.fixture
def styleguide(new_page: NewPage, sign_in: SignIn, dana: User) -> NewPage:
    """Makes a page that shows the style guide, to a member of the staff."""
    User.objects.filter(pk=dana.pk).update(is_staff=True)

    def make(path: str = "/_styleguide/", **options: Any) -> Page:
        page = new_page(**options)
        sign_in(page.context, dana)
        page.goto(path)
        return page

    return make


def test_a_long_name_fits_the_top_bar_of_a_phone(new_page: NewPage, sign_in: SignIn, dana: User) -> None:
    User.objects.filter(pk=dana.pk).update(name="Wolfeschlegelsteinhausenbergerdorff " * 3)
    page = new_page(viewport={"width": 320, "height": 640})
    sign_in(page.context, dana)
    page.goto("/")
    assert overflow(page) == 0
    assert page.locator(".top-bar").bounding_box()["height"] == 56  # type: ignore[index]


@pytest.mark.parametrize("scripted", [True, False])
def test_theme_is_switched_from_the_top_bar(new_page: NewPage, scripted: bool) -> None:
    page = new_page(java_script_enabled=scripted, color_scheme="light")
    page.goto("/licenses/")
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("button", name="Dark", exact=True).click()
    expect(page).to_have_url(re.compile("/licenses/$"))
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("body")).to_have_css("background-color", "rgb(14, 17, 22)")


@pytest.mark.parametrize("scripted", [True, False])
@pytest.mark.parametrize("path", ["/", "/docs/"])
def test_visitor_reaches_everything_from_the_menu_of_a_phone(
    new_page: NewPage, scripted: bool, path: str
) -> None:
    page = new_page(**PHONE, java_script_enabled=scripted)
    page.goto(path)
    menu = page.locator(".site-menu")
    expect(menu.get_by_role("link", name="Register")).to_be_hidden()
    menu.locator("summary").click()
    for name in ("Marketplace", "Docs", "Register"):
        expect(menu.get_by_role("link", name=name)).to_be_visible()
    assert overflow(page) == 0
    if scripted:
        assert violations(page) == []
        page.keyboard.press("Escape")
        expect(menu.get_by_role("link", name="Register")).to_be_hidden()
    else:
        menu.get_by_role("link", name="Register").click()
        expect(page).to_have_url(re.compile("/accounts/register/"))


def test_account_menu_names_who_is_signed_in(page: Page, sign_in: SignIn, dana: User) -> None:
    sign_in(page.context, dana)
    page.goto("/")
    page.get_by_role("button", name="Account of Dana").click()
    expect(page.locator("#account-menu")).to_contain_text("dana@example.com")
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.locator("#account-menu")).to_be_hidden()
    expect(page.get_by_role("button", name="Account of Dana")).to_be_focused()


@pytest.mark.parametrize("scripted", [True, False])
def test_side_navigation_opens_on_a_phone(styleguide: NewPage, scripted: bool) -> None:
    page = styleguide(**PHONE, java_script_enabled=scripted)
    link = page.locator(".side-nav").get_by_role("link", name="Front page")
    expect(link).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(link).to_be_visible()
    page.keyboard.press("Escape")
    expect(link).to_be_hidden()


def test_side_navigation_stands_beside_the_content_of_a_desktop(styleguide: NewPage) -> None:
    page = styleguide()
    expect(page.locator(".side-nav")).to_be_visible()
    expect(page.get_by_role("button", name="Menu")).to_be_hidden()
    expect(page.locator(".side-nav [aria-current=page]")).to_have_text("Style guide")


def test_keyboard_skips_to_the_content(styleguide: NewPage) -> None:
    page = styleguide()
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_copy_says_copied_and_keeps_its_width(styleguide: NewPage) -> None:
    page = styleguide(permissions=["clipboard-read", "clipboard-write"])
    button = page.get_by_role("button", name="Copy Access token")
    width = button.bounding_box()["width"]  # type: ignore[index]
    button.click()
    expect(button.locator(".done")).to_have_css("opacity", "1")
    expect(page.locator("div[role=status]").last).to_have_text("Copied")
    assert button.bounding_box()["width"] == width  # type: ignore[index]
    assert page.evaluate("navigator.clipboard.readText()") == page.get_by_label("Access token").input_value()
    expect(button.locator(".idle")).to_have_css("opacity", "1")


def test_copy_selects_the_text_where_the_clipboard_is_refused(styleguide: NewPage) -> None:
    page = styleguide()
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }")
    page.get_by_role("button", name="Copy Your first request").click()
    expect(page.locator("div[role=status]").last).to_contain_text("Press Control and C")
    assert page.evaluate("getSelection().toString()").startswith("curl")


def test_slug_follows_the_name_until_it_is_changed(styleguide: NewPage) -> None:
    page = styleguide()
    name, slug = page.locator("#id_name"), page.locator("#id_slug")
    name.fill("  Zoë’s  Loyalty & Stars!")
    expect(slug).to_have_value("zoe-s-loyalty-stars")
    slug.fill("stars")
    name.fill("Another")
    expect(slug).to_have_value("stars")


def test_characters_are_counted_as_people_count_them(styleguide: NewPage) -> None:
    page = styleguide()
    counter = page.locator("[data-counter=id_description]")
    page.locator("#id_description").fill("Brötchen 🥐")
    expect(counter).to_have_text("10 of 300 characters")
    page.locator("#id_description").evaluate("field => field.removeAttribute('maxlength')")
    page.locator("#id_description").fill("x" * 301)
    expect(counter).to_have_css("color", "rgb(179, 38, 30)")


def test_password_is_shown_and_hidden(styleguide: NewPage) -> None:
    page = styleguide()
    password = page.locator("#id_password")
    page.get_by_role("button", name="Show Password").first.click()
    expect(password).to_have_attribute("type", "text")
    page.get_by_role("button", name="Hide Password").click()
    expect(password).to_have_attribute("type", "password")


@pytest.mark.parametrize("scripted", [True, False])
def test_refused_form_names_each_problem_and_keeps_what_was_typed(
    styleguide: NewPage, scripted: bool
) -> None:
    page = styleguide(java_script_enabled=scripted)
    page.locator("#id_name").fill("Loyalty Stars")
    page.get_by_role("button", name="Send it").click()
    expect(page).to_have_title(re.compile("^Error: Style guide"))
    expect(page.locator("#id_name")).to_have_value("Loyalty Stars")
    summary = page.locator("form[method=post] .error-summary")
    expect(summary).to_be_focused()
    summary.get_by_role("link", name="Description is required.").click()
    expect(page.locator("#id_description")).to_be_focused()


def test_a_form_is_sent_once(styleguide: NewPage) -> None:
    page = styleguide()
    sent: list[str] = []

    def answer_nothing(route: Route) -> None:
        sent.append(route.request.method)
        route.fulfill(status=204)  # leaves the page as it is

    page.route("**/_styleguide/", answer_nothing)
    page.evaluate("""() => {
        const button = document.querySelector("form.form button:not([type])");
        button.click();
        button.click();
    }""")
    expect(page.get_by_role("button", name="Send it")).to_have_attribute("aria-disabled", "true")
    assert sent == ["POST"]


def test_paper_is_light_and_bears_nothing_to_press(styleguide: NewPage) -> None:
    page = styleguide(color_scheme="dark")
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("button", name="Dark", exact=True).click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    facts = page.locator(".facts-line")
    screen = facts.evaluate("each => getComputedStyle(each).color")
    page.emulate_media(media="print")
    assert facts.evaluate("each => getComputedStyle(each).color") != screen  # which is made for a dark ground
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    for pressed in (".button", ".tabs", ".side-nav", ".top-bar"):
        assert page.locator(pressed).count()
        expect(page.locator(pressed).filter(visible=True)).to_have_count(0)


def test_the_search_box_has_what_one_opened_and_may_do(
    new_page: NewPage, sign_in: SignIn, dana: User, mira: User
) -> None:
    """It is kept for this person alone, until they sign out."""
    app = factories.app(dana, name="Loyalty Stars", slug="stars")
    page = new_page()
    sign_in(page.context, dana)
    page.goto("/portal/")
    rows = page.locator("#search li")
    page.keyboard.press("/")
    expect(rows.first).to_contain_text("Place a test order")
    expect(rows.first).to_contain_text("Action")
    page.keyboard.type("loyal")
    expect(rows.first).to_contain_text("Loyalty Stars")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/portal/apps/{app.slug}/")
    page.keyboard.press("/")
    expect(rows.first).to_contain_text("Loyalty Stars")
    expect(rows.first).to_contain_text("Recent")
    page.keyboard.type("zeppelin")
    expect(page.locator("#search")).to_contain_text("No results for “zeppelin”.")
    sign_in(page.context, mira)
    page.goto("/merchant/")
    page.keyboard.press("/")
    expect(rows.first).to_contain_text("Action")
    assert page.evaluate("localStorage.getItem('search-recent')") is None
    page.keyboard.type("orders")
    expect(rows.first).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/merchant/orders/**")
    assert page.evaluate("localStorage.getItem('search-recent')")
    page.get_by_role("button", name="Account of").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in").first).to_be_visible()
    assert page.evaluate("localStorage.getItem('search-recent')") is None


def test_the_search_box_without_a_script_leads_to_its_page(
    new_page: NewPage, sign_in: SignIn, dana: User
) -> None:
    page = new_page(java_script_enabled=False)
    sign_in(page.context, dana)
    page.goto("/portal/")
    page.get_by_role("button", name="Search").click()
    box = page.locator("#search").bounding_box()
    field = page.locator("#search input").bounding_box()
    assert box
    assert field
    assert box["height"] - field["height"] < 24  # and no empty strip
    page.locator("#search input").fill("zeppelin")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No results for “zeppelin”.")).to_be_visible()
