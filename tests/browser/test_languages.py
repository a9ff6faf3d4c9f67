"""A store in the pseudo-language: nothing is left in plain English once scripts have run, and longer words fit a small phone."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import Business
from common.languages import PSEUDO
from stores.addresses import order_key
from stores.models import StoreSettings
from tests import factories
from tests.storefront.plain_words import plain_words, said_on

from .conftest import NewPage

SMALL = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def store(shop: Business, settings: Any) -> str:
    """The store's address, with words of the merchant in Greek."""
    settings.LANGUAGES = [*settings.LANGUAGES, (PSEUDO, "Pseudo-language")]
    shop.name, shop.locale, shop.address = "Φούρνος", PSEUDO, "Οδός 1"
    shop.save()
    StoreSettings.objects.create(business=shop, tagline="Ψωμί", hero_text="Καλημέρα")
    for number in range(3):
        name = f"Ψωμί {number}"
        factories.product(shop, name=name, slug=f"bread-{number}", category="Ψωμιά", stock=number * 2)
    return f"/store/{shop.slug}/"


def check(page: Page) -> None:
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= SMALL["viewport"]["width"], f"{page.url} is {width} pixels wide"
    assert plain_words(said_on(page.content())) == set()


def test_every_kind_of_page_fits_a_small_phone_in_longer_words(
    new_page: NewPage, shop: Business, store: str
) -> None:
    page = new_page(**SMALL)
    for path in ("", "?q=Ψωμί", "products/bread-1/", "cart/"):
        page.goto(store + path)
        check(page)
    page.goto(f"{store}products/bread-1/")
    page.locator("details.write summary").click()
    check(page)
    page.locator("form.add button.primary").click()
    check(page)
    page.goto(f"{store}cart/")
    check(page)
    page.goto(f"{store}checkout/")
    expect(page.locator("form.checkout")).to_have_attribute("data-sums", "known")
    check(page)
    page.locator("[name=delivery_method][value=DELIVERY]").check()
    expect(page.locator("form.checkout")).to_have_attribute("data-sums", "known")
    check(page)
    page.locator("[data-place]").click()  # without name and address
    expect(page.locator(".error-summary")).to_be_visible()
    check(page)


def test_waiting_for_the_total_is_said_in_the_language(new_page: NewPage, store: str) -> None:
    page = new_page(**SMALL)
    page.goto(f"{store}products/bread-1/")
    page.locator("form.add button.primary").click()
    page.goto(f"{store}checkout/")
    expect(page.locator("form.checkout")).to_have_attribute("data-sums", "known")
    form, button = page.locator("form.checkout"), page.locator("[data-place]")
    before = button.text_content()
    form.evaluate("form => { form.dataset.sums = 'waiting'; }")
    button.click()
    assert button.text_content() not in ("", before)
    check(page)


def test_order_that_waits_for_its_payment_counts_down_in_the_language(
    new_page: NewPage, shop: Business, store: str
) -> None:
    order = factories.order(shop, customer_name="Κ", page_key_digest="key")
    expires = timezone.now() + timedelta(hours=2)
    factories.payment(
        order, payment_url="https://pay.example.com/", qr_code="12", invoice_id="7", expires_at=expires
    )
    page = new_page(**SMALL)
    page.goto(f"{store}orders/{order_key(order.pk)}/")
    expect(page.locator("[data-countdown] span")).to_contain_text(":")
    check(page)
    page.goto(f"{store}nothing/")
    check(page)
