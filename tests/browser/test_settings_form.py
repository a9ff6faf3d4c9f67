"""A merchant fills in an app's settings, by keyboard, with and without JavaScript."""

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from installations.models import Installation
from tests.extensions.settings import give_settings
from tests.merchants.pages import installed, listed_app, page_of

from .axe import violations
from .chromium import overflow
from .conftest import PHONE, NewPage, SignIn

LOOKS = {"light": {"color_scheme": "light"}, "dark": {"color_scheme": "dark"}, "phone": PHONE}


@pytest.fixture
def stars(dana: User, shop: Business) -> Installation:
    return installed(give_settings(listed_app(dana, ["read_orders"], name="Loyalty Stars")), shop)


@pytest.fixture
def settings_page(new_page: NewPage, sign_in: SignIn, mira: User, stars: Installation) -> NewPage:
    def make(**options: object) -> Page:
        page = new_page(**options)
        sign_in(page.context, mira)
        page.goto(page_of(stars, "settings/"))
        return page

    return make


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).focus()
    page.keyboard.press("Enter")


@pytest.mark.parametrize("scripted", [True, False])
def test_list_is_filled_and_moved_by_keyboard(
    settings_page: NewPage, stars: Installation, scripted: bool
) -> None:
    page = settings_page(java_script_enabled=scripted)
    page.get_by_label("Heading").fill("Typed before")
    press(page, "Add to Treats")
    second = page.get_by_role("group", name="Treat 2").get_by_label("Name")
    if scripted:
        expect(second).to_be_focused()
    second.fill("A free cake")
    press(page, "Move Treat 2 up")
    first = page.get_by_role("group", name="Treat 1").get_by_label("Name")
    expect(first).to_have_value("A free cake")
    if scripted:  # it is the first now: the other button of the same entry has the focus
        expect(page.get_by_role("button", name="Move Treat 1 down")).to_be_focused()
        assert violations(page) == []
    press(page, "Add to Closed days")
    page.get_by_label("Day 1").fill("Sunday")
    press(page, "Remove Treat 2")
    expect(page.get_by_role("group", name="Treat 2")).to_have_count(0)
    page.get_by_label("Heading").press("Enter")  # saves, and presses no list's button
    expect(page.get_by_text("sees the new settings")).to_be_visible()
    stars.refresh_from_db()
    assert stars.settings["heading"] == "Typed before"
    assert stars.settings["treats"] == [{"name": "A free cake"}]
    assert stars.settings["closedDays"] == ["Sunday"]
    assert "ink" not in stars.settings


def test_picking_a_color_means_that_there_is_one(settings_page: NewPage, stars: Installation) -> None:
    page = settings_page()
    none = page.get_by_label("None", exact=True)
    expect(none).to_be_checked()
    page.get_by_label("Text color").fill("#ff0000")
    expect(none).not_to_be_checked()
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_text("sees the new settings")).to_be_visible()
    stars.refresh_from_db()
    assert stars.settings["ink"] == "#ff0000"


def test_errors_lead_to_their_fields(settings_page: NewPage) -> None:
    page = settings_page()
    page.get_by_label("Stamps needed").fill("99")
    press(page, "Remove Treat 1")
    expect(page.get_by_role("group", name="Treat 1")).to_have_count(0)
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_role("alert")).to_be_focused()
    assert violations(page) == []
    page.get_by_role("link", name="Treats must have at least 1 entry.").click()
    expect(page.get_by_role("group", name="Treats")).to_be_focused()


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_page_is_accessible(settings_page: NewPage, look: str) -> None:
    page = settings_page(**LOOKS[look])
    assert violations(page) == []
    expect(page.locator("h1")).to_have_count(1)
    assert page.locator(".button.primary").count() == 1


@pytest.mark.slow
def test_page_fits_a_window_of_320_pixels(settings_page: NewPage) -> None:
    assert overflow(settings_page(viewport={"width": 320, "height": 640})) == 0
