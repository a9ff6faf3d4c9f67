"""A store speaks its own language to shoppers, and nothing else does."""

import threading
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.mail import EmailMultiAlternatives
from django.utils import timezone, translation

from accounts.models import Business, User
from accounts.services.sender import send_due as send_mails
from common.languages import language_of
from common.mails.letters import one_line
from common.money import display
from stores.addresses import order_key
from stores.enums import OrderChangeKind
from stores.hookpoints import PaymentMethod, registered
from stores.models import Order, OrderChange, Review
from stores.services.merchant_mails import send_due
from tests import factories
from tests.pages import main_words_of, signed_in, words_of
from tests.storefront.shopping import Shopper, hidden, text

NARROW, FIRM = "\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}"
GERMAN, FRENCH, ENGLISH = "In den Warenkorb", "Ajouter au panier", "Add to cart"


def speaks(shop: Business, locale: str, **fields: Any) -> Shopper:
    Business.objects.filter(pk=shop.pk).update(locale=locale, **fields)
    shop.refresh_from_db()
    return Shopper(shop)


@pytest.fixture
def bread(shop: Business) -> Any:
    return factories.product(shop, name="Bread", slug="bread", price=123450, stock=2)


@pytest.fixture
def other(mira: User) -> Business:
    made = factories.business(mira, name="The other one", locale="fr")
    factories.product(made, name="Pain", slug="bread")
    return made


@pytest.mark.parametrize(
    ("locale", "language"),
    [
        ("en", "en"),
        ("de", "de"),
        ("de-CH", "de"),
        ("fr", "fr"),
        ("pt-BR", "en"),
        ("en-XA", "en"),
        ("en-GB", "en"),
    ],
)
def test_texts_are_in_the_language_of_the_locale_or_english(
    shop: Business, locale: str, language: str, settings: Any
) -> None:
    settings.LANGUAGES = [each for each in settings.LANGUAGES if each[0] != "en-XA"]  # as without DEBUG
    assert language_of(locale) == language
    page = speaks(shop, locale).get(f"/store/{shop.slug}/")
    assert f'<html lang="{language}">' in page.content.decode()


@pytest.mark.parametrize(
    ("locale", "price", "left", "average", "day"),
    [
        ("en", "$1,234.50", "Only 2 left", "4.5 from 2 reviews", "9 Mar 2026"),
        ("de", f"1.234,50{FIRM}€", "Nur noch 2 Stück", "4,5 aus 2 Bewertungen", "9. März 2026"),
        ("fr", f"1{NARROW}234,50{FIRM}€", "Plus que 2", f"4,5 d’après 2{FIRM}avis", "9 mars 2026"),
    ],
)
def test_prices_numbers_and_days_have_the_form_of_the_language(
    shop: Business, bread: Any, locale: str, price: str, left: str, average: str, day: str
) -> None:
    shopper = speaks(shop, locale, currency="USD" if locale == "en" else "EUR")
    for rating in (4, 5):
        made = Review.objects.create(business=shop, product=bread, rating=rating, author_name="Kim")
        Review.objects.filter(pk=made.pk).update(created_at="2026-03-09T10:00Z")
    page = shopper.see("products/bread/")
    for words in (price, left, average, day):
        assert words in page


@pytest.mark.parametrize(
    ("locale", "words"),
    [
        ("en", ["0 products", "1 product<", "2 products", "1,001 products"]),
        ("de", ["0 Produkte", "1 Produkt<", "2 Produkte", "1.001 Produkte"]),
        ("fr", [f"0{FIRM}produit<", f"1{FIRM}produit<", f"2{FIRM}produits", f"1{NARROW}001{FIRM}produits"]),
    ],
)
def test_plurals_are_those_of_the_language(
    shop: Business, locale: str, words: list[str], monkeypatch: Any
) -> None:
    shopper = speaks(shop, locale)
    for number, expected in zip((0, 1, 2, 1001), words, strict=True):
        monkeypatch.setattr("stores.queries.WholeList.total", number)
        assert expected in one_line(shopper.see("")).replace(" <", "<")


@pytest.mark.parametrize(
    ("locale", "when"),
    [
        ("en", "20 Nov 2026, 14:31 CET"),
        ("de", "20. Nov. 2026, 14:31 MEZ"),
        ("fr", "20 nov. 2026 à 14:31 CET"),
    ],
)
def test_time_to_pay_has_the_form_of_the_language(shop: Business, locale: str, when: str) -> None:
    shopper = speaks(shop, locale, timezone="Europe/Berlin")
    with time_machine.travel("2026-11-20T12:31Z", tick=False):
        order = factories.order(shop, page_key_digest="key")
        factories.payment(order, expires_at=timezone.now() + timedelta(hours=1), qr_code="1")
        assert when in shopper.see(f"orders/{order_key(order.pk)}/")


# --- Nothing is mixed -------------------------------------------------------------------------------


def test_stores_of_one_process_keep_their_languages(
    shop: Business, bread: Any, other: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    german, french = speaks(shop, "de"), Shopper(other)
    for _ in range(2):
        assert GERMAN in german.see("products/bread/")
        assert FRENCH in french.see("products/bread/")
        assert "Seite gibt es nicht" in german.see("pages/nothing/", 404)
    with monkeypatch.context() as broken:
        broken.setattr("storefront.views.catalogue.queries.pictures_of", lambda product: 1 / 0)
        german.raise_request_exception = False
        assert "Interner Serverfehler" in german.see("products/bread/", 500)
        assert translation.get_language() == "en"
    assert FRENCH in french.see("products/bread/")
    assert translation.get_language() == "en"
    third = Business.objects.get(owner__email="mira@example.com", slug=shop.slug)
    assert ENGLISH in speaks(third, "en").see("products/bread/")


def test_stores_at_once_keep_their_languages(shop: Business, bread: Any) -> None:
    """A page that is being made in one thread while another store's is made in the other."""
    found: list[str] = []
    speaking = threading.Barrier(2, timeout=20)

    def speak(language: str) -> None:
        with translation.override(language):
            speaking.wait()
            found.append(translation.gettext("Add to cart"))
            speaking.wait()

    threads = [threading.Thread(target=speak, args=(each,)) for each in ("de", "fr")]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(found) == sorted([GERMAN, FRENCH])


def test_page_of_another_language_is_no_page_of_the_cache(shop: Business, bread: Any) -> None:
    """Nothing between the store and the shopper keeps a page of before the merchant changed the language."""
    before = speaks(shop, "de").get(f"/store/{shop.slug}/")
    assert "Alle Produkte" in text(before)
    after = speaks(shop, "fr").get(
        f"/store/{shop.slug}/", headers={"if-none-match": before.get("ETag", "none")}
    )
    assert (after.status_code, "Tous les produits" in text(after)) == (200, True)


@pytest.mark.long
@pytest.mark.usefixtures("tasks_run_at_once")
def test_mails_are_for_the_buyer_in_her_language_and_for_the_merchant_in_english(
    shop: Business,
    bread: Any,
    mailoutbox: list[EmailMultiAlternatives],
    django_capture_on_commit_callbacks: Any,
) -> None:
    shopper = speaks(shop, "fr", currency="EUR")
    shopper.take(bread, 1)
    page = shopper.checkout_page()
    with (
        django_capture_on_commit_callbacks(execute=True),
        translation.override("fr"),
    ):  # as where a task runs in the request
        shopper.place(page)
    send_due()
    send_mails()
    mails = {mail.to[0]: mail for mail in mailoutbox}
    buyers, merchants = mails["kim@example.com"], mails[shop.owner.email]
    assert buyers.subject == f"Commande {Order.objects.get().number} chez {shop.name}"
    assert f"Sous-total: 1{NARROW}234,50{FIRM}€" in buyers.body
    assert '<html lang="fr">' in str(buyers.alternatives[0][0])
    assert '<html lang="en">' in str(merchants.alternatives[0][0])
    assert "Subtotal" in merchants.body
    assert "Sous-total" not in merchants.body


def test_what_merchants_and_apps_read_stays_english(shop: Business, bread: Any) -> None:
    shopper = speaks(shop, "de")
    shopper.take(bread, 1)
    wallet = PaymentMethod("pay:wallet", "Harbour Wallet", "pay")
    with registered("checkout.payment_methods", lambda request: [wallet]):
        placed = shopper.place(payment_method="pay:wallet")["Location"]  # no app makes it: it fails
        pay = hidden(shopper.get(f"{placed}pay/"))
        assert shopper.post(f"{placed}pay/", pay | {"payment_method": "CASH"}).status_code == 302
    assert "Barzahlung" in text(shopper.get(placed))
    assert OrderChange.objects.get(kind=OrderChangeKind.METHOD).note == "Cash"
    browser = signed_in(shop.owner)
    order = Order.objects.get()
    words = words_of(browser.get(f"/merchant/orders/{order.pk}/"))
    assert "Payment method" in words
    assert "Bestellung" not in words
    assert display(order.amount, order.currency, "de") in words.replace(" ", FIRM) or "1.234,50" in words


# --- The merchant chooses ---------------------------------------------------------------------------


@pytest.mark.long
def test_merchant_chooses_the_language(shop: Business, bread: Any) -> None:
    browser = signed_in(shop.owner)
    assert 'value="de">Deutsch' in text(browser.get("/merchant/store/"))
    form = {
        "name": shop.name, "accent": "teal", "delivery_fee": "3.5", "currency": shop.currency, "timezone": "UTC",
    }  # fmt: skip
    refused = browser.post("/merchant/store/", form | {"locale": "tlh"})
    assert (refused.status_code, "Select a valid choice" in text(refused)) == (422, True)
    for sent in ({"locale": "de"}, {}):  # nothing is what a page of before this field sends
        assert browser.post("/merchant/store/", form | sent).status_code == 302
        shop.refresh_from_db()
        assert shop.locale == "de"
    assert GERMAN in Shopper(shop).see("products/bread/")
    assert "Store settings" in main_words_of(browser.get("/merchant/store/"))


def test_locale_that_an_operator_has_set_can_be_kept(shop: Business) -> None:
    speaks(shop, "de-CH")
    assert 'value="de-CH" selected>Deutsch (de-CH)' in text(signed_in(shop.owner).get("/merchant/store/"))
