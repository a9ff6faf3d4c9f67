"""A merchant's products: the list with its stock, one product, taking it off the shelf."""

from html import unescape

import pytest

from stores.models import Order, Product, Review
from stores.services.checkout import place_order
from stores.services.products import update_product
from stores.services.reviews import create_review
from tests import factories
from tests.merchants.counting import statements_of
from tests.merchants.pages import signed_in, text_of

LIST = "/merchant/products/"
ADD = f"{LIST}add/"
NEW = {
    "name": "Rye Bread", "slug": "", "price": "6.90", "description": "Dark.", "category": "Bread",
    "image": "", "is_available": "on", "stock": "", "low_stock_threshold": "",
}  # fmt: skip


@pytest.fixture
def browser(mira):
    return signed_in(mira)


def words(response):
    return unescape(text_of(response))


def filled_in(browser, product, **changes):
    """What the product's page would send: what it shows, what it had shown, and the changes."""
    form = browser.get(f"{LIST}{product.pk}/").context["form"]
    sent = {}
    for field in form:
        shown = form.fields[field.name].prepare_value(form.initial[field.name])
        sent[f"initial-{field.name}"] = "" if shown is None else shown
        sent[field.name] = "on" if shown is True else "" if shown in (None, False) else shown
    sent |= changes
    if not sent["is_available"]:
        del sent["is_available"]
    return sent


def save(browser, product, **changes):
    return browser.post(f"{LIST}{product.pk}/", filled_in(browser, product, **changes), follow=True)


# --- The list ---------------------------------------------------------------------------------------


def names_found(browser, query, names):
    page = words(browser.get(LIST + query))
    return [name for name in names if f">{name}</a>" in page]


def test_products_come_newest_first_with_price_state_and_stock(browser, shop):
    factories.product(shop, name="Rye", price=690, stock=3, low_stock_threshold=5)
    factories.product(shop, name="Bun", is_available=False)
    factories.product(shop, name="Cake", stock=0)
    page = words(browser.get(LIST))
    assert page.index("Cake</a>") < page.index("Bun</a>") < page.index("Rye</a>")
    for text in ("6.90 USD", "Low", "Unavailable", "Sold out", 'value="3"'):
        assert text in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["Rye", "Bun", "Cake", "Tea"]),
        ("?show=available", ["Rye", "Cake", "Tea"]),
        ("?show=off", ["Bun"]),
        ("?show=low", ["Rye", "Cake"]),
        ("?show=out", ["Cake"]),
        ("?show=archived", ["Old"]),
        ("?q=ye", ["Rye"]),
        ("?q=malty", ["Tea"]),
        ("?category=Drinks", ["Tea"]),
        ("?category=Drinks&show=low", []),
    ],
)
def test_filters_narrow_the_list(browser, shop, query, found):
    factories.product(shop, name="Rye", stock=3, low_stock_threshold=5)
    factories.product(shop, name="Bun", is_available=False, stock=5, low_stock_threshold=5)
    factories.product(shop, name="Cake", stock=0)
    factories.product(shop, name="Tea", category="Drinks", description="Malty.")
    factories.product(shop, name="Old", status="ARCHIVED", stock=0)
    assert names_found(browser, query, ["Rye", "Bun", "Cake", "Tea", "Old"]) == found


@pytest.mark.parametrize("query", ["?show=some", "?category=Nowhere", "?q=a%00b"])
def test_filter_that_can_not_be_is_told_at_its_field(browser, shop, query):
    factories.product(shop)
    response = browser.get(LIST + query)
    assert response.status_code == 422
    assert "There is a problem" in text_of(response)


def test_list_takes_the_same_statements_however_many_products(browser, shop):
    def statements_with_more(products):
        for _ in range(products):
            factories.product(shop, stock=1)
        return statements_of(browser, LIST)

    assert statements_with_more(1) == statements_with_more(3)


@pytest.mark.parametrize(("products", "on_second"), [(25, False), (26, True)])
def test_products_come_in_pages(browser, shop, products, on_second):
    for number in range(products):
        factories.product(shop, name=f"Loaf {number:02}")
    assert ("page=2" in text_of(browser.get(LIST))) is on_second
    assert bool(names_found(browser, "?page=2", ["Loaf 00"])) is on_second


# --- Stock, in the list -----------------------------------------------------------------------------


def set_stock(browser, product, stock, seen, query=""):
    path = f"{LIST}{product.pk}/stock/{query}"
    return browser.post(path, {"stock": stock, "seen": seen})


@pytest.mark.parametrize(
    ("before", "typed", "after"), [(3, "12", 12), (3, "0", 0), (3, "", None), (None, "7", 7)]
)
def test_stock_is_set_in_the_list(browser, shop, ear, before, typed, after):
    bread = factories.product(shop, stock=before)
    seen = "" if before is None else str(before)
    response = set_stock(browser, bread, typed, seen, "?q=Pro&page=1")
    assert response["Location"] == f"{LIST}?q=Pro&page=1#product-{bread.pk}"
    bread.refresh_from_db()
    assert bread.stock == after
    assert ear.only("product_updated")["changed_fields"] == ["stock"]


@pytest.mark.parametrize("typed", ["a dozen", "-1", "1.5", "2147483648", "1\0"])
def test_stock_that_is_no_number_is_told_in_its_row(browser, shop, typed):
    bread, rye = factories.product(shop, name="Bread", stock=3), factories.product(shop, name="Rye", stock=3)
    response = set_stock(browser, bread, typed, "3", "?q=re")
    assert response.status_code == 422
    page = words(response)
    row = page.split(f'id="product-{bread.pk}"')[1].split("</tr>")[0]
    assert 'aria-invalid="true"' in row
    assert typed.replace("\0", "") in row
    assert f'id="product-{rye.pk}"' not in page  # the filters stay
    assert Product.objects.get(pk=bread.pk).stock == 3


def test_stock_that_orders_have_moved_meanwhile_is_not_overwritten(browser, shop):
    bread = factories.product(shop, stock=10)
    place_order(business=shop, request=factories.order_request((bread, 3)))
    response = set_stock(browser, bread, "12", "10")
    assert response.status_code == 422
    assert "The stock has changed since you looked: it is 7 now." in words(response)
    assert Product.objects.get(pk=bread.pk).stock == 7


@pytest.mark.parametrize("seen", ["x", "99999999999999999999", "-3", ""])
def test_stock_that_was_never_shown_is_not_taken_for_seen(browser, shop, seen):
    bread = factories.product(shop, stock=3)
    assert set_stock(browser, bread, "5", seen).status_code == 422
    assert Product.objects.get(pk=bread.pk).stock == 3


# --- Adding -----------------------------------------------------------------------------------------


def test_product_is_added_with_its_price_in_minor_units(browser, shop, ear):
    response = browser.post(ADD, NEW | {"stock": "12", "low_stock_threshold": "4"}, follow=True)
    made = Product.objects.get(business=shop)
    assert response.redirect_chain == [(f"{LIST}{made.pk}/", 302)]
    assert (made.name, made.slug, made.price, made.stock, made.low_stock_threshold) == (
        "Rye Bread", "rye-bread", 690, 12, 4,
    )  # fmt: skip
    assert made.is_available
    assert ear.names == ["product_created"]
    assert "Rye Bread added to your store." in text_of(response)


@pytest.mark.parametrize(
    ("currency", "typed", "minor"),
    [
        ("USD", "12.5", 1250), ("USD", "0", 0), ("USD", " 12 ", 1200), ("EUR", "12,50", 1250),
        ("EUR", "0,5", 50), ("JPY", "1250", 1250), ("KWD", "1.250", 1250), ("KWD", "1.2", 1200),
        ("USD", "90071992547409.91", 2**53 - 1),
    ],
)  # fmt: skip
def test_price_is_read_in_the_digits_of_the_currency(browser, shop, currency, typed, minor):
    shop.currency = currency
    shop.save()
    assert browser.post(ADD, NEW | {"price": typed}).status_code == 302
    assert Product.objects.get(business=shop).price == minor


@pytest.mark.parametrize(
    ("currency", "typed", "message"),
    [
        ("USD", "", "Enter a price."),
        ("USD", "abc", "Enter an amount such as 12.50."),
        ("USD", "-1", "Enter an amount such as 12.50."),
        ("USD", "1,000", "Enter an amount such as 12.50."),
        ("USD", "1e3", "Enter an amount such as 12.50."),
        ("USD", "NaN", "Enter an amount such as 12.50."),
        ("USD", "12.505", "Enter at most 2 decimals, such as 12.50."),
        ("JPY", "12.5", "Enter a whole amount, such as 1250."),
        ("JPY", "12,5", "Enter an amount such as 1250."),
        ("KWD", "1,250", "Enter an amount such as 12.500."),
        ("USD", "90071992547409.92", "Enter a smaller amount."),
        ("USD", "9" * 40, "Enter an amount such as 12.50."),
    ],
)
def test_price_that_is_none_is_told_at_its_field(browser, shop, currency, typed, message):
    shop.currency = currency
    shop.save()
    response = browser.post(ADD, NEW | {"price": typed})
    assert response.status_code == 422
    page = words(response)
    assert f'href="#id_price">{message}</a>' in page
    assert 'value="Rye Bread"' in page
    assert not Product.objects.exists()


@pytest.mark.parametrize(
    ("field", "typed", "message"),
    [
        ("name", " ", "Enter a name."),
        ("name", 201 * "n", "at most 200 characters"),
        ("slug", "rye bread", "Use letters, digits and hyphens."),
        ("slug", "taken", "The address “taken” is taken."),
        ("category", 81 * "c", "at most 80 characters"),
        ("image", "https://elsewhere.example.com/x.png", "begins with one slash"),
        ("image", "//elsewhere.example.com/x.png", "begins with one slash"),
        ("stock", "-1", "Enter 0 or more."),
        ("stock", "some", "Enter a whole number, such as 12."),
        ("low_stock_threshold", "9999999999", "Enter a smaller number."),
        ("description", "a\0b", "Null characters are not allowed."),
    ],
)
def test_product_with_a_fault_is_not_added_and_keeps_what_was_typed(browser, shop, field, typed, message):
    factories.product(shop, name="The other", slug="taken")
    response = browser.post(ADD, NEW | {field: typed})
    assert response.status_code == 422
    page = words(response)
    assert page.split("<title>")[1].startswith("Error: ")
    assert f'href="#id_{field}">' in page
    assert message in page
    assert "6.90" in page
    assert Product.objects.get().name == "The other"


# --- Editing ----------------------------------------------------------------------------------------


def test_product_is_edited(browser, shop, ear):
    bread = factories.product(shop, name="Bread", slug="bread", price=500, stock=3, image="/static/a.svg")
    response = save(
        browser, bread, name="Good Bread", price="5.50", is_available="", category="", image="", stock="8"
    )
    assert "Saved." in text_of(response)
    bread.refresh_from_db()
    assert (bread.name, bread.slug, bread.price, bread.is_available, bread.category, bread.image, bread.stock) == (
        "Good Bread", "bread", 550, False, "", "", 8,
    )  # fmt: skip
    assert ear.only("product_updated")["changed_fields"] == [
        "category", "imageUrl", "isAvailable", "name", "price", "stock",
    ]  # fmt: skip


def test_saving_without_a_change_tells_nobody(browser, shop, ear):
    bread = factories.product(shop, description="Two\r\nlines", stock=3)
    assert "Saved." in text_of(save(browser, bread))
    assert ear == []


def test_address_that_is_emptied_stays(browser, shop):
    bread = factories.product(shop, slug="bread")
    save(browser, bread, slug="")
    assert Product.objects.get(pk=bread.pk).slug == "bread"
    save(browser, bread, slug="good-bread")
    assert Product.objects.get(pk=bread.pk).slug == "good-bread"


def test_taken_address_and_wrong_price_are_told_at_their_fields(browser, shop):
    factories.product(shop, slug="taken")
    bread = factories.product(shop, name="Bread", slug="bread")
    response = save(browser, bread, slug="taken", name="Mine")
    assert response.status_code == 422
    assert 'href="#id_slug">The address “taken” is taken.' in words(response)
    assert 'value="Mine"' in text_of(response)
    assert save(browser, bread, price="x").status_code == 422
    bread.refresh_from_db()
    assert (bread.name, bread.slug) == ("Bread", "bread")


def test_editing_leaves_what_others_have_changed_meanwhile(browser, shop):
    bread = factories.product(shop, name="Bread", price=500, stock=10)
    old_page = filled_in(browser, bread, description="Now with seeds.")
    place_order(business=shop, request=factories.order_request((bread, 3)))
    update_product(product=bread, price=600)
    assert browser.post(f"{LIST}{bread.pk}/", old_page).status_code == 302
    bread.refresh_from_db()
    assert (bread.description, bread.stock, bread.price) == ("Now with seeds.", 7, 600)


def test_new_stock_counts_from_the_one_that_was_seen(browser, shop):
    bread = factories.product(shop, stock=10)
    old_page = filled_in(browser, bread, stock="15", name="Bread")
    place_order(business=shop, request=factories.order_request((bread, 3)))
    response = browser.post(f"{LIST}{bread.pk}/", old_page)
    assert response.status_code == 422
    assert 'href="#id_stock">The stock has changed since you looked: it is 7 now.' in words(response)
    bread.refresh_from_db()
    assert (bread.stock, bread.name) == (7, bread.name)
    assert bread.name != "Bread"


def test_product_shows_its_reviews_and_leads_to_the_shop(browser, shop):
    bread = factories.product(shop, slug="bread")
    assert "None yet" in text_of(browser.get(f"{LIST}{bread.pk}/"))
    create_review(product=bread, rating=4, author_name="Ann")
    page = text_of(browser.get(f"{LIST}{bread.pk}/"))
    assert f"/merchant/reviews/?product={bread.pk}" in page
    assert "1 review, 4.0 of 5" in page
    assert f'href="http://stores.test/store/{shop.slug}/products/bread/"' in page


# --- Off the shelf ----------------------------------------------------------------------------------


@pytest.mark.spec("Contract 9 Orders", "Archiving publishes product.updated, and can be taken back")
def test_product_is_archived_and_put_back(browser, shop, ear):
    bread = factories.product(shop, name="Bread")
    page = words(browser.post(f"{LIST}{bread.pk}/archive/", follow=True))
    assert "Bread archived" in page
    assert "Restore product" in page
    assert names_found(browser, "", ["Bread"]) == []
    assert names_found(browser, "?show=archived", ["Bread"]) == ["Bread"]
    assert "Bread restored." in words(browser.post(f"{LIST}{bread.pk}/restore/", follow=True))
    assert names_found(browser, "", ["Bread"]) == ["Bread"]
    assert ear.names == ["product_updated", "product_updated"]


def test_deleting_asks_first_and_says_what_goes(browser, shop):
    bread = factories.product(shop, name="Bread")
    order = place_order(business=shop, request=factories.order_request((bread, 1)))
    for _ in range(2):
        create_review(product=bread, rating=4, author_name="Ann")
    asked = words(browser.get(f"{LIST}{bread.pk}/delete/"))
    assert "This also deletes its 2 reviews" in asked
    assert Product.objects.exists()
    response = browser.post(f"{LIST}{bread.pk}/delete/", follow=True)
    assert response.redirect_chain == [(LIST, 302)]
    assert "Bread deleted." in text_of(response)
    assert not Product.objects.exists()
    assert not Review.objects.exists()
    assert Order.objects.get(pk=order.pk).items.get().name == "Bread"
    assert browser.post(f"{LIST}{bread.pk}/delete/").status_code == 404
