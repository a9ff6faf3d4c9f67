"""A merchant's products: the list with its stock, one product, taking it off the shelf."""

from datetime import timedelta
from html import unescape
from io import BytesIO

import pytest
from django.utils import timezone
from PIL import Image

from stores.models import Order, Product, ProductPicture, Review
from stores.services.catalogue import products
from stores.services.catalogue.pictures import BATCH, remove_stray_files
from stores.services.catalogue.products import update_product
from stores.services.checkout import place_order
from stores.services.reviews import create_review
from tests import factories
from tests.forms import form_at, form_on, send
from tests.merchants.counting import statements_of
from tests.pages import text_of
from tests.pictures import bomb, picture, upload

MAXIMA = ("Contract 15 Doors", "Every text that people or apps send has a maximum")
LIST = "/merchant/products/"
ADD = f"{LIST}add/"
NEW = {
    "name": "Rye Bread", "slug": "", "price": "6.90", "description": "Dark.", "category": "Bread",
    "is_available": "on", "stock": "", "low_stock_threshold": "",
}  # fmt: skip


def words(response):
    return unescape(text_of(response))


def page_of(browser, product):
    return form_at(browser, f"{LIST}{product.pk}/")


def save(browser, product, **changes):
    return send(browser, page_of(browser, product), follow=True, **changes)


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
    for text in ('value="6.90"', "Low", "Unavailable", "Sold out", 'value="3"'):
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


@pytest.mark.parametrize("query", ["?show=some", "?category=Nowhere"])
def test_filter_that_can_not_be_is_told_at_its_field(browser, shop, query):
    factories.product(shop)
    response = browser.get(LIST + query)
    assert response.status_code == 422
    assert "There is a problem" in text_of(response)


@pytest.mark.long
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


# --- Changes in the list ----------------------------------------------------------------------------


def stock_form(browser, product, query=""):
    return form_at(browser, f"{LIST}{query}", f"{LIST}{product.pk}/row/{query}")


@pytest.mark.parametrize(
    ("before", "typed", "after"), [(3, "12", 12), (3, "0", 0), (3, "", None), (None, "7", 7)]
)
def test_stock_is_set_in_the_list(browser, shop, ear, before, typed, after):
    bread = factories.product(shop, stock=before)
    response = send(browser, stock_form(browser, bread, "?q=Pro&page=1"), stock=typed)
    assert response["Location"] == f"{LIST}?q=Pro&page=1#product-{bread.pk}"
    bread.refresh_from_db()
    assert bread.stock == after
    assert ear.only("product_updated")["changed_fields"] == ["stock"]


@pytest.mark.parametrize("typed", ["a dozen", "-1", "1.5", "2147483648", "1\0"])
def test_stock_that_is_no_number_is_told_in_its_row(browser, shop, typed):
    bread, rye = factories.product(shop, name="Bread", stock=3), factories.product(shop, name="Rye", stock=3)
    response = send(browser, stock_form(browser, bread, "?q=re"), stock=typed)
    assert response.status_code == 422
    page = words(response)
    row = page.split(f'id="product-{bread.pk}"')[1].split("</tr>")[0]
    assert 'aria-invalid="true"' in row
    assert typed.replace("\0", "") in row
    assert f'id="product-{rye.pk}"' not in page  # the filters stay
    assert Product.objects.get(pk=bread.pk).stock == 3


def test_price_and_availability_are_set_in_the_list(browser, shop, ear):
    bread = factories.product(shop, price=690, stock=3)
    form = stock_form(browser, bread)
    typed = dict(form.fields) | {"price": "7,20", "is_available": ""}  # without the switch's own "on"
    assert browser.post(form.action, typed).status_code == 302
    bread.refresh_from_db()
    assert (bread.price, bread.is_available, bread.stock) == (720, False, 3)
    assert set(ear.only("product_updated")["changed_fields"]) == {"price", "isAvailable"}


def by_script(browser, form, **typed):
    """As `js/row_form.js` sends it."""
    fields = dict(form.fields) | typed
    return browser.post(form.action, fields, headers={"accept": "application/json"})


def test_script_gets_what_is_saved(browser, shop):
    bread = factories.product(shop, price=690, stock=9, low_stock_threshold=5)
    answer = by_script(browser, stock_form(browser, bread), price="7.2", stock="3")
    assert answer.status_code == 200
    saved = answer.json()
    assert saved["values"] == {"price": "7.20", "stock": "3"}
    assert "Low" in saved["status"]
    assert saved["shown"] in text_of(browser.get(LIST)), "so that the next change counts from it"


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("price", "", "Enter a price."),
        ("price", "much", "Enter an amount such as 12.50."),
        ("stock", "a dozen", "Enter a whole number, such as 12."),
    ],
)
def test_script_gets_what_is_wrong_at_its_field_and_nothing_is_saved(browser, shop, ear, field, typed, said):
    bread = factories.product(shop, price=690, stock=3)
    answer = by_script(browser, stock_form(browser, bread), **{"price": "5", "stock": "4"} | {field: typed})
    assert answer.status_code == 422
    assert answer.json()["errors"] == {field: said}
    bread.refresh_from_db()
    assert (bread.price, bread.stock) == (690, 3)


def test_script_is_told_what_others_changed_and_saves_it_when_asked_again(browser, shop):
    bread = factories.product(shop, price=690)
    form = stock_form(browser, bread)
    Product.objects.update(price=700)
    answer = by_script(browser, form, price="7.50")
    assert answer.status_code == 409
    assert "Saved now: 7.00." in answer.json()["errors"]["price"]
    again = by_script(browser, form, price="7.50", shown=answer.json()["shown"])
    assert again.status_code == 200
    assert Product.objects.get().price == 750


def test_sample_products_fill_an_empty_store_once(browser, shop, ear):
    assert "Fill with sample products" in text_of(browser.get("/merchant/"))
    for _ in range(2):
        answer = browser.post(f"{LIST}samples/", follow=True)
        assert len(Product.objects.filter(business=shop)) == 30
    assert "Your store has products already" in text_of(answer)
    assert ear.names.count("product_created") == 30, "apps learn of them"
    page = text_of(browser.get(LIST))
    assert "Country Sourdough" in text_of(browser.get(f"{LIST}?page=2")) + page
    assert 'src="/static/vendor/sample-products/small/' in page
    assert "Fill with sample products" not in text_of(browser.get("/merchant/"))


def test_sample_products_leave_a_store_with_an_archived_product_alone(browser, shop):
    factories.product(shop, status="ARCHIVED")
    browser.post(f"{LIST}samples/")
    assert Product.objects.filter(business=shop).count() == 1


def test_stock_that_orders_have_moved_meanwhile_is_not_overwritten(browser, shop):
    bread = factories.product(shop, stock=10)
    old_page = stock_form(browser, bread)
    place_order(business=shop, request=factories.order_request((bread, 3)))
    response = send(browser, old_page, stock=12)
    assert response.status_code == 409
    page = words(response)
    assert "Stock was changed while the page was open." in page
    assert "Saved now: 7." in page
    assert 'value="12"' in page
    assert Product.objects.get(pk=bread.pk).stock == 7
    assert (
        send(browser, form_on(response, LIST, old_page.action)).status_code == 302
    )  # pressed again, knowing that
    assert Product.objects.get(pk=bread.pk).stock == 12


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
        ("KWD", "1,250", 1250), ("EUR", "1250.00", 125_000), ("JPY", "0", 0),
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
        ("USD", "1,000", "“1,000” can mean two amounts. Enter 1000, or 1.00."),
        ("EUR", "1.250", "“1.250” can mean two amounts. Enter 1250, or 1.25."),
        ("EUR", "150.005", "“150.005” can mean two amounts. Enter 150005, or at most 2 decimals."),
        ("JPY", "1.000", "“1.000” can mean two amounts. Enter 1000, or 1."),
        ("EUR", "1.250.000", "Enter an amount such as 12.50."),
        ("EUR", "12.500,00", "Enter an amount such as 12.50."),
        ("USD", "1e3", "Enter an amount such as 12.50."),
        ("USD", "NaN", "Enter an amount such as 12.50."),
        ("USD", "0.005", "Enter at most 2 decimals, such as 12.50."),
        ("USD", "12.5000", "Enter at most 2 decimals, such as 12.50."),
        ("JPY", "12.5", "Enter a whole amount, such as 1250."),
        ("JPY", "12,0", "Enter a whole amount, such as 1250."),
        ("KWD", "1.2500", "Enter at most 3 decimals, such as 12.500."),
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


@pytest.mark.long
@pytest.mark.parametrize(
    ("field", "typed", "message"),
    [
        ("name", " ", "Enter a name."),
        ("name", 201 * "n", "at most 200 characters"),
        ("slug", "rye bread", "Use letters, digits and hyphens."),
        ("slug", "taken", "The address “taken” is taken."),
        ("category", 201 * "c", "at most 200 characters"),
        ("description", 5_001 * "d", "at most 5000 characters (it has 5001)"),
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


@pytest.mark.spec(*MAXIMA)
def test_page_refuses_a_long_description_by_itself(browser, shop, monkeypatch):
    """The services do as well. A line break counts as one character, as the browser counts it."""
    monkeypatch.setattr(products, "create_product", pytest.fail)
    form = form_at(browser, ADD)
    assert send(browser, form, name="Rye", price="1", description="d" * 5_001).status_code == 422
    monkeypatch.undo()
    lines = "line\r\n" * 1_000
    assert send(browser, form, name="Rye", price="1", description=lines).status_code == 302
    assert Product.objects.get().description == lines.replace("\r\n", "\n").strip()


# --- Editing ----------------------------------------------------------------------------------------


@pytest.mark.spec(*MAXIMA)
def test_description_from_before_there_was_a_maximum_stays_until_it_is_changed(browser, shop):
    before = "d" * 7_000
    bread = factories.product(shop, name="Bread", price=500, description=before)
    assert save(browser, bread, price="5.50").status_code == 200
    bread.refresh_from_db()
    assert (bread.price, bread.description) == (550, before)
    assert "(it has 6999)" in text_of(save(browser, bread, description=before[1:]))
    bread.refresh_from_db()
    assert bread.description == before


def test_product_is_edited(browser, shop, ear):
    bread = factories.product(shop, name="Bread", slug="bread", price=500, stock=3, image="/static/a.svg")
    response = save(
        browser, bread, name="Good Bread", price="5.50", is_available="", category="",
        remove_older_picture="on", stock="8",
    )  # fmt: skip
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


@pytest.mark.long
def test_address_that_is_emptied_stays(browser, shop):
    bread = factories.product(shop, slug="bread")
    save(browser, bread, slug="")
    assert Product.objects.get(pk=bread.pk).slug == "bread"
    save(browser, bread, slug="good-bread")
    assert Product.objects.get(pk=bread.pk).slug == "good-bread"


@pytest.mark.long
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
    old_page = page_of(browser, bread)
    place_order(business=shop, request=factories.order_request((bread, 3)))
    update_product(product=bread, price=600)
    assert send(browser, old_page, description="Now with seeds.").status_code == 302
    bread.refresh_from_db()
    assert (bread.description, bread.stock, bread.price) == ("Now with seeds.", 7, 600)


def test_new_stock_counts_from_the_one_that_was_seen(browser, shop):
    bread = factories.product(shop, name="Bread", stock=10)
    old_page = page_of(browser, bread)
    place_order(business=shop, request=factories.order_request((bread, 3)))
    response = send(browser, old_page, stock=15, name="Rye")
    assert response.status_code == 409
    assert 'href="#id_stock">Stock was changed while the page was open.' in words(response)
    bread.refresh_from_db()
    assert (bread.stock, bread.name) == (7, "Bread")


def test_product_shows_its_reviews_and_leads_to_the_shop(browser, shop):
    bread = factories.product(shop, slug="bread")
    assert "None yet" in text_of(browser.get(f"{LIST}{bread.pk}/"))
    create_review(product=bread, rating=4, author_name="Ann")
    page = text_of(browser.get(f"{LIST}{bread.pk}/"))
    assert f"/merchant/reviews/?product={bread.pk}" in page
    assert "1 review, 4.0 of 5" in page
    assert f'href="http://stores.test/store/{shop.slug}/products/bread/"' in page


# --- Pictures ---------------------------------------------------------------------------------------


@pytest.fixture
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    return tmp_path / "stores"


def photo(kind="JPEG", name="a.jpg", **options):
    return upload(picture(kind, **({"size": (1200, 900)} | options)), name=name)


def pictures_of(product):
    return list(product.pictures.all())


@pytest.mark.long
def test_product_is_added_with_pictures_in_their_order(browser, shop, media, ear, client):
    sent = [photo("PNG", size=(3000, 1500)), photo("WEBP"), photo("JPEG", size=(20, 20))]
    assert browser.post(ADD, NEW | {"pictures": sent}).status_code == 302
    made = Product.objects.get(business=shop)
    first, second, third = pictures_of(made)
    assert made.image == first.path == f"/media/stores/{first.pk}"
    assert (first.width, first.height, first.content_type) == (2000, 1000, "image/png")
    assert (second.content_type, third.width) == ("image/webp", 20)
    assert ear.names == ["product_created"]
    for host in ("testserver", "stores.test"):
        for path, width in ((first.path, 2000), (first.thumbnail_path, 480), (third.thumbnail_path, 20)):
            served = client.get(path, headers={"host": host})
            assert (served["Content-Type"], served.status_code) == (
                "image/jpeg" if path == third.thumbnail_path else "image/png", 200,
            )  # fmt: skip
            assert served["Cache-Control"] == "public, max-age=31536000, immutable"
            assert served["Content-Security-Policy"] == "default-src 'none'; sandbox"
            assert Image.open(BytesIO(served.getvalue())).width == width
    assert first.thumbnail_path in text_of(browser.get(LIST))


@pytest.mark.long
def test_picture_loses_its_metadata_and_stands_upright(browser, shop, media):
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    exif[0x010E] = "taken at 52.5, 13.4"
    browser.post(ADD, NEW | {"pictures": [photo(size=(3000, 1500), exif=exif)]})
    (kept,) = pictures_of(Product.objects.get(business=shop))
    assert (kept.width, kept.height) == (1000, 2000)
    with kept.file.open() as file:
        content = file.read()
    assert b"taken at" not in content
    assert not Image.open(BytesIO(content)).getexif()


@pytest.mark.long
def test_pictures_are_described_moved_and_removed(
    browser, shop, media, ear, django_capture_on_commit_callbacks
):
    browser.post(ADD, NEW | {"pictures": [photo("PNG"), photo("WEBP"), photo()]})
    bread = Product.objects.get(business=shop)
    one, two, three = (picture.pk for picture in pictures_of(bread))
    ear.clear()
    save(browser, bread, **{f"alt_{one}": "A loaf", f"position_{three}": "1"})
    assert [(p.pk, p.alt) for p in pictures_of(bread)] == [(three, ""), (one, "A loaf"), (two, "")]
    assert ear.only("product_updated")["changed_fields"] == ["imageUrl"]
    bread.refresh_from_db()
    assert bread.image.endswith(str(three))
    save(browser, bread, **{f"position_{three}": "3"})
    assert [p.pk for p in pictures_of(bread)] == [one, two, three]
    ear.clear()
    save(browser, bread, **{f"alt_{two}": "Sliced"})
    assert ear == []  # the first picture is the same
    assert len(files_in(media)) == 6
    with django_capture_on_commit_callbacks(execute=True):
        save(browser, bread, **{f"remove_{one}": "on", f"remove_{three}": "on"}, pictures=[photo()])
    assert [(p.pk == two, p.position) for p in pictures_of(bread)] == [(True, 0), (False, 1)]
    assert len(files_in(media)) == 4
    with django_capture_on_commit_callbacks(execute=True):
        browser.post(f"{LIST}{bread.pk}/delete/")
    assert files_in(media) == []
    assert browser.get(f"/media/stores/{two}").status_code == 404


@pytest.mark.long
def test_removing_all_pictures_leaves_the_neutral_one(browser, shop, media):
    bread = factories.product(shop, image="/static/a.svg")
    save(browser, bread, pictures=[photo()])
    (only,) = pictures_of(bread)
    save(browser, bread, **{f"remove_{only.pk}": "on"})
    bread.refresh_from_db()
    assert bread.image == ""


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([upload(b"<svg/>", name="a.png")], "Choose a PNG, JPEG or WebP picture."),
        ([upload(picture("GIF"), name="a.png")], "Choose a PNG, JPEG or WebP picture."),
        ([upload(bomb(60_000, 60_000))], "Choose a picture of at most 25 megapixels."),
        ([upload(picture() + bytes(5 * 1024 * 1024))], "Choose a picture of at most 5 MiB."),
        ([upload(picture(), name="fine.png"), upload(b"x", name="bad.png")], "bad.png: Choose a PNG"),
        ([upload(picture()) for _ in range(9)], "Choose at most 8 pictures."),
    ],
)
def test_file_that_is_no_fitting_picture_is_refused_at_its_field(browser, shop, media, files, message):
    response = browser.post(ADD, NEW | {"pictures": [reread(file) for file in files]})
    assert response.status_code == 422
    page = words(response)
    assert f'href="#id_pictures">{message}' in page
    assert 'value="Rye Bread"' in page
    assert "Choose your pictures again." in page
    assert not Product.objects.exists()
    assert not media.exists()


def reread(file):
    file.seek(0)
    return file


@pytest.mark.long
def test_product_has_at_most_eight_pictures(browser, shop, media):
    bread = factories.product(shop, name="Bread")
    save(browser, bread, pictures=[photo(size=(8, 8)) for _ in range(7)])
    response = save(browser, bread, pictures=[photo(size=(8, 8)) for _ in range(2)], name="Rye")
    assert "A product can have at most 8 pictures." in text_of(response)
    bread.refresh_from_db()
    assert (len(pictures_of(bread)), bread.name) == (7, "Bread")


def test_page_of_another_merchant_changes_no_pictures(browser, shop, media):
    bread = factories.product(factories.business(factories.merchant("rival@example.com")))
    response = browser.post(f"{LIST}{bread.pk}/", NEW | {"pictures": [photo()]})
    assert response.status_code == 404
    assert not media.exists()


@pytest.mark.long
def test_files_that_no_row_refers_to_are_removed_after_a_day(browser, shop, media):
    browser.post(ADD, NEW | {"pictures": [photo()]})
    (kept,) = {file.parent for file in files_in(media)}
    assert kept.parent == media
    strays = [folder / f"{shop.pk}-{number}.png" for folder in (media, kept) for number in range(BATCH)]
    for stray in strays:  # of now, and as they were named before
        stray.write_bytes(b"x")
    old = ProductPicture.objects.get()
    old.file.storage.save(f"stores/{old.pk}.png", BytesIO(b"x"))
    assert remove_stray_files() == 0
    assert remove_stray_files(now=timezone.now() + timedelta(days=2)) == len(strays)
    assert {file.name for file in files_in(media)} == {
        f"{old.pk}.jpeg",
        f"{old.pk}-small.jpeg",
        f"{old.pk}.png",
    }


def files_in(media):
    return [path for path in media.rglob("*") if path.is_file()]


# --- Off the shelf ----------------------------------------------------------------------------------


@pytest.mark.long
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


@pytest.mark.slow
def test_ten_thousand_products_take_few_statements(browser, shop):
    Product.objects.bulk_create(
        Product(
            business=shop,
            name=f"Product {number}",
            slug=f"many-{number}",
            price=100,
            category=f"Category {number % 40}",
            stock=number % 50,
            low_stock_threshold=5,
        )
        for number in range(10_000)
    )
    for path in ("", "?show=low", "?q=Product+77", "?category=Category+7"):
        assert statements_of(browser, f"/merchant/products/{path}") <= 20, path
