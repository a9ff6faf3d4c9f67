"""A merchant's businesses: which there are, another one, and which the pages show."""

import pytest
from django.test import Client

from accounts.models import Business, User
from tests import factories
from tests.pages import signed_in, text_of

FORM = {"name": "Corner Café", "type": "Café", "address": "", "currency": "EUR", "timezone": "Europe/Lisbon"}


@pytest.mark.spec("Contract 3 OAuth 2.0", "Add a business is in /merchant/")
def test_merchant_adds_a_business_and_sees_it_at_once(browser: Client, mira: User, shop: Business) -> None:
    assert "Add a business" in text_of(browser.get("/merchant/businesses/"))
    response = browser.post("/merchant/businesses/add/", FORM, follow=True)
    made = Business.objects.get(name="Corner Café")
    assert (made.owner, made.currency, made.timezone, made.is_sandbox) == (
        mira,
        "EUR",
        "Europe/Lisbon",
        False,
    )
    assert response.redirect_chain == [("/merchant/", 302)]
    assert "Corner Café created." in text_of(response)
    assert '<h1><span dir="auto">Corner Café</span></h1>' in text_of(response)


@pytest.mark.long
@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("name", " ", "Enter a store name."),
        ("currency", "XXQ", "Select a valid choice"),
        ("timezone", "Mars/Olympus", "Select a valid choice"),
    ],
)
def test_business_with_a_fault_is_not_opened_and_keeps_what_was_typed(
    browser: Client, shop: Business, field: str, value: str, message: str
) -> None:
    response = browser.post("/merchant/businesses/add/", FORM | {field: value})
    assert response.status_code == 422
    assert message in text_of(response)
    assert 'value="Café"' in text_of(response)
    assert Business.objects.get() == shop


@pytest.mark.long
def test_pages_show_one_business_until_another_is_chosen(browser: Client, mira: User, shop: Business) -> None:
    second = factories.business(mira, name="Corner Café")
    assert f'<h1><span dir="auto">{shop.name.replace(chr(39), "&#x27;")}</span></h1>' in text_of(
        browser.get("/merchant/")
    )
    chosen = browser.post("/merchant/businesses/switch/", {"business": str(second.pk)})
    assert chosen["Location"] == "/merchant/"
    assert '<h1><span dir="auto">Corner Café</span></h1>' in text_of(browser.get("/merchant/"))
    assert "Current</span>" in text_of(browser.get("/merchant/businesses/"))


@pytest.mark.parametrize("spelling", ["{}", "{} ", "nothing", ""])
def test_somebody_elses_business_can_not_be_chosen(browser: Client, shop: Business, spelling: str) -> None:
    theirs = factories.business(factories.merchant("tom@example.com"), name="Theirs")
    chosen = browser.post("/merchant/businesses/switch/", {"business": spelling.format(theirs.pk)})
    assert chosen.status_code == 404
    assert "Theirs" not in text_of(browser.get("/merchant/"))


def test_merchant_without_a_business_is_led_to_open_one(browser: Client, mira: User) -> None:
    Business.objects.all().delete()
    assert browser.get("/merchant/apps/")["Location"] == "/merchant/businesses/add/"
    assert browser.get("/merchant/businesses/add/").status_code == 200
    assert "No business yet" in text_of(browser.get("/merchant/businesses/"))
    assert browser.post("/merchant/businesses/add/", FORM).status_code == 302
    assert Business.objects.get().owner == mira


@pytest.mark.spec(
    "Contract 7 Pages", "A developer's /merchant/ pages show the developer's sandbox, marked on every page"
)
def test_developer_sees_the_sandbox_marked_and_opens_no_business(dana: User, sandbox: Business) -> None:
    browser = signed_in(dana)
    for path in ("/merchant/", "/merchant/apps/"):
        page = text_of(browser.get(path))
        assert "Sandbox: test data" in page
        assert "Dana&#x27;s sandbox" in page
        assert "/merchant/businesses/" not in page
    for path in ("/merchant/businesses/", "/merchant/businesses/add/"):
        assert browser.get(path).status_code == 403
    assert browser.post("/merchant/businesses/add/", FORM).status_code == 403
    assert Business.objects.get() == sandbox


@pytest.mark.long
def test_merchants_pages_are_not_marked_as_sandbox(browser: Client, shop: Business) -> None:
    for path in ("/merchant/", "/merchant/apps/", "/merchant/businesses/"):
        assert "sandbox-mark" not in text_of(browser.get(path))


def test_merchant_begins_in_the_shop(browser: Client, shop: Business) -> None:
    assert browser.get("/accounts/")["Location"] == "/merchant/"


@pytest.mark.long
def test_times_are_those_of_the_business(browser: Client, shop: Business) -> None:
    Business.objects.update(timezone="Asia/Kolkata")
    order = factories.order(shop)
    assert " IST</time>" in text_of(browser.get(f"/merchant/orders/{order.pk}/"))
