"""The storefront's pages and the store's settings, as the merchant makes them."""

from datetime import UTC, datetime
from html import unescape

import pytest
import time_machine

from stores.models import SitePage, StoreSettings
from stores.queries import delivery_fee
from stores.services.pages import create_page
from tests import factories
from tests.merchants.counting import statements_of
from tests.merchants.pages import signed_in, text_of

LIST = "/merchant/pages/"
NEW = {"title": "Opening hours", "slug": "", "content": "<p>Daily.</p>", "is_published": "on"}


@pytest.fixture
def browser(mira):
    return signed_in(mira)


def words(response):
    return unescape(text_of(response))


# --- Pages ------------------------------------------------------------------------------------------


@pytest.mark.spec("Contract 7 Pages", "/merchant/ holds pages with blocks: Edit leads to the page editor")
def test_pages_are_listed_with_their_address_state_and_editor(browser, shop):
    about = create_page(business=shop, title="About us", slug="about")
    create_page(business=shop, title="Holidays", slug="holidays", is_published=False)
    page = words(browser.get(LIST))
    assert page.index("Holidays") < page.index("About us")
    assert f'href="http://stores.test/store/{shop.slug}/pages/about/"' in page
    assert f'href="http://stores.test/store/{shop.slug}/pages/holidays/"' not in page
    assert "Not published" in page
    edit = f"/merchant/pages/{about.pk}/edit/"
    assert f'href="{edit}">Edit<' in page
    assert browser.get(edit).status_code == 200


def test_list_takes_the_same_statements_however_many_pages(browser, shop):
    def statements_with_more(pages):
        for _ in range(pages):
            create_page(business=shop, title="A page")
        return statements_of(browser, LIST)

    assert statements_with_more(1) == statements_with_more(3)


def test_page_is_added_and_cleaned(browser, shop):
    response = browser.post(
        f"{LIST}add/", NEW | {"content": "<p>Daily.</p><script>x()</script>"}, follow=True
    )
    made = SitePage.objects.get(business=shop)
    assert response.redirect_chain == [(LIST, 302)]
    assert (made.slug, made.content, made.is_published) == ("opening-hours", "<p>Daily.</p>", True)
    assert "Page Opening hours added." in words(response)


@pytest.mark.parametrize(
    ("field", "typed", "message"),
    [
        ("title", "", "Enter a title."),
        ("slug", "opening hours", "Use letters, digits and hyphens."),
        ("slug", "taken", "The address “taken” is taken."),
    ],
)
def test_page_with_a_fault_is_not_added_and_keeps_what_was_typed(browser, shop, field, typed, message):
    create_page(business=shop, title="The other", slug="taken")
    response = browser.post(f"{LIST}add/", NEW | {field: typed})
    assert response.status_code == 422
    assert f'href="#id_{field}">{message}' in words(response)
    assert "<p>Daily.</p>" in words(response)
    assert SitePage.objects.get().title == "The other"


def test_deleting_a_page_asks_first(browser, shop):
    about = create_page(business=shop, title="About us", slug="about")
    assert "Delete <span" in text_of(browser.get(f"{LIST}{about.pk}/delete/"))
    assert SitePage.objects.exists()
    response = browser.post(f"{LIST}{about.pk}/delete/", follow=True)
    assert "Page About us deleted." in words(response)
    assert not SitePage.objects.exists()
    assert browser.post(f"{LIST}{about.pk}/delete/").status_code == 404


# --- Store settings ---------------------------------------------------------------------------------


def test_delivery_fee_is_shown_and_set(browser, shop):
    assert 'value="5.00"' in text_of(browser.get("/merchant/store/"))
    response = browser.post("/merchant/store/", {"delivery_fee": "3.5"}, follow=True)
    assert "Saved." in text_of(response)
    assert 'value="3.50"' in text_of(response)
    assert delivery_fee(shop, "DELIVERY") == 350
    assert shop.name in words(response)


@pytest.mark.parametrize("typed", ["", "-1", "3.505", "abc"])
def test_fee_that_is_none_is_told_and_changes_nothing(browser, shop, typed):
    response = browser.post("/merchant/store/", {"delivery_fee": typed})
    assert response.status_code == 422
    assert 'href="#id_delivery_fee"' in text_of(response)
    assert not StoreSettings.objects.exists()


# --- The overview -----------------------------------------------------------------------------------


def figures(browser):
    page = words(browser.get("/merchant/"))
    return [part.split("</p>")[0] for part in page.split('<p class="value">')[1:]]


def test_overview_tells_of_today_in_the_zone_of_the_shop(browser, shop):
    shop.timezone = "Europe/Lisbon"  # one hour ahead of UTC in summer
    shop.save()
    midnight = datetime(2026, 7, 14, 23, 0, tzinfo=UTC)
    factories.order(shop, created_at=midnight.replace(minute=30), amount=1000, subtotal=1000)
    factories.order(shop, created_at=midnight, status="READY")
    factories.order(shop, created_at=midnight, status="CANCELLED")
    factories.order(shop, created_at=midnight.replace(hour=22, minute=59))
    with time_machine.travel(datetime(2026, 7, 15, 12, 0, tzinfo=UTC), tick=False):
        assert figures(browser) == ["3", "30.00 USD", "2", "0"]
    with time_machine.travel(datetime(2026, 7, 16, 12, 0, tzinfo=UTC), tick=False):
        assert figures(browser) == ["0", "0.00 USD", "2", "0"]


def test_overview_counts_what_is_low_or_sold_out(browser, shop, sandbox):
    factories.product(shop, stock=0)
    factories.product(shop, stock=4, low_stock_threshold=5)
    factories.product(shop, stock=5, low_stock_threshold=5)
    factories.product(shop, low_stock_threshold=5)
    factories.product(shop, stock=0, status="ARCHIVED")
    factories.product(sandbox, stock=0)
    assert figures(browser)[3] == "2"
    assert 'href="/merchant/products/?show=low"' in text_of(browser.get("/merchant/"))


def test_overview_of_an_empty_shop_is_calm(browser, shop):
    page = text_of(browser.get("/merchant/"))
    assert figures(browser) == ["0", "0.00 USD", "0", "0"]
    assert "No orders to confirm" in page
    assert "Everything is in stock" in page
