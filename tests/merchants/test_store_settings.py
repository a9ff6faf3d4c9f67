"""A store's settings: what it is called, how it looks, its money and time."""

from datetime import UTC, datetime
from html import unescape

import pytest
import time_machine

from accounts.models import Business
from stores.models import Product, StorePicture, StoreSettings
from stores.queries import delivery_fee, store_settings
from stores.services.settings import change_business
from tests import factories
from tests.pages import text_of
from tests.pictures import bomb, picture, upload

PATH = "/merchant/store/"
FORM = {
    "name": "Mira's Bakery", "type": "Bakery", "address": "1 Harbour Street", "accent": "teal", "headings": "classic", "tagline": "Bread daily",
    "hero_text": "Baked at five.", "delivery_fee": "3.5", "currency": "USD", "timezone": "Europe/Lisbon",
}  # fmt: skip


@pytest.fixture
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    return tmp_path / "stores"


def saved(browser, **changes):
    response = browser.post(PATH, FORM | changes, follow=True)
    return unescape(text_of(response))


@pytest.mark.long
def test_settings_are_saved_and_shown(browser, shop):
    slug = shop.slug
    fresh = text_of(browser.get(PATH))
    assert 'value="5.00"' in fresh
    assert "object at" not in fresh
    page = saved(browser)
    assert "Saved." in page
    shop.refresh_from_db()
    assert (shop.name, shop.type, shop.address, shop.timezone, shop.slug) == (
        "Mira's Bakery", "Bakery", "1 Harbour Street", "Europe/Lisbon", slug,
    )  # fmt: skip
    look = store_settings(shop)
    assert (look.accent, look.headings, look.tagline, look.hero_text) == (
        "teal", "classic", "Bread daily", "Baked at five.",
    )  # fmt: skip
    assert 'data-headings="classic"' in browser.get(f"/store/{slug}/", follow=True).text
    assert delivery_fee(shop, "DELIVERY") == 350
    for shown in ('value="3.50"', "US dollar (USD)", 'value="Europe/Lisbon" selected', "Baked at five."):
        assert shown in page


def test_page_of_before_there_was_a_choice_of_headings_keeps_what_is_saved(browser, shop):
    saved(browser)
    fields = {name: value for name, value in FORM.items() if name != "headings"}
    assert "Saved." in unescape(text_of(browser.post(PATH, fields | {"tagline": "Rye"}, follow=True)))
    assert (store_settings(shop).headings, store_settings(shop).tagline) == ("classic", "Rye")


@pytest.mark.parametrize(
    ("field", "typed", "message"),
    [
        ("name", " ", "Enter a store name."),
        ("name", 121 * "n", "at most 120 characters"),
        ("address", "a\0b", "Null characters are not allowed."),
        ("accent", "#ff0000", "Select a valid choice."),
        ("headings", "Comic", "Select a valid choice."),
        ("tagline", 121 * "t", "at most 120 characters"),
        ("delivery_fee", "", "Enter a fee, or 0 for free delivery."),
        ("delivery_fee", "-1", "Enter an amount such as 12.50."),
        ("delivery_fee", "3.505", "can mean two amounts"),
        ("currency", "XXQ", "Select a valid choice."),
        ("timezone", "Mars/Olympus", "Select a valid choice."),
        ("logo", upload(b"<svg/>"), "Choose a PNG, JPEG or WebP picture."),
        ("hero_picture", upload(bomb(60_000, 60_000)), "Choose a picture of at most 25 megapixels."),
    ],
)
def test_setting_with_a_fault_is_told_at_its_field_and_changes_nothing(
    browser, shop, media, field, typed, message
):
    name = shop.name
    response = browser.post(PATH, FORM | {field: typed})
    assert response.status_code == 422
    page = unescape(text_of(response))
    assert f'href="#id_{field}' in page
    assert message in page
    assert "Bakery" in page
    shop.refresh_from_db()
    assert shop.name == name
    assert not StoreSettings.objects.exists()
    assert not media.exists()


@pytest.mark.long
def test_logo_and_picture_are_replaced_and_removed(
    browser, shop, media, client, django_capture_on_commit_callbacks
):
    logo, wide = (upload(picture("PNG", size=size)) for size in ((1600, 1600), (2400, 800)))
    page = saved(browser, logo=logo, hero_picture=wide, hero_alt="Loaves on the counter")
    look = store_settings(shop)
    assert (look.logo.width, look.hero_picture.width) == (800, 2000)
    assert look.logo.thumbnail_path in page
    assert (
        'alt="Loaves on the counter"'
        in client.get(f"/store/{shop.slug}/", headers={"host": "stores.test"}).content.decode()
    )
    saved(browser, hero_alt="The counter")
    assert store_settings(shop).hero_picture.alt == "The counter"
    assert client.get(look.logo.path)["Content-Type"] == "image/png"
    with django_capture_on_commit_callbacks(execute=True):
        saved(browser, logo=upload(picture("WEBP", size=(300, 100))), remove_hero_picture="on")
    look = store_settings(shop)
    assert (look.logo.width, look.hero_picture, StorePicture.objects.count()) == (300, None, 1)
    assert len([path for path in media.rglob("*") if path.is_file()]) == 2
    saved(browser, tagline="")
    assert store_settings(shop).logo == look.logo


@pytest.mark.long
def test_currency_is_chosen_until_the_first_order(browser, shop):
    factories.product(shop, name="Rye", price=1250)
    saved(browser, currency="JPY", delivery_fee="5.00")
    shop.refresh_from_db()
    assert (shop.currency, Product.objects.get().price, delivery_fee(shop, "DELIVERY")) == ("JPY", 13, 5)
    saved(browser, currency="KWD", delivery_fee="5")
    assert (Product.objects.get().price, delivery_fee(shop, "DELIVERY")) == (13_000, 5_000)
    shop.totals.orders = 1
    shop.totals.save()
    page = unescape(text_of(browser.get(PATH)))
    assert "Kuwaiti dinar (KWD)" in page
    assert "Your store has orders in this currency" in page
    saved(browser, currency="USD", delivery_fee="5")
    shop.refresh_from_db()
    assert shop.currency == "KWD"


def test_prices_are_converted_from_the_currency_that_the_store_has(shop):
    """And not from that of a page which was loaded before another tab changed it."""
    factories.product(shop, price=1250)
    loaded = Business.objects.get(pk=shop.pk)
    change_business(business=shop, currency="JPY")
    change_business(business=loaded, currency="USD")
    assert Product.objects.get().price == 1300


@pytest.mark.long
def test_new_time_zone_moves_the_days(browser, shop):
    shop.timezone = "UTC"
    shop.save()
    factories.order(shop, created_at=datetime(2026, 7, 14, 23, 30, tzinfo=UTC))
    with time_machine.travel(datetime(2026, 7, 15, 9, 0, tzinfo=UTC), tick=False):
        before = text_of(browser.get("/merchant/"))
        saved(browser, timezone="Europe/Lisbon")
        after = text_of(browser.get("/merchant/"))
    assert "unpaid, 0 orders." in before
    assert "unpaid, 1 order." in after
    order = shop.orders.get()
    assert "15 Jul 2026, 00:30 WEST" in text_of(browser.get(f"/merchant/orders/{order.pk}/"))


def test_settings_are_those_of_ones_own_store(browser, shop):
    theirs = factories.business(factories.merchant("rival@example.com"), name="Theirs")
    saved(browser)
    assert Business.objects.get(pk=theirs.pk).name == "Theirs"
    assert not StoreSettings.objects.filter(business=theirs).exists()
