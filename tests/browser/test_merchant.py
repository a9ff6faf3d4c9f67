"""The merchant's pages as a merchant uses them."""

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from installations.models import Installation
from installations.services import uninstall
from tests import factories
from tests.merchants.pages import ask_for_more, installed, listed_app

from .conftest import NewPage, SignIn


@pytest.fixture
def merchant(new_page: NewPage, sign_in: SignIn, mira: User) -> NewPage:
    """Makes a page that Mira sees."""

    def make(path: str, **options: object) -> Page:
        page = new_page(**options)
        sign_in(page.context, mira)
        page.goto(path)
        return page

    return make


@pytest.fixture
def stars(dana: User, shop: Business) -> Installation:
    """Asks for more, beside an app that works and one that is uninstalled."""
    app = listed_app(dana, ["read_products", "read_orders"], name="Loyalty Stars", slug="stars")
    asking = installed(app, shop)
    ask_for_more(asking, ["read_products", "read_orders", "read_reviews"], "To thank reviewers with a star.")
    installed(listed_app(dana, ["read_orders"], name="Parcel Quotes"), shop)
    factories.business(
        shop.owner, name="A shop whose name goes on for as long as eighty characters do allow it"
    )
    return asking


@pytest.fixture
def paths(dana: User, shop: Business, stars: Installation) -> dict[str, object]:
    past = installed(listed_app(dana, ["read_orders"], name="Till Bridge"), shop)
    uninstall(installation=past, by=shop.owner)
    return {"stars": stars.pk, "past": past.pk}


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.parametrize("scripted", [True, False])
def test_agreeing_to_more_takes_two_presses(merchant: NewPage, stars: Installation, scripted: bool) -> None:
    page = merchant("/merchant/", java_script_enabled=scripted)
    page.get_by_role("link", name="Review (Loyalty").click()
    expect(page.get_by_text("To thank reviewers with a star.")).to_be_visible()
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("can use its new permissions now")).to_be_visible()
    stars.refresh_from_db()
    assert stars.granted_scopes == ["read_products", "read_orders", "read_reviews"]
    assert not stars.needs_reconsent


@pytest.mark.parametrize("scripted", [True, False])
def test_keeping_an_app_as_it_is_takes_two_presses(
    merchant: NewPage, stars: Installation, scripted: bool
) -> None:
    page = merchant("/merchant/", java_script_enabled=scripted)
    page.get_by_role("link", name="Review (Loyalty").click()
    page.get_by_role("button", name="Not now").click()
    expect(page.get_by_text("keeps its current permissions")).to_be_visible()
    page.goto("/merchant/")
    expect(page.get_by_role("link", name="Review (Loyalty")).to_have_count(0)
    stars.refresh_from_db()
    assert stars.granted_scopes == ["read_products", "read_orders"]


def test_agreeing_on_the_list_takes_one_press(merchant: NewPage, stars: Installation) -> None:
    page = merchant("/merchant/apps/")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("can use its new permissions now")).to_be_visible()


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.parametrize("scripted", [True, False])
def test_uninstall_takes_two_presses_from_the_apps_page(
    merchant: NewPage, stars: Installation, scripted: bool
) -> None:
    page = merchant(f"/merchant/apps/{stars.pk}/", java_script_enabled=scripted)
    page.get_by_role("link", name="Uninstall", exact=True).click()
    page.get_by_role("button", name="Uninstall", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="Receipt for Loyalty Stars")).to_be_visible()
    expect(page.get_by_text("Planned", exact=True)).to_be_visible()
    stars.refresh_from_db()
    assert not stars.is_active


def test_receipt_prints_alone(merchant: NewPage, paths: dict[str, object]) -> None:
    page = merchant(f"/merchant/apps/{paths['past']}/receipt/")
    expect(page.get_by_role("button", name="Print")).to_be_visible()
    page.emulate_media(media="print")
    for hidden in (".top-bar", ".side-nav", ".footer", ".breadcrumb", ".button"):
        assert all(not part.is_visible() for part in page.locator(hidden).all())
    expect(page.get_by_role("heading", name="Your data")).to_be_visible()


def test_merchant_switches_to_another_shop_and_adds_one(merchant: NewPage, stars: Installation) -> None:
    page = merchant("/merchant/")
    other = Business.objects.latest("created_at").name
    page.locator(".tile summary").click()
    page.get_by_role("form", name="Other stores").get_by_role("button", name=other).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(Business.objects.latest("created_at").name)
    page.get_by_role("link", name="Businesses").first.click()
    page.get_by_role("link", name="Add a business").click()
    page.get_by_label("Store name").fill("Corner Café")
    page.get_by_role("button", name="Add a business").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Corner Café")
