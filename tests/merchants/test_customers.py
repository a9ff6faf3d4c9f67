"""Looking for one customer of a store, exporting what is stored, and erasing it."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Business, User
from installations.models import Installation
from stores.models import CustomerErasure, Order, Review
from stores.services.customer_erasure import SWEPT_AFTER, sweep
from tests import factories
from tests.clients import client_of
from tests.merchants.counting import statements_of
from tests.merchants.pages import installed, listed_app
from tests.pages import main_words_of, signed_in, words_of
from tests.storefront.shopping import Shopper

LIST, ERASE, EXPORT = "/merchant/customers/", "/merchant/customers/erase/", "/merchant/customers/export.json"
SPEC = "Contract 12 One customer's data"
EMAIL = {"email": "kim@example.com"}


@pytest.fixture
def done(shop: Business) -> Order:
    return factories.order(shop, status="DELIVERED", customer_phone="+49 (30) 123-45.67/8")


def found(browser: Client, **person: str) -> str:
    return main_words_of(browser.get(LIST, person))


@pytest.mark.spec(
    SPEC,
    "An address in any case and with spaces around it, a number in any spelling; one of the two, exactly",
)
@pytest.mark.parametrize(
    ("person", "is_found"),
    [
        ({"email": " KIM@Example.com "}, True),
        ({"email": "im@example.com"}, False),
        ({"email": "kim@example.co"}, False),
        ({"phone": "+493012345678"}, True),
        ({"phone": "0049 30 1234 5678"}, True),
        ({"phone": "+49\u00a030–12345678"}, True),
        ({"phone": "+4930123456"}, False),
        ({"phone": "3012345678"}, False),
    ],
)
def test_finds_by_address_or_number(
    browser: Client, done: Order, sandbox: Business, person: dict[str, str], is_found: bool
) -> None:
    theirs = factories.order(sandbox, customer_phone=done.customer_phone)
    words = found(browser, **person)
    assert (f"Order {done.number}" in words) is is_found
    assert ("Nothing is stored for this customer" in words) is not is_found
    assert f"Order {theirs.number}" not in words


@pytest.mark.parametrize(
    "stored", ["0049 30 777 888 9", "+49 30 777 888 9", "(0049)30/7778889", "+49‑30.7778889"]
)
def test_number_is_found_however_it_was_stored(browser: Client, shop: Business, stored: str) -> None:
    order = factories.order(shop, customer_email="", customer_phone=stored)
    assert f"Order {order.number}" in found(browser, phone="+49 30 7778889")


@pytest.mark.parametrize(
    ("person", "message"),
    [
        ({"email": "", "phone": ""}, "one of the two"),
        (EMAIL | {"phone": "+4930123456"}, "one of the two"),
        ({"email": "kim"}, "Enter an e-mail address such as"),
        ({"phone": "Kim"}, "Enter a phone number such as"),
    ],
)
def test_search_takes_exactly_one(browser: Client, done: Order, person: dict[str, str], message: str) -> None:
    assert message in words_of(browser.get(LIST, person), 422)
    for page in (EXPORT, ERASE):
        assert browser.get(page, person).status_code == 400


@pytest.mark.spec(SPEC, "The page shows what is stored")
def test_page_shows_orders_and_reviews(browser: Client, shop: Business, done: Order) -> None:
    Order.objects.update(address="1 Quay Street", note="Ring")
    write_review(shop, author_email=" Kim@example.com", comment="Crusty")
    words = found(browser, **EMAIL)
    for each in (f"Order {done.number}", "1 Quay Street", "Ring", "Crusty", "1 review"):
        assert each in words
    assert "can’t be found" in words


def write_review(shop: Business, shopper: Shopper | None = None, **typed: str) -> Any:
    bread = shop.products.first() or factories.product(shop, name="Bread", price=500)
    browser = shopper or Shopper(shop)
    typed = {"rating": "4", "author_name": "Somebody", "comment": "Fine"} | typed
    return browser.post(browser.at(f"products/{bread.slug}/reviews/"), typed)


@pytest.mark.long
@pytest.mark.spec(SPEC, "The review form takes an optional address, which is never shown")
def test_review_takes_an_address_that_is_never_shown(browser: Client, dana: User, shop: Business) -> None:
    reader = installed(listed_app(dana, ["read_reviews"]), shop)
    assert write_review(shop, author_email="secret@example.com").status_code == 302
    assert write_review(shop).status_code == 302
    assert write_review(shop, author_email="secret").status_code == 422
    assert Review.objects.filter(author_email="secret@example.com").count() == 1
    bread = shop.products.get()
    pages = [
        Shopper(shop).see(f"products/{bread.slug}/"),
        browser.get("/merchant/reviews/").content.decode(),
        client_of(reader).get("/app-api/reviews").content.decode(),
    ]
    assert all("secret" not in page for page in pages)


@pytest.mark.spec(SPEC, "Reviews from a session that ordered with the address are the person's")
@pytest.mark.parametrize("review_first", [True, False])
@pytest.mark.django_db(transaction=True)
def test_reviews_of_the_same_browser_are_found(browser: Client, shop: Business, review_first: bool) -> None:
    bread = factories.product(shop, name="Bread", price=500)
    shopper = Shopper(shop)
    if review_first:
        write_review(shop, shopper, comment="From here")
    shopper.take(bread)
    with CaptureQueriesContext(connection) as statements:
        shopper.place()
    assert not [each["sql"] for each in statements if each["sql"].startswith('UPDATE "stores_order"')]
    if not review_first:
        write_review(shop, shopper, comment="From here")
    write_review(shop, comment="From elsewhere")
    words = found(browser, **EMAIL)
    assert "From here" in words
    assert "From elsewhere" not in words


@pytest.mark.spec(SPEC, "Export gives one JSON file, with the records as the app API has them")
def test_export_has_the_records_of_the_app_api(
    browser: Client, dana: User, shop: Business, done: Order, sandbox: Business
) -> None:
    reader = installed(listed_app(dana, ["read_orders", "read_reviews"]), shop)
    write_review(shop, author_email="kim@example.com")
    factories.order(shop, customer_email="other@example.com")
    factories.order(sandbox)
    answer = browser.get(EXPORT, EMAIL)
    assert answer["Content-Disposition"] == f'attachment; filename="customer-{shop.slug}.json"'
    record = answer.json()
    assert record["customer"] == {"email": "kim@example.com", "phone": None}
    assert record["orders"] == [client_of(reader).get(f"/app-api/orders/{done.pk}").json()]
    assert record["reviews"] == client_of(reader).get("/app-api/reviews").json()["data"]
    assert browser.get(EXPORT, {"email": "nobody@example.com"}).status_code == 404


@pytest.mark.long
@pytest.mark.spec(SPEC, "409 page at the first press while an order is open, naming it")
@pytest.mark.parametrize("status", ["PENDING", "CONFIRMED", "PREPARING", "READY", "IN_DELIVERY"])
def test_open_order_is_named(browser: Client, shop: Business, done: Order, status: str) -> None:
    waiting = factories.order(shop, status=status)
    for answer in (browser.get(ERASE, EMAIL), browser.post(ERASE, EMAIL)):
        assert f"Order {waiting.number} is" in words_of(answer, 409)
    assert Order.objects.filter(customer_name="Kim").count() == 2
    Order.objects.update(status="CANCELLED")
    assert "You can’t undo this" in words_of(browser.get(ERASE, EMAIL), 200)


@pytest.mark.long
@pytest.mark.spec(SPEC, "The page lists each erasure by its date, and nothing of the person")
def test_erased_customers_are_listed_without_the_person(
    browser: Client, dana: User, shop: Business, done: Order
) -> None:
    app = listed_app(dana, ["read_orders"], name="Order Bell")
    installed(app, shop)
    receipt = browser.post(ERASE, EMAIL)
    made = CustomerErasure.objects.get()
    assert receipt["Location"] == f"{LIST}erasures/{made.pk}/"
    for page in (LIST, receipt["Location"]):
        words = words_of(browser.get(page))
        assert "Order Bell" in words
        assert "We couldn’t ask the app, because it has no address" in words
        assert "kim" not in words.lower()
        assert done.number not in words
    assert browser.post(ERASE, EMAIL)["Location"] == LIST  # nothing is left
    assert "Copies in logs Being removed" in words_of(browser.get(receipt["Location"]))
    sweep(now=timezone.now() + SWEPT_AFTER)
    assert "Being removed" not in words_of(browser.get(receipt["Location"]))
    assert CustomerErasure.objects.count() == 1
    assert signed_in(dana).get(receipt["Location"]).status_code == 404


@pytest.mark.long
@pytest.mark.spec(SPEC, "Blank is null on the wire, the keys stay")
def test_erased_review_is_null_on_the_wire_and_keeps_its_rating(
    browser: Client, dana: User, shop: Business
) -> None:
    reader = installed(listed_app(dana, ["read_reviews"]), shop)
    write_review(shop, author_email="kim@example.com")
    before = client_of(reader).get("/app-api/reviews").json()["data"][0]
    browser.post(ERASE, EMAIL)
    after = client_of(reader).get("/app-api/reviews").json()["data"][0]
    assert after == before | {"comment": None, "authorName": None}
    page = Shopper(shop).see(f"products/{shop.products.get().slug}/")
    assert "A customer" in page
    assert "4.0 from 1 review" in page


def test_another_stores_customer_stays(
    browser: Client, shop: Business, done: Order, sandbox: Business
) -> None:
    theirs = factories.order(sandbox, status="DELIVERED")
    browser.post(ERASE, EMAIL)
    theirs.refresh_from_db()
    assert (theirs.customer_name, theirs.customer_email) == ("Kim", "kim@example.com")


@pytest.mark.long
def test_pages_take_the_same_statements_however_much_there_is(
    browser: Client, dana: User, shop: Business
) -> None:
    installed(listed_app(dana, ["read_orders"]), shop)

    def statements() -> Any:
        factories.order(shop, status="DELIVERED")
        factories.order(shop, status="DELIVERED", customer_email="other@example.com")
        browser.post(ERASE, {"email": "other@example.com"})
        return statements_of(browser, f"{LIST}?email=kim@example.com")

    assert statements() == statements()


def test_developer_erases_on_the_own_sandbox(
    dana: User, sandbox: Business, installation: Installation
) -> None:
    factories.order(sandbox, status="DELIVERED")
    assert signed_in(dana).post(ERASE, EMAIL).status_code == 302
    assert CustomerErasure.objects.get().business == sandbox
