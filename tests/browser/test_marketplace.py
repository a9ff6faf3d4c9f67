"""The marketplace as visitors use it: by eye, by keyboard, on a phone, without JavaScript."""

import re

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from installations.services.lifecycle import Terms, install
from marketplace.models import App
from marketplace.services.apps import update_app
from marketplace.services.pictures import decode
from tests import factories
from tests.pictures import picture, upload

from .axe import violations
from .conftest import PHONE, NewPage, SignIn


@pytest.fixture
def bell(dana: User, shop: Business) -> App:
    """Dana's listed app with three pictures, which Mira has on her shop; another one beside it."""
    app = factories.app(
        dana, name="Order Bell", slug="order-bell", category="communication", scopes=["read_orders"]
    )
    shots = [decode(upload(picture(size=(80, 40 + number)))) for number in range(3)]
    app = update_app(app=app, changes={"icon": decode(upload()), "screenshots": shots})
    factories.approve(app)
    install(
        app=app, business=shop, installed_by=shop.owner, terms=Terms(is_test=False, granted_scopes=app.scopes)
    )
    factories.approve(
        factories.app(dana, name="Quotes" * 13, slug="quotes", category="shipping", description="words " * 50)
    )
    return app


@pytest.mark.spec("Contract 7 Pages", "From the front page to an app's Install by search and filters")
@pytest.mark.parametrize("scripted", [True, False])
def test_visitor_finds_an_app_and_meets_install(new_page: NewPage, bell: App, scripted: bool) -> None:
    page = new_page(java_script_enabled=scripted)
    page.goto("/")
    page.get_by_label("Search apps").fill("dana")
    page.keyboard.press("Enter")
    expect(page.locator(".found")).to_contain_text("2 apps")
    page.get_by_role("link", name="Communication 1 app").click()
    expect(page.locator(".found")).to_have_text("1 app in Communication for “dana”")
    page.get_by_label("Changes nothing").check()
    if scripted:
        page.wait_for_url("**without=changes*")
    page.get_by_label("Sort by").select_option("Name")
    if scripted:
        page.wait_for_url("**sort=name*")
    else:
        page.get_by_role("button", name="Apply").click()
    for part in ("q=dana", "category=communication", "without=changes", "sort=name"):
        assert part in page.url
    expect(page.get_by_label("Changes nothing")).to_be_checked()
    expect(page.get_by_label("Search apps")).to_have_value("dana")
    expect(page.get_by_role("link", name="Communication 1 app")).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name="Order Bell").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Order Bell")
    button = page.get_by_role("link", name="Install", exact=True)
    expect(button).to_have_attribute("href", re.compile(r"^/oauth/authorize\?response_type=code&client_id="))


def test_permissions_stand_before_install_on_a_phone(new_page: NewPage, bell: App) -> None:
    page = new_page(**PHONE)
    page.goto("/marketplace/order-bell/")
    permission = page.get_by_text("See your orders").bounding_box()
    button = page.get_by_role("link", name="Install", exact=True).bounding_box()
    assert permission
    assert button
    assert permission["y"] < button["y"]


def test_merchant_sees_where_the_app_is_installed(page: Page, sign_in: SignIn, bell: App, mira: User) -> None:
    sign_in(page.context, mira)
    page.goto("/marketplace/")
    expect(page.locator(".app-card", has_text="Order Bell")).to_contain_text("Installed")
    page.get_by_role("link", name="Order Bell").click()
    expect(page.locator(".install")).to_contain_text("Mira's shop")
    expect(page.get_by_role("link", name="Install", exact=True)).to_have_count(0)


def test_pictures_open_and_turn_by_keyboard(page: Page, bell: App) -> None:
    page.goto("/marketplace/order-bell/")
    first = page.get_by_role("link", name="Picture 1 of 3")
    first.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Pictures of Order Bell")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_role("img")).to_have_attribute("alt", re.compile("^Picture 1 of 3"))
    assert violations(page) == []
    page.keyboard.press("ArrowLeft")
    expect(dialog.locator(".place")).to_have_text("3 of 3")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(dialog.locator(".place")).to_have_text("2 of 3")
    expect(dialog.get_by_role("img")).to_have_attribute("src", re.compile(str(bell.screenshot_ids[1])))
    dialog.get_by_role("button", name="Next picture").click()
    expect(dialog.locator(".place")).to_have_text("3 of 3")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("link", name="Picture 3 of 3")).to_be_focused()


def test_pictures_are_links_without_javascript(new_page: NewPage, bell: App) -> None:
    page = new_page(java_script_enabled=False)
    page.goto("/marketplace/order-bell/")
    expect(page.get_by_role("dialog")).to_have_count(0)
    address = page.get_by_role("link", name="Picture 2 of 3").get_attribute("href")
    assert address == f"/media/pictures/{bell.screenshot_ids[1]}"
    assert page.request.get(address).headers["content-type"] == "image/png"
