"""Looking for one customer of a store, exporting what is stored, and erasing it."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.enums import StoreRole
from accounts.models import Business, User
from installations.models import Installation
from merchants.store.queries import customers_of
from stores.models import CustomerErasure, Order, Review
from stores.services.customer_erasure import SWEPT_AFTER, sweep
from tests import factories
from tests.clients import client_of
from tests.forms import form_on, send
from tests.merchants.counting import statements_of
from tests.merchants.erasing import erase_page_of, page_of
from tests.merchants.pages import installed, listed_app
from tests.pages import main_words_of, signed_in, text_of, words_of
from tests.storefront.shopping import Shopper

LIST = "/merchant/customers/"
SPEC = "Contract 12 One customer's data"
EMAIL = {"email": "kim@example.com"}


@pytest.fixture
def done(shop: Business) -> Order:
    return factories.order(shop, status="DELIVERED", customer_phone="+49 (30) 123-45.67/8")


def found(browser: Client, **person: str) -> str:
    return main_words_of(browser.get(LIST, person, follow=True))


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
    assert (f"{done.number} 0 items" in words) is is_found
    assert ("Nothing is stored for this customer" in words) is not is_found
    assert f"{theirs.number} 0 items" not in words


@pytest.mark.parametrize(
    "stored", ["0049 30 777 888 9", "+49 30 777 888 9", "(0049)30/7778889", "+49‑30.7778889"]
)
def test_number_is_found_however_it_was_stored(browser: Client, shop: Business, stored: str) -> None:
    order = factories.order(shop, customer_email="", customer_phone=stored)
    assert f"{order.number} 0 items" in found(browser, phone="+49 30 7778889")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Enter an e-mail address or a phone number"),
        ("kim@", "Enter an e-mail address such as"),
        ("12", "Enter a phone number such as"),
    ],
)
def test_search_takes_exactly_one(browser: Client, done: Order, text: str, message: str) -> None:
    assert message in words_of(browser.post(LIST, {"q": text}), 422)


@pytest.mark.parametrize("field", ["email", "phone"])
def test_link_with_no_contact_says_so(browser: Client, done: Order, field: str) -> None:
    assert "Enter an e-mail address or a phone number" in words_of(browser.get(LIST, {field: ""}), 422)


@pytest.mark.spec(SPEC, "The page shows what is stored")
def test_page_shows_orders_and_reviews(browser: Client, shop: Business, done: Order) -> None:
    Order.objects.update(address="1 Quay Street", note="Ring")
    write_review(shop, author_email=" Kim@example.com", comment="Crusty")
    words = found(browser, **EMAIL)
    for each in (f"Order {done.number}", "1 Quay Street", "Ring", "Crusty", "1 review"):
        assert each in words
    assert words.count("kim@example.com") == 1
    assert "may not be found" in words_of(browser.get(LIST))


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
    answer = browser.get(page_of(browser, **EMAIL) + "export.json")
    assert answer["Content-Disposition"] == f'attachment; filename="customer-{shop.slug}.json"'
    record = answer.json()
    assert record["customer"] == {"email": "kim@example.com", "phone": None}
    order = client_of(reader).get(f"/app-api/orders/{done.pk}").json()
    del order["customer"]["key"]  # of one installation
    assert record["orders"] == [order]
    assert record["reviews"] == client_of(reader).get("/app-api/reviews").json()["data"]
    Order.objects.filter(pk=done.pk).update(customer_email="", customer_phone="")
    assert browser.get(f"{LIST}{done.pk}/export.json").status_code == 404  # erased meanwhile


@pytest.mark.long
@pytest.mark.spec(SPEC, "409 page at the first press while an order is open, naming it")
@pytest.mark.parametrize("status", ["PENDING", "CONFIRMED", "PREPARING", "READY", "IN_DELIVERY"])
def test_open_order_is_named(browser: Client, shop: Business, done: Order, status: str) -> None:
    waiting = factories.order(shop, status=status)
    erase = erase_page_of(browser, **EMAIL)
    for answer in (browser.get(erase), browser.post(erase)):
        assert f"Order {waiting.number} is" in words_of(answer, 409)
    assert Order.objects.filter(customer_name="Kim").count() == 2
    Order.objects.update(status="CANCELLED")
    assert "You can’t undo this" in words_of(browser.get(erase), 200)


@pytest.mark.long
@pytest.mark.spec(SPEC, "The page lists each erasure by its date, and nothing of the person")
def test_erased_customers_are_listed_without_the_person(
    browser: Client, dana: User, shop: Business, done: Order
) -> None:
    app = listed_app(dana, ["read_orders"], name="Order Bell")
    installed(app, shop)
    erase = erase_page_of(browser, **EMAIL)
    receipt = browser.post(erase)
    made = CustomerErasure.objects.get()
    assert receipt["Location"] == f"{LIST}erasures/{made.pk}/"
    for page in (LIST, receipt["Location"]):
        words = words_of(browser.get(page))
        assert "Order Bell" in words
        assert "We couldn’t ask the app, because it has no address" in words
        assert "kim" not in words.lower()
        assert done.number not in words
    assert browser.post(erase)["Location"] == LIST  # nothing is left
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
    browser.post(erase_page_of(browser, **EMAIL))
    after = client_of(reader).get("/app-api/reviews").json()["data"][0]
    assert after == before | {"comment": None, "authorName": None}
    page = Shopper(shop).see(f"products/{shop.products.get().slug}/")
    assert "A customer" in page
    assert "4.0 from 1 review" in page


def test_another_stores_customer_stays(
    browser: Client, shop: Business, done: Order, sandbox: Business
) -> None:
    theirs = factories.order(sandbox, status="DELIVERED")
    browser.post(erase_page_of(browser, **EMAIL))
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
        browser.post(erase_page_of(browser, email="other@example.com"))
        return [statements_of(browser, each) for each in (LIST, page_of(browser, **EMAIL))]

    assert statements() == statements()


def test_developer_erases_on_the_own_sandbox(
    dana: User, sandbox: Business, installation: Installation
) -> None:
    factories.order(sandbox, status="DELIVERED")
    browser = signed_in(dana)
    assert browser.post(erase_page_of(browser, **EMAIL)).status_code == 302
    assert CustomerErasure.objects.get().business == sandbox


# --- The list, and addresses that say nothing ------------------------------------------------------


@pytest.mark.spec(
    SPEC, "The page lists the customers for OWNER and MANAGER, the one of the newest order first"
)
def test_list_has_each_person_once_with_orders_spent_and_the_last_order(
    browser: Client, shop: Business, sandbox: Business
) -> None:
    kim = {"customer_name": "Kim", "customer_email": "kim@example.com"}
    factories.order(shop, amount=1000, subtotal=1000, **kim)
    factories.order(
        shop, amount=500, subtotal=500, status="CANCELLED", **kim | {"customer_email": " KIM@example.com"}
    )
    factories.order(
        shop, customer_name="Bo", customer_email="", customer_phone="+49 30 1234567", amount=300, subtotal=300
    )
    last = factories.order(shop, amount=250, subtotal=250, refunded=50, **kim | {"customer_name": "Kim Lee"})
    factories.order(shop, customer_name="", customer_email="", customer_phone="")  # an erased one's
    factories.order(sandbox, customer_name="Theirs")
    page = browser.get(LIST)
    rows = re.findall(r"<tr>.*?</tr>", text_of(page).partition("<tbody>")[2])
    assert len(rows) == 2
    assert "Kim Lee</a>" in rows[0]
    assert 'of-orders number">3<' in rows[0]
    assert "$12.00" in rows[0]
    assert f'href="{LIST}{last.pk}/"' in rows[0]
    assert "Bo</a>" in rows[1]
    assert "+49 30 1234567" in rows[1]


def test_list_goes_on_from_the_last_order_of_a_page(browser: Client, shop: Business) -> None:
    for number in range(27):
        factories.order(shop, customer_name=f"Kim {number:02}", customer_email=f"kim{number}@example.com")
    first = text_of(browser.get(LIST))
    [older] = re.findall(r'href="(\?before=[^"]+)"', first)
    second = browser.get(LIST + older)
    names = [re.findall(r'dir="auto">(Kim \d\d)</a>', each) for each in (first, text_of(second))]
    assert [len(each) for each in names] == [25, 2]
    assert [*names[0], *names[1]] == [f"Kim {number:02}" for number in reversed(range(27))]
    assert "Older" not in words_of(second)


def test_name_is_found_by_a_part_of_it(browser: Client, shop: Business) -> None:
    factories.order(shop, customer_name="Kim Lee")
    factories.order(shop, customer_name="Bo", customer_email="bo@example.com")
    words = main_words_of(browser.post(LIST, {"q": "lee"}))
    assert "Kim Lee" in words
    assert "bo@example.com" not in words
    assert "No customer has this name" in words_of(browser.post(LIST, {"q": "zoe"}))


@pytest.mark.spec(SPEC, "ORDERS look at customers, and have no list of them")
def test_who_works_with_orders_finds_one_and_has_no_list(shop: Business, done: Order) -> None:
    kim = factories.merchant_without_store("kim.lee@example.com")
    factories.staff(shop, kim, StoreRole.ORDERS)
    browser = signed_in(kim)
    assert done.customer_email not in words_of(browser.get(LIST))
    assert words_of(browser.post(LIST, {"q": "Kim"}), 422)  # a name finds no customer for them
    answer = browser.post(LIST, {"q": "kim@example.com"})
    page = words_of(browser.get(answer["Location"]))
    assert done.number in page
    assert "Erase" not in page
    for name in ("erase/", "export.json"):
        assert browser.get(answer["Location"] + name).status_code == 403


def test_addresses_of_a_person_have_no_contact_in_them(browser: Client, shop: Business) -> None:
    factories.order(shop, status="DELIVERED", customer_phone="+49 30 1234567")
    for text in ("kim@example.com", "+49 30 1234567"):
        answer = browser.post(LIST, {"q": text}, follow=True)
        addresses = [each for each, _ in answer.redirect_chain]
        addresses += re.findall(r'(?:href|action)="(/[^"]*)"', answer.content.decode())
        assert len(addresses) > 10
        assert not [each for each in addresses if "kim" in each.lower() or "1234567" in each or "%40" in each]
        [title] = re.findall("<title>(.*?)</title>", answer.content.decode())
        assert "Kim" not in title


def test_order_with_both_is_found_by_its_phone_number_too(browser: Client, shop: Business) -> None:
    both = factories.order(shop, status="DELIVERED", customer_phone="+49 30 1234567")
    other = factories.order(
        shop, status="DELIVERED", customer_email="bo@example.com", customer_phone="+49 30 1234567"
    )
    page = page_of(browser, phone="+49301234567")
    assert page == f"{LIST}{other.pk}/?by=phone"
    assert "2 orders" in main_words_of(browser.get(page))
    assert "1 order " in main_words_of(browser.get(page.partition("?")[0]))
    erase = erase_page_of(browser, phone="+49301234567")
    form = form_on(browser.get(erase), erase.partition("?")[0])
    assert send(browser, form).status_code == 302
    both.refresh_from_db()
    assert both.customer_name == ""


def test_customer_of_an_order_is_erased_in_three_presses(browser: Client, done: Order) -> None:
    order = f"/merchant/orders/{done.pk}/"
    [page] = re.findall(rf'href="({LIST}[^"]+)"', text_of(browser.get(order)).partition('id="customer"')[2])
    [erase] = re.findall(r'href="([^"]+erase/)"', text_of(browser.get(page)))
    assert send(browser, form_on(browser.get(erase), erase)).status_code == 302
    done.refresh_from_db()
    assert done.customer_email == ""
    assert browser.get(page).status_code == 404
    assert page not in text_of(browser.get(order))


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="asks PostgreSQL for its plan")
def test_list_of_very_many_orders_reads_the_index_of_people(shop: Business) -> None:
    """Ten thousand orders of a thousand people: a page reads some rows of each person, and no table as a whole."""
    rows = [
        Order(
            business=shop,
            number=str(number),
            currency=shop.currency,
            delivery_method="PICKUP",
            payment_method="CASH",
            subtotal=100,
            amount=100,
            customer_name="Kim",
            customer_email=f"kim{number % 1000}@example.com",
        )
        for number in range(10_000)
    ]
    Order.objects.bulk_create(rows)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE stores_order")
    with CaptureQueriesContext(connection) as statements:
        found = customers_of(shop, most=26)
    assert (len(found), {each.orders for each in found}) == (26, {10})
    newest = statements.captured_queries[0]["sql"]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {newest}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "order_of_person" in plan, plan
    assert "Seq Scan" not in plan, plan
