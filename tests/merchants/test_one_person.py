"""A customer is one address or one number, however it is spelt, at every door of a store."""

import json
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from accounts.models import Business, User
from accounts.services.outbox import addressed
from common.mails.letters import MailDraft
from installations.models import Installation
from stores.customers import Words, complete_keys
from stores.models import CustomerErasure, Order, Review
from stores.services.customer_erasure import SWEPT_AFTER, sweep
from tests import factories
from tests.clients import client_of
from tests.merchants.erasing import erase_page_of, export_page_of
from tests.merchants.pages import installed, listed_app
from tests.odd_contacts import BAD_EMAILS, BAD_PHONES, EMAIL, EMAILS, PHONE, PHONES
from tests.pages import main_words_of, words_of
from tests.storefront.shopping import Shopper
from webhooks.models import Event

SPEC = "Contract 15 Addresses and numbers of people"
LIST = "/merchant/customers/"
CONTACTS = [("email", EMAILS, EMAIL), ("phone", PHONES, PHONE)]
BAD_CONTACTS = [("email", BAD_EMAILS), ("phone", BAD_PHONES)]

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(dana: User, shop: Business) -> Installation:
    return installed(
        listed_app(dana, ["read_orders", "write_orders"], webhook_url="https://app.example/hook"), shop
    )


def place(reader: Installation, **contact: str) -> Any:
    product = reader.business.products.first() or factories.product(reader.business, price=100)
    body = {
        "items": [{"productId": str(product.pk), "quantity": 1}],
        "customer": {"name": "Kim"} | contact,
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }
    return client_of(reader).post("/app-api/orders", body, content_type="application/json")


@pytest.mark.long
@pytest.mark.spec(
    SPEC, "Every spelling of an address or number is one person: found, counted, exported, erased"
)
@pytest.mark.parametrize(("kind", "spellings", "key"), CONTACTS, ids=["email", "phone"])
def test_orders_in_every_spelling_are_one_persons(
    browser: Client, reader: Installation, kind: str, spellings: list[str], key: str
) -> None:
    for typed in spellings:
        answer = place(reader, **{kind: typed})
        assert answer.status_code == 201, (ascii(typed), answer.content)
        assert answer.json()["customer"][kind] == typed.strip()  # as it was typed
    place(reader, email="other@example.com", phone="+49 30 1234568")
    for typed in spellings:
        assert f"{len(spellings)} orders" in main_words_of(browser.get(LIST, {kind: typed}, follow=True)), (
            ascii(typed)
        )
    if kind == "email":
        newest = Order.objects.filter(customer_email_key=key).latest("pk")
        assert f"{len(spellings)} orders" in words_of(browser.get(f"/merchant/orders/{newest.pk}/"))
    exported = browser.get(export_page_of(browser, **{kind: spellings[3]})).json()
    assert (len(exported["orders"]), exported["customer"][kind]) == (len(spellings), key)
    Order.objects.update(status="DELIVERED")
    assert browser.post(erase_page_of(browser, **{kind: spellings[5]})).status_code == 302
    theirs = Order.objects.filter(customer_name="")
    assert theirs.count() == len(spellings)
    columns = ("customer_email", "customer_phone", "customer_email_key", "customer_phone_key")
    assert set(theirs.values_list(*columns)) == {("", "", "", "")}


@pytest.mark.long
@pytest.mark.spec(SPEC, "An address or number without a normal form is a 400 that names the field")
@pytest.mark.parametrize(("kind", "texts"), BAD_CONTACTS, ids=["email", "phone"])
def test_contact_without_a_normal_form_refused(
    browser: Client, reader: Installation, kind: str, texts: list[str]
) -> None:
    shopper = Shopper(reader.business)
    shopper.take(factories.product(reader.business, name="Bread"))
    page = shopper.checkout_page()
    for typed in texts:
        if "\x00" in typed:
            continue  # refused before it is read
        answer = place(reader, **{kind: typed})
        assert answer.status_code == 400, ascii(typed)
        assert {each["field"] for each in answer.json()["details"]} <= {f"customer.{kind}", "customer"}, (
            ascii(typed)
        )
        assert shopper.place(page, **{"customer_email": "", f"customer_{kind}": typed}).status_code == 422, (
            ascii(typed)
        )
        assert browser.get(LIST, {kind: typed}).status_code == 422, ascii(typed)
    assert not Order.objects.exists()


@pytest.mark.long
def test_orders_of_the_checkout_and_reviews_are_found(browser: Client, shop: Business) -> None:
    bread = factories.product(shop, name="Bread", price=500)
    for number, typed in enumerate(EMAILS):
        shopper = Shopper(shop)
        if number < 4:
            shopper.take(bread)
            assert shopper.place(customer_email=typed, customer_phone=PHONES[number]).status_code == 302
        shopper.post(
            shopper.at(f"products/{bread.slug}/reviews/"),
            {"rating": "4", "author_name": "Kim", "comment": "Fine", "author_email": typed},
        )
    shopper.post(
        shopper.at(f"products/{bread.slug}/reviews/"),
        {"rating": "4", "author_name": "Bo", "author_email": BAD_EMAILS[0]},
    )
    for asked in ({"email": EMAILS[5]}, {"phone": PHONES[9]}):
        assert "4 orders" in main_words_of(browser.get(LIST, asked, follow=True))
    assert f"{len(EMAILS)} reviews" in main_words_of(browser.get(LIST, {"email": EMAIL}, follow=True))
    assert Review.objects.count() == len(EMAILS)


@pytest.mark.long
def test_merchants_search_finds_orders_by_any_spelling(browser: Client, shop: Business) -> None:
    factories.order(
        shop, number="77001", customer_email="kim@bücher.example", customer_phone="0049 (30) 123-45-67"
    )
    factories.order(shop, number="77002", customer_email="other@example.com", customer_phone="+49 30 7654321")
    for typed in [*EMAILS, *(each for each in PHONES if not any(map(str.isalpha, each)))]:
        words = main_words_of(browser.get("/merchant/orders/", {"q": typed}))
        assert "77001" in words, ascii(typed)
        assert "77002" not in words, ascii(typed)


@pytest.mark.spec("Contract 12 One customer's data", "Copies in any spelling go")
@pytest.mark.parametrize(
    "written",
    [
        "Mail KIM@XN--BCHER-KVA.example today", '{"to": "kim@bu\\u0308cher.example"}', "<kim@bücher.example>",
        "kim@bücher.example\u200b", "call ٣٠١٢٣٤٥٦٧", "call +49 30\u20601234567", "call 00 49/30/1234567",
    ],
    ids=ascii,
)  # fmt: skip
def test_copies_in_other_spellings_are_found(shop: Business, written: str) -> None:
    order = factories.order(
        shop,
        customer_name="",
        address="",
        note="",
        customer_email="Kim@Bücher.example",
        customer_phone="(0049) 30-1234567",
    )
    short = factories.order(
        shop, customer_name="", address="", note="", customer_phone="30 1234567", customer_email=""
    )
    words = Words.read(Words.of([order, short], []).stored)
    assert words.are_in(written)
    assert not words.are_in("kim@bucher.example, kim@strasse.example, +49 30 1234568")


def test_erasure_is_announced_with_the_normal_form(browser: Client, reader: Installation) -> None:
    factories.order(reader.business, status="DELIVERED", customer_email="Kim@BÜCHER.example")
    assert browser.post(erase_page_of(browser, email="kim@bücher.example")).status_code == 302
    (event,) = Event.objects.filter(type="customer.data_erasure")
    assert json.loads(event.data)["customer"] == {"email": EMAIL, "phone": None}


# --- Rows of a version that had no keys -------------------------------------------------------------


@pytest.fixture
def keyless(shop: Business) -> list[Order]:
    """As a process of the version before writes them."""
    typed = [
        "kim@bücher.example",
        "Kim@xn--bcher-kva.example",
        "kim@bücher.example\u200b",
        '"kim"@bücher.example',
    ]
    rows = [
        factories.order(shop, status="DELIVERED", customer_email=each, customer_phone=PHONES[number])
        for number, each in enumerate(typed)
    ]
    Order.objects.update(customer_email_key=None, customer_phone_key=None)
    return rows


@pytest.mark.parametrize("is_complete", [False, True])
def test_rows_of_a_version_before_are_found(
    browser: Client, shop: Business, keyless: list[Order], is_complete: bool
) -> None:
    if is_complete:
        assert complete_keys() == 4
        assert complete_keys() == 0
    assert "3 orders" in main_words_of(browser.get(LIST, {"email": "kim@bücher.example"}, follow=True))
    assert "4 orders" in main_words_of(browser.get(LIST, {"phone": PHONES[20]}, follow=True))
    assert "1 order" in main_words_of(
        browser.get(LIST, {"email": '"Kim"@bücher.example'}, follow=True)
    )  # by itself
    assert browser.get(LIST, {"email": '"bo"@bücher.example'}).status_code == 422
    assert browser.get(LIST, {"email": "kim@bücher.example\u200b"}).status_code == 422


def test_key_that_a_version_before_leaves_at_an_erasure_goes(browser: Client, shop: Business) -> None:
    order = factories.order(
        shop, status="DELIVERED", customer_email="kim@bücher.example", customer_phone=PHONE
    )
    browser.post(erase_page_of(browser, email=EMAIL))
    Order.objects.update(customer_email_key=EMAIL, customer_phone_key=PHONE)  # which knows no keys
    done = CustomerErasure.objects.get()
    sweep(now=done.at + SWEPT_AFTER)
    order.refresh_from_db()
    assert (order.customer_email_key, order.customer_phone_key) == ("", "")


def test_mail_goes_to_the_host_that_is_compared(shop: Business) -> None:
    addressed(MailDraft("Hello", "accounts/mail/new_email.txt", {}), "Kim@straße.example").as_mail().send()
    assert "Kim@xn--strae-oqa.example" in str(mail.outbox[0].message())
