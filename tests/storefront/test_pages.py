"""Looking around a shop: its products, reviews and pages."""

import re
from html import unescape

import pytest
import time_machine
from django.test import Client
from django.urls import get_resolver

from storefront.templatetags.storefront import stock_words
from stores.models import Review, StoreSettings
from stores.services.pages import create_page
from stores.services.reviews import create_review
from tests import factories
from tests.storefront.shopping import STORES_HOST

HTML = {"HTTP_ACCEPT": "text/html"}


@pytest.fixture
def shopper():
    return Client(headers={"accept": "text/html"}, SERVER_NAME=STORES_HOST)


@pytest.fixture
def bread(shop):
    return factories.product(shop, name="Bread", slug="bread", price=500, category="Bread")


def text(response):
    return unescape(response.content.decode())


def home(shop, **query):
    return f"/store/{shop.slug}/" + ("?" + "&".join(f"{k}={v}" for k, v in query.items()) if query else "")


# --- Products ---------------------------------------------------------------------------------------


@pytest.mark.spec("Contract 7 Pages", "/store/<business-slug>/ shows products to everyone")
def test_home_lists_products_with_price_and_stock(shop, shopper, bread):
    factories.product(shop, name="Rye", stock=0)
    factories.product(shop, name="Roll", stock=2)
    factories.product(shop, name="Bun", is_available=False)
    page = text(shopper.get(home(shop)))
    assert page.count("<h1") == 1
    assert "Bread</a>" in page
    assert "$5.00" in page
    for words in ("Sold out", "Only 2 left", "Not available"):
        assert words in page


@pytest.mark.parametrize(
    ("stock", "threshold", "words"),
    [
        (3, 0, "In stock"),
        (3, 3, "In stock"),
        (3, 4, "Only 3 left"),
        (4, None, "Only 4 left"),
        (5, None, "In stock"),
    ],
)
def test_few_are_said_to_be_left_below_the_threshold(shop, stock, threshold, words):
    assert stock_words(factories.product(shop, stock=stock, low_stock_threshold=threshold)) == words


def test_what_can_not_be_had_comes_last_and_lists_are_sorted(shop, shopper, bread):
    bun = factories.product(shop, name="A bun", slug="bun", price=300, category="Bread")
    for product, rating in ((bun, 3), (bread, 5)):
        create_review(product=product, rating=rating, author_name="Kim")
    factories.product(shop, name="Gone", slug="gone", price=900, stock=0)

    def order(**query):
        return re.findall(r"/products/(\w+)/", text(shopper.get(home(shop, **query))))

    assert order() == ["bun", "bread", "gone"]
    assert order(sort="price") == ["bun", "bread", "gone"]
    assert order(sort="-price") == ["gone", "bread", "bun"]
    assert order(sort="name") == ["bun", "bread", "gone"]
    assert order(sort="-rating") == ["bread", "bun", "gone"]
    assert order(sort="'") == order()
    page = text(shopper.get(f"{home(shop)}products/bread/"))
    assert "More in Bread" in page
    assert "/products/bun/" in page
    assert "/products/gone/" not in page


def test_store_shows_its_own_look(shop, shopper, bread):
    assert 'data-accent="graphite"' in text(shopper.get(home(shop)))
    StoreSettings.objects.create(
        business=shop, accent="teal", tagline="Bread & more", hero_text="<b>Hello</b>"
    )
    page = shopper.get(home(shop)).content.decode()
    assert 'data-accent="teal"' in page
    assert '<h1 dir="auto">Bread &amp; more</h1>' in page
    assert "&lt;b&gt;Hello" in page
    assert "<h1" in (narrowed := shopper.get(home(shop, category="Bread")).content.decode())
    assert "&lt;b&gt;Hello" not in narrowed


def test_price_is_written_in_the_currency_and_locale_of_the_shop(shop, shopper, bread):
    shop.currency, shop.locale = "EUR", "de-DE"
    shop.save()
    bread.price = 123450
    bread.save()
    assert "1.234,50\N{NO-BREAK SPACE}€" in text(shopper.get(home(shop)))


def test_archived_products_and_those_of_other_shops_are_not_listed(shop, shopper, sandbox):
    factories.product(shop, name="Old cake", slug="old-cake", status="ARCHIVED")
    factories.product(sandbox, name="Elsewhere", slug="elsewhere")
    page = text(shopper.get(home(shop)))
    assert "Old cake" not in page
    assert "Elsewhere" not in page
    assert shopper.get(f"/store/{shop.slug}/products/elsewhere/").status_code == 404
    archived = text(shopper.get(f"/store/{shop.slug}/products/old-cake/"))
    assert "No longer sold" in archived
    assert "Add to cart" not in archived


def test_category_and_search_narrow_the_list(shop, shopper, bread):
    factories.product(shop, name="Espresso", category="Drinks & more")
    page = text(shopper.get(home(shop, category="Drinks%20%26%20more")))
    assert "Espresso" in page
    assert "Bread</a></h2>" not in page
    page = text(shopper.get(home(shop, q="brea")))
    assert "Bread</a></h2>" in page
    assert "Espresso" not in page
    assert "No product matches “zeppelin”" in text(shopper.get(home(shop, q="zeppelin")))


@pytest.mark.parametrize("name", ["q", "category"])
def test_strange_words_in_the_address_find_what_they_can(shop, shopper, bread, name):
    assert shopper.get(home(shop, **{name: "Bre%00ad"})).status_code == 400
    long = text(shopper.get(home(shop, **{name: "y" * 5000})))
    assert "Bread</a></h2>" not in long
    assert "y" * 201 not in re.sub(r'<input type="hidden" name="next"[^>]*>', "", long)


@pytest.mark.parametrize(("products", "on_second"), [(24, False), (25, True)])
def test_products_come_in_pages(shop, shopper, products, on_second):
    for number in range(products):
        factories.product(shop, name=f"Loaf {number:03}", slug=f"loaf-{number:03}")
    assert ("page=2" in text(shopper.get(home(shop)))) is on_second
    assert ("Loaf 000" in text(shopper.get(home(shop, page=2)))) is on_second
    assert shopper.get(home(shop, page="x")).status_code == 400


@pytest.mark.parametrize("products", [1, 24])
def test_a_page_takes_the_same_statements_however_many_products(
    shop, shopper, products, django_assert_num_queries
):
    for _ in range(products):
        factories.product(shop)
    # shop, its look, products, their total, categories, site pages, and the apps that add to pages
    with django_assert_num_queries(7):
        response = shopper.get(home(shop))
    assert len(response.content) <= 60_000


def test_empty_shop_says_so(shop, shopper):
    assert "No products yet" in text(shopper.get(home(shop)))


@pytest.mark.spec("Contract 7 Pages", "A shop that does not exist is a 404 page")
@pytest.mark.parametrize("path", ["", "products/bread/", "cart/", "checkout/", "pages/about/", "orders/x/"])
def test_unknown_shop_is_a_404_page(db, shopper, path):
    response = shopper.get(f"/store/nowhere/{path}")
    assert response.status_code == 404
    assert "There is no store at this address." in text(response)


def test_unknown_thing_of_a_shop_is_a_404_in_its_frame(shop, shopper):
    response = shopper.get(f"/store/{shop.slug}/products/nothing/")
    assert response.status_code == 404
    assert shop.name in text(response)
    as_json = shopper.get(f"/store/{shop.slug}/products/nothing/", headers={"accept": "application/json"})
    assert as_json.json() == {"statusCode": 404, "message": "Product not found", "error": "Not Found"}


def test_address_without_its_slash_leads_to_the_page(shop, shopper):
    response = shopper.get(f"/store/{shop.slug}")
    assert response.status_code == 301
    assert response["Location"] == f"/store/{shop.slug}/"


def test_sandbox_is_marked_and_a_shop_is_not(shop, sandbox, shopper):
    assert "sandbox-mark" in text(shopper.get(home(sandbox)))
    assert "sandbox-mark" not in text(shopper.get(home(shop)))


def test_storefront_shows_the_shops_frame_and_not_the_platforms(shop, shopper, bread):
    page = text(shopper.get(home(shop)))
    assert 'class="top-bar"' not in page
    assert "Marketplace" not in page
    assert f"<title>Products · {shop.name}</title>" in page


def test_what_merchants_write_is_shown_as_text(shop, shopper):
    factories.product(shop, name="<script>x()</script>", slug="bad", description="<b>not bold</b>")
    page = shopper.get(f"/store/{shop.slug}/products/bad/").content.decode()
    assert "<script>x()" not in page
    assert "<b>not bold" not in page


def test_pictures_of_others_are_allowed_and_scripts_are_not(shop, shopper):
    policy = shopper.get(home(shop))["Content-Security-Policy"]
    pictures = next(part for part in policy.split("; ") if part.startswith("img-src"))
    assert "https:" in pictures
    assert "script-src" not in policy
    assert "default-src 'self'" in policy


# --- Reviews ----------------------------------------------------------------------------------------


def send_review(shopper, shop, **fields):
    typed = {"rating": "5", "comment": "Crusty.", "author_name": "Kim"} | fields
    return shopper.post(f"/store/{shop.slug}/products/bread/reviews/", typed)


@pytest.mark.spec("Contract 7 Pages", "A product's page has its reviews and a form to write one")
def test_review_is_published_with_the_average(shop, shopper, bread, ear):
    Review.objects.create(business=shop, product=bread, rating=2, author_name="Sam", comment="Stale.")
    response = send_review(shopper, shop)
    assert response.status_code == 302
    page = text(shopper.get(response["Location"]))
    assert "Your review is published." in page
    assert "Crusty." in page
    assert "Stale." in page
    assert "3.5 from 2 reviews" in page
    assert ear.only("review_created")["review"].rating == 5


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rating": ""}, "Choose a rating from 1 to 5."),
        ({"rating": "6"}, "Select a valid choice"),
        ({"rating": "0"}, "Select a valid choice"),
        ({"author_name": " "}, "Enter the name to show with your review."),
        ({"comment": "x" * 2001}, "at most 2000 characters"),
    ],
)
def test_wrong_review_keeps_what_was_typed(shop, shopper, bread, fields, message):
    response = send_review(shopper, shop, **{"comment": "Kept words", **fields})
    assert response.status_code == 422
    page = text(response)
    assert message in page
    assert "<title>Error: Bread" in page
    assert "Kept words" in page or "x" * 2001 in page
    assert not Review.objects.exists()


@pytest.mark.long
def test_reviews_are_limited_by_address_and_lose_nothing(shop, shopper, bread):
    with time_machine.travel(1_800_000_000, tick=False):
        assert [send_review(shopper, shop).status_code for _ in range(30)] == [302] * 30
        response = send_review(shopper, shop, comment="One too many")
    assert response.status_code == 429
    assert int(response["Retry-After"]) >= 1
    assert "One too many" in text(response)
    assert Review.objects.count() == 30


def test_reviews_come_in_pages(shop, shopper, bread):
    for number in range(11):
        Review.objects.create(business=shop, product=bread, rating=3, author_name=f"Reader {number:02}")
    assert "Reader 00" not in text(shopper.get(f"/store/{shop.slug}/products/bread/"))
    assert "Reader 00" in text(shopper.get(f"/store/{shop.slug}/products/bread/?page=2"))


# --- Site pages -------------------------------------------------------------------------------------


@pytest.mark.spec("Contract 7 Pages", "The storefront shows published site pages with cleaned HTML")
def test_site_page_shows_its_html_without_scripts(shop, shopper):
    content = '<h2>Hours</h2><script>x()</script><p onclick="x()">Seven to <em>six</em></p>'
    create_page(business=shop, title="About us", slug="about", content=content)
    create_page(business=shop, title="Secret", slug="secret", is_published=False)
    page = shopper.get(f"/store/{shop.slug}/pages/about/").content.decode()
    assert "<h2>Hours</h2><p>Seven to <em>six</em></p>" in page
    assert "x()" not in page
    assert "Secret" not in page
    assert shopper.get(f"/store/{shop.slug}/pages/secret/").status_code == 404


# --- The whole --------------------------------------------------------------------------------------


def test_only_pages_that_change_something_take_post(shop, shopper, bread):
    for name in ("cart/add", "cart/change/", "cart/remove/"):
        assert shopper.get(f"/store/{shop.slug}/{name}").status_code in (404, 405)
    assert shopper.post(f"/store/{shop.slug}/").status_code == 405
    assert shopper.post(f"/store/{shop.slug}/products/bread/").status_code == 405


def test_no_view_of_the_store_runs_in_a_transaction(settings):
    assert not settings.DATABASES["default"].get("ATOMIC_REQUESTS")
    assert get_resolver("storefront.urls").url_patterns
