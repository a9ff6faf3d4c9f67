"""Plots for those who don't see them in colors on a screen with a mouse."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from stores.models import Order
from tests import factories
from tests.deliveries import OK, delivery
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus

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


@pytest.fixture
def analytics(dana: User, shop: Business) -> str:
    """The path of an app's plots, three of which have figures."""
    app = factories.app(dana)
    factories.approve(app)
    webhook = helpers.webhook(
        factories.installation(app, shop, is_test=False), "https://a.example/", ["order.created"]
    )
    delivery(webhook, DeliveryStatus.SUCCEEDED, OK)
    return f"/portal/apps/{app.slug}/analytics/?range=7d"


def test_one_crosshair_says_a_day_in_all_plots(
    new_page: NewPage, sign_in: SignIn, dana: User, analytics: str
) -> None:
    page = new_page()
    sign_in(page.context, dana)
    page.goto(analytics)
    plots = page.locator("[data-plot]")
    plots.first.locator("> :is(a, g)").nth(2).hover()
    expect(page.locator(".cross")).to_have_count(plots.count())
    assert plots.count() > 2
    assert len(set(page.locator(".cross-said strong").all_inner_texts())) == 1
    expect(page.locator(".cross-said").first).to_contain_text("installs 0, uninstalls 0")
    page.keyboard.press("Escape")
    expect(page.locator(".cross")).to_have_count(0)


def test_a_finger_sees_a_day_before_it_opens_it(
    new_page: NewPage, sign_in: SignIn, dana: User, analytics: str
) -> None:
    page = new_page(has_touch=True)
    sign_in(page.context, dana)
    page.goto(analytics)
    today = page.locator("[data-plot] a[href*=deliveries] .hover").last
    today.tap()
    expect(page.locator(".cross-said").first).to_be_visible()
    assert page.url.endswith(analytics)
    today.tap()
    page.wait_for_url("**/deliveries/?since=**")


def test_one_button_shows_the_tables_of_all_plots(
    new_page: NewPage, sign_in: SignIn, dana: User, analytics: str
) -> None:
    page = new_page()
    sign_in(page.context, dana)
    page.goto(analytics)
    number = page.locator("[data-plot]").count()
    expect(page.locator(".chart-card summary:visible")).to_have_count(0)
    page.get_by_role("button", name="Show tables").click()
    expect(page.locator(".chart-card table:visible")).to_have_count(number)
    expect(page.locator("[data-plot]:visible")).to_have_count(0)
    page.get_by_role("button", name="Show plots").click()
    expect(page.locator("[data-plot]:visible")).to_have_count(number)


def test_without_a_script_each_plot_has_its_table(
    new_page: NewPage, sign_in: SignIn, dana: User, analytics: str
) -> None:
    page = new_page(java_script_enabled=False)
    sign_in(page.context, dana)
    page.goto(analytics)
    expect(page.get_by_role("button", name="Show tables")).to_be_hidden()
    page.get_by_text("Table of webhook latency").click()
    expect(page.locator(".chart-card table:visible")).to_have_count(1)
