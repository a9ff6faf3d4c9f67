"""The cart."""

import pytest

from stores.models import Product
from tests import factories
from tests.stores.shopping import Shopper, text


@pytest.fixture
def bread(shop):
    return factories.product(shop, name="Bread", slug="bread", price=500, stock=10)


@pytest.fixture
def shopper(shop):
    return Shopper(shop)


def test_cart_adds_up_and_counts(shop, shopper, bread):
    coffee = factories.product(shop, name="Coffee", price=325)
    shopper.take(bread, 2)
    shopper.take(bread, 1)
    response = shopper.take(coffee, 1)
    assert response["Location"] == f"/store/{shop.slug}/products/{coffee.slug}/"
    assert "1 × Coffee added." in shopper.see(f"products/{coffee.slug}/")
    page = shopper.see("cart/")
    assert "18.25\N{NO-BREAK SPACE}USD" in page
    assert 'holding </span>4<span class="visually-hidden"> items' in page


@pytest.mark.parametrize(
    ("quantity", "message"),
    [
        ("0", "Enter at least 1."),
        ("-3", "Enter at least 1."),
        ("two", "Enter a whole number"),
        ("", "Enter how many you want."),
        ("1000", "at most 999"),
        ("11", "Only 10 left."),
    ],
)
def test_wrong_quantity_is_said_and_kept(shop, shopper, bread, quantity, message):
    response = shopper.take(bread, quantity)
    assert response.status_code == 422
    assert message in text(response)
    assert f'value="{quantity}"' in text(response) or not quantity
    assert "Nothing in here yet" in shopper.see("cart/")


def test_more_than_there_is_can_not_be_added_by_and_by(shopper, bread):
    shopper.take(bread, 8)
    assert "Only 10 left. You have 8 already." in text(shopper.take(bread, 3))


def test_sold_out_and_unavailable_products_can_not_be_added(shop, shopper):
    for slug, fields in (("a", {"stock": 0}), ("b", {"is_available": False}), ("c", {"status": "ARCHIVED"})):
        product = factories.product(shop, slug=slug, **fields)
        assert "Add to cart" not in shopper.see(f"products/{slug}/")
        assert shopper.take(product).status_code == 422


def test_quantities_change_and_lines_go(shop, shopper, bread):
    coffee = factories.product(shop, name="Coffee", price=325)
    shopper.take(bread, 2)
    shopper.take(coffee, 1)
    shopper.post(
        shopper.at("cart/change/"), {f"quantity-{bread.pk}": "5", f"quantity-{coffee.pk}": "0"}, follow=True
    )
    page = shopper.see("cart/")
    assert "25.00\N{NO-BREAK SPACE}USD" in page
    assert "Coffee" not in page
    shopper.post(shopper.at("cart/remove/"), {"product": str(bread.pk)})
    assert "Nothing in here yet" in shopper.see("cart/")


@pytest.mark.parametrize("quantity", ["many", "-1", "1.5", "1" * 5000])
def test_quantity_that_is_no_number_changes_nothing(shopper, bread, quantity):
    shopper.take(bread, 2)
    response = shopper.post(shopper.at("cart/change/"), {f"quantity-{bread.pk}": quantity}, follow=True)
    assert "Enter a whole number from 0 to 999 for Bread." in text(response)
    assert "10.00\N{NO-BREAK SPACE}USD" in text(response)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"is_available": False}, "It is not available at the moment."),
        ({"status": "ARCHIVED"}, "It is no longer sold."),
        ({"stock": 0}, "It is sold out."),
        ({"stock": 1}, "Only 1 left."),
    ],
)
def test_what_can_not_be_had_any_more_is_said(shopper, bread, change, words):
    shopper.take(bread, 2)
    Product.objects.filter(pk=bread.pk).update(**change)
    page = shopper.see("cart/")
    assert words in page
    assert "Bread" in page
    assert ">Checkout</a>" not in page
    response = shopper.get(shopper.at("checkout/"))
    assert response["Location"] == shopper.at("cart/")


def test_deleted_product_keeps_its_name_in_the_cart(shopper, bread):
    shopper.take(bread, 2)
    bread.delete()
    page = shopper.see("cart/")
    assert "Bread" in page
    assert "The shop has taken it out of its range." in page


def test_each_shop_and_each_shopper_has_a_cart_of_its_own(shop, sandbox, shopper, bread):
    shopper.take(bread, 2)
    elsewhere = shopper.get(f"/store/{sandbox.slug}/cart/")
    assert "Nothing in here yet" in text(elsewhere)
    assert "Nothing in here yet" in Shopper(shop).see("cart/")


def test_product_of_another_shop_can_not_be_added(sandbox, shopper):
    other = factories.product(sandbox, slug="elsewhere")
    assert shopper.take(other).status_code == 404


def test_cart_takes_a_hundred_different_products(shop, shopper):
    for _ in range(100):
        shopper.take(factories.product(shop))
    assert "at most 100 different products" in text(shopper.take(factories.product(shop)))
