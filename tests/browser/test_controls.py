"""A merchant's switches, cap and pause: by their labels, without JavaScript, and readable for everybody."""

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from extensions.enums import ExtensionType
from installations.models import Installation
from tests import factories
from tests.extensions.cast import define
from tests.merchants.pages import installed, listed_app

from .axe import violations
from .chromium import overflow
from .conftest import PHONE, NewPage, SignIn

DISCOUNTS, CAP = "Takes discounts off orders", "Most this app may take off an order (%)"


@pytest.fixture
def stars(dana: User, shop: Business) -> Installation:
    app = listed_app(dana, ["read_orders"], name="Loyalty Stars", webhook_url="https://app.example.com/")
    for point in ("order.calculate_discounts", "order.validate", "checkout.payment_methods"):
        factories.hook(app, point)
    define(app, ExtensionType.EMBED, "chat")
    return installed(app, shop)


def press(page: Page, button: str) -> None:
    page.get_by_role("button", name=button, exact=True).click()


@pytest.mark.spec(
    "Contract 9 Words", "Switches by the sentences of the consent page, the cap, Pause and Resume"
)
def test_without_javascript(new_page: NewPage, sign_in: SignIn, mira: User, stars: Installation) -> None:
    page = new_page(java_script_enabled=False)
    sign_in(page.context, mira)
    page.goto(f"/merchant/apps/{stars.pk}/")
    page.get_by_label(DISCOUNTS, exact=True).uncheck()
    page.get_by_label(CAP, exact=True).fill("15")
    press(page, "Save")
    expect(page.get_by_label(DISCOUNTS, exact=True)).not_to_be_checked()
    expect(page.get_by_label("Can refuse orders", exact=True)).to_be_checked()
    expect(page.get_by_label(CAP, exact=True)).to_have_value("15")
    press(page, "Pause")
    expect(page.get_by_text("You paused this app on")).to_be_visible()
    press(page, "Resume")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()


@pytest.mark.parametrize("paused", [False, True])
@pytest.mark.parametrize("look", [{}, PHONE], ids=["desktop", "phone"])
def test_page_is_accessible(
    new_page: NewPage, sign_in: SignIn, mira: User, stars: Installation, look: dict[str, object], paused: bool
) -> None:
    page = new_page(**look)
    sign_in(page.context, mira)
    page.goto(f"/merchant/apps/{stars.pk}/")
    if paused:
        press(page, "Pause")
    assert violations(page) == []
    assert overflow(page) == 0
