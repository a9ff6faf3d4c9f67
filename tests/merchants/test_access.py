"""The people who may open the merchant's pages about the store: its merchant, and a developer on their sandbox."""

import pytest
from django.utils.html import escape

from accounts.models import Business
from common.web.forms import kept
from stores.models import Product
from stores.services.pages import create_page
from stores.services.reviews import create_review
from tests import factories
from tests.forms import form_at, form_on, send
from tests.pages import signed_in, text_of

LISTS = (
    "orders/", "products/", "products/add/", "reviews/", "pages/", "pages/add/", "store/",
)  # fmt: skip
OF_A_ROW = (
    "orders/{order}/",
    "orders/{order}/cancel/",
    "products/{product}/",
    "products/{product}/delete/",
    "reviews/{review}/delete/",
    "pages/{page}/delete/",
)

SWITCH = "/merchant/businesses/switch/"


def rows_of(business):
    """One of each in a shop, by its name in the paths above."""
    product = factories.product(business, name="Bread of " + business.slug)
    return {
        "order": factories.order(business, customer_name="Kim of " + business.slug).pk,
        "product": product.pk,
        "review": create_review(product=product, rating=4, author_name="Ann", comment="Good.").pk,
        "page": create_page(business=business, title="About " + business.slug).pk,
    }


@pytest.mark.spec("Contract 7 Pages", "/merchant/ holds orders, products, reviews and pages")
@pytest.mark.parametrize("path", LISTS + OF_A_ROW)
def test_merchant_opens_the_pages_of_the_own_shop(mira, shop, path):
    response = signed_in(mira).get("/merchant/" + path.format(**rows_of(shop)))
    assert response.status_code == 200
    assert text_of(response).count("<h1") == 1
    assert "Sandbox: test data" not in text_of(response)


@pytest.mark.spec(
    "Contract 7 Pages", "A developer's /merchant/ pages are those of the sandbox, marked on every page"
)
@pytest.mark.parametrize("path", LISTS + OF_A_ROW)
def test_developer_opens_the_pages_of_the_sandbox_which_are_marked(dana, sandbox, path):
    response = signed_in(dana).get("/merchant/" + path.format(**rows_of(sandbox)))
    assert response.status_code == 200
    assert "Sandbox: test data" in text_of(response)


@pytest.mark.long
def test_lists_hold_nothing_of_other_shops(mira, shop, sandbox):
    rows_of(sandbox)
    rows_of(factories.business(mira, name="The second one"))
    browser = signed_in(mira)
    for path, words in (
        ("orders/", "No orders yet"),
        ("products/", "No products yet"),
        ("reviews/", "No reviews yet"),
        ("pages/", "No pages yet"),
    ):
        assert words in text_of(browser.get("/merchant/" + path))


@pytest.mark.long
@pytest.mark.spec("Contract 15 Doors", "A page means the store of its object, else the one chosen")
@pytest.mark.parametrize("path", OF_A_ROW)
def test_page_of_an_object_shows_its_store_and_chooses_none(mira, shop, path):
    second = factories.business(mira, name="The second one", timezone="Asia/Kolkata")
    rows = rows_of(second)
    browser = signed_in(mira)
    page = text_of(browser.get("/merchant/" + path.format(**rows)))
    assert 'This page is about <span dir="auto">The second one</span>.' in page
    assert f'Your other pages show <span dir="auto">{escape(shop.name)}</span>.' in page
    assert f'href="http://stores.test/store/{second.slug}/"' in page
    assert "The second one" not in text_of(browser.get("/merchant/orders/")).partition("<h1>")[2]
    banner = form_at(browser, "/merchant/" + path.format(**rows), SWITCH, having="next")
    switched = send(browser, banner, business=second.pk)
    assert switched["Location"] == "/merchant/" + path.format(**rows)
    assert "This page is about" not in text_of(browser.get(switched["Location"]))


@pytest.mark.long
def test_address_may_name_a_store_and_no_strangers(mira, shop):
    second = factories.business(mira, name="The second one")
    browser = signed_in(mira)
    page = text_of(browser.get(f"/merchant/store/?store={second.slug}"))
    assert 'value="The second one"' in page
    assert "This page is about" in page
    assert 'value="The second one"' not in text_of(browser.get("/merchant/store/"))
    other = factories.business(factories.merchant("tom@example.com"))
    for slug in (other.slug, "nothing", ""):
        assert browser.get(f"/merchant/store/?store={slug}").status_code == 404


@pytest.mark.spec("Contract 15 Doors", "A form is saved in the store of its page, or says why not")
def test_form_without_a_store_asks_where_there_are_several(mira, shop):
    """Such as one of a page of an earlier release."""
    browser = signed_in(mira)
    new = {"name": "Rye", "price": "5"}
    assert browser.post("/merchant/products/add/", new).status_code == 302
    factories.business(mira, name="The second one")
    asked = browser.post("/merchant/products/add/", new | {"name": "Bread"}, follow=True)
    assert "doesn’t say which of your stores it is for" in text_of(asked)
    assert f"If it is {escape(shop.name)}, press the button again." in text_of(asked)
    assert Product.objects.get().name == "Rye"
    form = form_on(asked, "/merchant/products/add/")
    assert send(browser, form).status_code == 302
    assert Product.objects.get(name="Bread").business == shop


def test_form_without_a_store_that_cant_be_shown_again_is_refused(mira, shop):
    factories.business(mira, name="The second one")
    browser = signed_in(mira)
    long = {"name": "Bread", "price": "5", "description": "x" * kept.LONGEST}
    refused = browser.post("/merchant/products/add/", long)
    assert refused.status_code == 400
    assert "Open its page again, and send it from there." in text_of(refused)
    assert not Product.objects.exists()


@pytest.mark.long
def test_form_of_a_store_that_is_no_longer_ones_own_is_refused(mira, shop):
    second = factories.business(mira, name="The second one")
    browser = signed_in(mira)
    form = form_at(browser, f"/merchant/store/?store={second.slug}")
    second.owner = factories.merchant("tom@example.com")
    second.save()
    form.action = "/merchant/store/"
    refused = send(browser, form, name="Mine")
    assert refused.status_code == 409
    assert "a store that you no longer manage" in text_of(refused)
    assert not Business.objects.filter(name="Mine").exists()


@pytest.mark.spec("Contract 15 Doors", "A form of a page that was shown to somebody else is refused")
def test_form_of_a_page_of_another_person_is_refused(mira, shop):
    form = form_at(signed_in(mira), "/merchant/store/")
    tom = factories.merchant("tom@example.com")
    refused = send(signed_in(tom), form, name="Mine")
    assert refused.status_code == 403
    assert "opened with another account" in text_of(refused)
    assert not Business.objects.filter(name="Mine").exists()


@pytest.mark.parametrize(
    "path",
    ["orders/nothing/", "products/nothing/", "reviews/nothing/delete/", "pages/nothing/delete/",
     "orders/00000000-0000-7000-8000-000000000000/", "products/00000000-0000-7000-8000-000000000000/"],
)  # fmt: skip
def test_unknown_ids_are_not_found(mira, shop, path):
    assert signed_in(mira).get("/merchant/" + path).status_code == 404


def test_navigation_leads_to_each_page_and_to_the_shop(mira, shop):
    page = text_of(signed_in(mira).get("/merchant/"))
    main, settings = page.partition(">Settings</p>")[::2]
    for path in ("orders", "products", "customers", "pages", "apps"):
        assert f'href="/merchant/{path}/"' in main
    for path in ("store", "staff", "notices", "businesses"):
        assert f'href="/merchant/{path}/"' in settings
    assert page.count("View store") == 2, "in the navigation and in a new store's first step"
    assert "/merchant/reviews/" not in page
    assert "/merchant/reviews/" in text_of(signed_in(mira).get("/merchant/products/"))
    assert "/merchant/scripts/" not in page, "there is no app"
    assert f'href="http://stores.test/store/{shop.slug}/"' in page
