"""What people type, in a browser: it outlives a session that ended, and a page in another tab."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Business, Session, User
from stores.models import Product, StoreSettings
from stores.services.settings import change_look
from tests import factories
from tests.browser.axe import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.journey]


@pytest.mark.long
@pytest.mark.spec(
    "Contract 15 Doors",
    "A form that was sent after its session ended is shown again, filled, after signing in",
)
def test_product_that_was_typed_while_the_session_ended_is_saved_after_signing_in(
    page: Page, sign_in: Any, mira: User, shop: Business
) -> None:
    bread = factories.product(shop, name="Bread")
    sign_in(page.context, mira)
    page.goto(f"/merchant/products/{bread.pk}/")
    Session.objects.all().delete()
    page.get_by_label("Name", exact=True).fill("Country sourdough")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("You were signed out, so nothing was saved.")).to_be_visible()
    page.get_by_label("E-mail").fill(mira.email)
    page.get_by_label("Password", exact=True).fill(factories.PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Country sourdough")
    expect(page.get_by_text("Unsaved changes")).to_be_visible()
    assert Product.objects.get().name == "Bread"
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert Product.objects.get().name == "Country sourdough"


@pytest.mark.long
@pytest.mark.spec(
    "Contract 15 Doors", "Where the same field was changed meanwhile, the page shows both (409)"
)
def test_both_values_of_a_field_are_shown_and_a_press_decides(
    page: Page, sign_in: Any, mira: User, shop: Business
) -> None:
    sign_in(page.context, mira)
    page.goto("/merchant/store/")
    change_look(business=shop, tagline="Since 1987", hero_text="We bake at five.")
    page.get_by_label("Tagline").fill("Fresh every day")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_label("Tagline")).to_have_value("Fresh every day")
    expect(page.locator(".theirs .words")).to_have_text("Since 1987")
    assert violations(page) == []
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    look = StoreSettings.objects.get(business=shop)
    assert (look.tagline, look.hero_text) == ("Fresh every day", "We bake at five.")
