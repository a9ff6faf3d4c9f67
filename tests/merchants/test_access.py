"""Who may open the merchant's pages about the store: its merchant, and a developer on their sandbox."""

import pytest
from django.test import Client

from stores.models import Order, Product, Review, SitePage
from stores.services.pages import create_page
from stores.services.reviews import create_review
from tests import factories
from tests.pages import HTML, signed_in, text_of

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
POSTS = (
    ("orders/{order}/status/", {"status": "CONFIRMED"}),
    ("orders/{order}/cancel/", {}),
    ("products/{product}/", {"name": "Stolen", "price": "1", "stock": "9", "initial-stock": ""}),
    ("products/{product}/stock/", {"stock": "3", "seen": ""}),
    ("products/{product}/archive/", {}),
    ("products/{product}/restore/", {}),
    ("products/{product}/delete/", {}),
    ("reviews/{review}/delete/", {}),
    ("pages/{page}/delete/", {}),
)


def rows_of(business):
    """One of each in a shop, by its name in the paths above."""
    product = factories.product(business, name="Bread of " + business.slug)
    return {
        "order": factories.order(business, customer_name="Kim of " + business.slug).pk,
        "product": product.pk,
        "review": create_review(product=product, rating=4, author_name="Ann", comment="Good.").pk,
        "page": create_page(business=business, title="About " + business.slug).pk,
    }


def state():
    """All that a page could have changed."""
    return [
        list(Order.objects.order_by("id").values_list("id", "status")),
        list(Product.objects.order_by("id").values_list("id", "name", "status", "stock")),
        list(Review.objects.order_by("id").values_list("id")),
        list(SitePage.objects.order_by("id").values_list("id")),
    ]


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


def test_merchant_with_two_shops_sees_the_one_that_is_chosen(mira, shop):
    second = factories.business(mira, name="The second one")
    rows = rows_of(second)
    browser = signed_in(mira)
    assert browser.get(f"/merchant/orders/{rows['order']}/").status_code == 404
    browser.post("/merchant/businesses/switch/", {"business": str(second.pk)})
    assert browser.get(f"/merchant/orders/{rows['order']}/").status_code == 200


@pytest.mark.parametrize("path", LISTS + OF_A_ROW)
def test_signed_out_is_led_to_sign_in_and_back(shop, path):
    path = "/merchant/" + path.format(**rows_of(shop))
    assert Client(headers=HTML).get(path)["Location"] == f"/accounts/login/?next={path}"


@pytest.mark.parametrize(("path", "body"), POSTS)
def test_signed_out_changes_nothing(shop, path, body):
    path = "/merchant/" + path.format(**rows_of(shop))
    before = state()
    assert Client(headers=HTML).post(path, body)["Location"].startswith("/accounts/login/")
    assert state() == before


def test_reviewer_has_no_shop(db):
    assert signed_in(factories.reviewer()).get("/merchant/orders/").status_code == 403


@pytest.mark.parametrize(
    "path",
    ["orders/nothing/", "products/nothing/", "reviews/nothing/delete/", "pages/nothing/delete/",
     "orders/00000000-0000-7000-8000-000000000000/", "products/00000000-0000-7000-8000-000000000000/"],
)  # fmt: skip
def test_unknown_ids_are_not_found(mira, shop, path):
    assert signed_in(mira).get("/merchant/" + path).status_code == 404


def test_navigation_leads_to_each_page_and_to_the_shop(mira, shop):
    page = text_of(signed_in(mira).get("/merchant/"))
    for path in ("orders", "products", "reviews", "pages", "store"):
        assert f'href="/merchant/{path}/"' in page
    assert f'href="http://stores.test/store/{shop.slug}/"' in page
