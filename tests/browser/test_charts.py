"""Plots for those who don't see them in colors on a screen with a mouse."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from stores.models import Order
from tests import factories

from .conftest import NewPage, SignIn

BAR = ".chart .bar.first"


@pytest.fixture
def home(new_page: NewPage, sign_in: SignIn, mira: User, shop: Business) -> Page:
    """Mira's home page with an order of today and one of three days ago."""
    orders = [factories.order(shop) for _ in range(2)]
    Order.objects.filter(pk=orders[0].pk).update(created_at=timezone.now() - timedelta(days=3))
    page = new_page(forced_colors="active")
    sign_in(page.context, mira)
    page.goto("/merchant/")
    return page


def test_forced_colors_draw_bars_as_text_and_tell_them_apart_by_pattern(home: Page) -> None:
    bar, plot = home.locator(".chart .bar.second").first, home.locator(".plot")
    expect(bar).to_have_css(
        "fill", plot.evaluate("e => { e.style.color = 'CanvasText'; return getComputedStyle(e).color }")
    )
    assert home.locator(".chart rect[fill^='url(#hatch']").count() == 2


def test_a_day_leads_to_its_orders_by_keyboard(home: Page) -> None:
    home.get_by_text("Table of sales by day").focus()
    home.keyboard.press("Enter")
    home.keyboard.press("Tab")  # the table, which scrolls
    home.keyboard.press("Tab")
    focused = home.locator(":focus")
    assert focused.evaluate("e => e.closest('table') !== null")
    home.keyboard.press("Enter")
    home.wait_for_url("**/merchant/orders/?since=**")
    expect(home.locator(".table tbody tr")).to_have_count(1)


def test_print_shows_the_plot_and_leaves_out_what_cannot_be_opened(home: Page) -> None:
    home.emulate_media(media="print", forced_colors="none")
    expect(home.locator(".plot")).to_be_visible()
    expect(home.get_by_text("Table of sales by day")).to_be_hidden()
