import pytest
from django.test import Client

from accounts.models import User
from stores.models import Order, Product, Review, SitePage, StoreSettings
from stores.services.checkout import place_order
from stores.services.pages import create_page
from stores.services.reviews import create_review
from tests import factories
from tests.factories import order_request

BASE = "/admin/stores"


@pytest.fixture
def admin(db):
    client = Client()
    client.force_login(User.objects.create_superuser("root@example.com", "x"))
    return client


def edit(client, row, **changes):
    """Open the change form, change some fields in it, and save."""
    url = f"{BASE}/{row._meta.model_name}/{row.pk}/change/"
    form = client.get(url).context["adminform"].form
    data = {name: form[name].value() for name in form.fields}
    data |= {
        f"initial-{name}": data[name] for name, field in form.fields.items() if field.show_hidden_initial
    }
    data |= changes
    return client.post(url, {name: value for name, value in data.items() if value not in (None, False)})


@pytest.mark.parametrize("model", ["product", "order", "review", "sitepage", "storesettings"])
def test_list_pages_open(admin, shop, model):
    create_review(product=factories.product(shop), rating=4, author_name="Kim")
    assert admin.get(f"{BASE}/{model}/").status_code == 200


def test_stranger_is_sent_to_sign_in(client, mira, shop):
    product = factories.product(shop)
    client.force_login(mira)
    response = client.get(f"{BASE}/product/{product.pk}/change/")
    assert (response.status_code, "login" in response["Location"]) == (302, True)


def test_editing_a_product_is_told(admin, shop, ear):
    product = factories.product(shop, name="Rye", stock=5, low_stock_threshold=3)
    assert edit(admin, product, name="Wheat", stock="2").status_code == 302
    product.refresh_from_db()
    assert (product.name, product.stock) == ("Wheat", 2)
    assert ear.names == ["product_updated", "stock_crossed"]
    assert ear[0].arguments["changed_fields"] == ["name", "stock"]


def test_form_that_was_open_while_something_was_sold_keeps_the_sale(admin, shop):
    product = factories.product(shop, stock=5)
    url = f"{BASE}/product/{product.pk}/change/"
    form = admin.get(url).context["adminform"].form
    data = {name: form[name].value() for name in form.fields} | {"initial-stock": "5", "name": "New"}
    place_order(business=shop, request=order_request((product, 2)))
    admin.post(url, {name: value for name, value in data.items() if value not in (None, False)})
    product.refresh_from_db()
    assert (product.name, product.stock) == ("New", 3)


def test_taken_slug_is_said_on_the_form(admin, shop):
    factories.product(shop, slug="rye")
    other = factories.product(shop, slug="other")
    response = edit(admin, other, slug="rye")
    assert response.status_code == 200
    assert b"already exists" in response.content or b"violated" in response.content
    other.refresh_from_db()
    assert other.slug == "other"


def test_adding_a_product_is_told(admin, shop, ear):
    fields = {"business": shop.pk, "name": "Rye", "slug": "rye", "price": "640", "is_available": "on"}
    response = admin.post(f"{BASE}/product/add/", fields)
    assert response.status_code == 302
    assert Product.objects.get().price == 640
    assert ear.names == ["product_created"]


def test_actions_archive_and_restore(admin, shop):
    product = factories.product(shop)
    for action, status in (("archive", "ARCHIVED"), ("restore", "ACTIVE")):
        admin.post(f"{BASE}/product/", {"action": action, "_selected_action": [product.pk]})
        product.refresh_from_db()
        assert product.status == status


def test_deleting_products_one_by_one_or_many_is_told(admin, shop, ear):
    products = [factories.product(shop) for _ in range(3)]
    admin.post(f"{BASE}/product/{products[0].pk}/delete/", {"post": "yes"})
    chosen = [product.pk for product in products[1:]]
    admin.post(f"{BASE}/product/", {"action": "delete_selected", "_selected_action": chosen, "post": "yes"})
    assert not Product.objects.exists()
    assert ear.names == ["product_deleted"] * 3


def test_order_is_moved_by_an_action(admin, shop, ear):
    order, done = factories.order(shop), factories.order(shop, status="DELIVERED", number="77")
    response = admin.post(
        f"{BASE}/order/",
        {"action": "move_to_cancelled", "_selected_action": [order.pk, done.pk]},
        follow=True,
    )
    assert b"Order 77: An order that is DELIVERED can&#x27;t become CANCELLED." in response.content
    assert dict(Order.objects.values_list("number", "status")) == {
        order.number: "CANCELLED",
        "77": "DELIVERED",
    }
    assert ear.names == ["order_status_changed"]


def test_order_is_read_only_otherwise(admin, shop):
    order = place_order(business=shop, request=order_request((factories.product(shop), 1)))
    url = f"{BASE}/order/{order.pk}"
    assert order.number.encode() in admin.get(f"{url}/change/").content
    admin.post(f"{url}/change/", {"status": "DELIVERED", "amount": "1"})
    assert Order.objects.values_list("status", "amount").get() == (order.status, order.amount)
    assert admin.post(f"{url}/delete/", {"post": "yes"}).status_code == 403
    assert admin.get(f"{BASE}/order/add/").status_code == 403


def test_review_is_read_and_removed(admin, shop, ear):
    review = create_review(product=factories.product(shop), rating=4, author_name="Kim")
    ear.clear()
    admin.post(f"{BASE}/review/{review.pk}/delete/", {"post": "yes"})
    assert not Review.objects.exists()
    assert ear.names == ["review_deleted"]
    assert admin.get(f"{BASE}/review/add/").status_code == 403


def test_page_is_cleaned_when_it_is_saved(admin, shop):
    page = create_page(business=shop, title="About")
    edit(admin, page, content="<p>Hi<script>alert(1)</script></p>")
    page.refresh_from_db()
    assert page.content == "<p>Hi</p>"
    admin.post(
        f"{BASE}/sitepage/add/", {"business": shop.pk, "title": "T", "slug": "t", "content": "<b>x</b>"}
    )
    assert not SitePage.objects.get(slug="t").is_published
    admin.post(f"{BASE}/sitepage/{page.pk}/delete/", {"post": "yes"})
    assert not SitePage.objects.filter(pk=page.pk).exists()


def test_text_has_a_maximum_and_older_ones_stay(admin, shop):
    product = factories.product(shop, name="Rye", description="d" * 7_000)
    assert edit(admin, product, description="d" * 6_000).status_code == 200
    assert edit(admin, product, name="Wheat").status_code == 302
    product.refresh_from_db()
    assert (product.name, product.description) == ("Wheat", "d" * 7_000)
    page = create_page(business=shop, title="About")
    assert edit(admin, page, content="x" * 20_001).status_code == 200
    page.refresh_from_db()
    assert page.content == ""


def test_delivery_fee_is_set(admin, shop):
    url = f"{BASE}/storesettings"
    admin.post(f"{url}/add/", {"business": shop.pk, "delivery_fee": "300"})
    assert StoreSettings.objects.get(business=shop).delivery_fee == 300
    admin.post(f"{url}/{shop.pk}/change/", {"delivery_fee": "0"})
    assert StoreSettings.objects.get(business=shop).delivery_fee == 0
