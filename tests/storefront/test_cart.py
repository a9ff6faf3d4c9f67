"""The cart."""

import re
from datetime import timedelta

import pytest
from django.conf import settings as django_settings
from django.db import connection

from common.secrets import digest
from stores.models import Cart, Product
from stores.services.carts import remove_old_carts
from tests import factories
from tests.storefront.shopping import Shopper, text


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
    page = " ".join(shopper.see("cart/").split())
    assert "$18.25" in page
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
    assert "Your cart is empty" in shopper.see("cart/")


def test_added_product_has_a_way_to_the_cart_and_buy_now_leads_to_the_checkout(shopper, bread):
    shopper.take(bread, 2)
    page = shopper.see(f"products/{bread.slug}/")
    assert re.search(r'(?s)<dialog open class="drawer".*added. <a href="[^"]*/cart/">View cart</a>', page)
    assert "View cart" not in shopper.see(f"products/{bread.slug}/")
    bought = shopper.post(shopper.at(f"products/{bread.slug}/add/"), {"quantity": 1, "buy": "1"})
    assert bought["Location"] == shopper.at("checkout/")
    assert "3 ×" in shopper.see("checkout/")


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
    assert "$25.00" in page
    assert "Coffee" not in page
    shopper.post(shopper.at("cart/remove/"), {"product": str(bread.pk)})
    assert "Your cart is empty" in shopper.see("cart/")


@pytest.mark.parametrize("quantity", ["many", "-1", "1.5", "1" * 5000])
def test_quantity_that_is_no_number_changes_nothing(shopper, bread, quantity):
    shopper.take(bread, 2)
    response = shopper.post(shopper.at("cart/change/"), {f"quantity-{bread.pk}": quantity}, follow=True)
    assert "Enter a whole number from 0 to 999 for Bread." in text(response)
    assert "$10.00" in text(response)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"is_available": False}, "It isn't available right now."),
        ({"status": "ARCHIVED"}, "It is no longer for sale."),
        ({"stock": 0}, "It's sold out."),
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
    assert "The store no longer has it." in page


def test_each_shop_and_each_shopper_has_a_cart_of_its_own(shop, sandbox, shopper, bread):
    shopper.take(bread, 2)
    elsewhere = shopper.get(f"/store/{sandbox.slug}/cart/")
    assert "Your cart is empty" in text(elsewhere)
    assert "Your cart is empty" in Shopper(shop).see("cart/")


def test_product_of_another_shop_can_not_be_added(sandbox, shopper):
    other = factories.product(sandbox, slug="elsewhere")
    assert shopper.take(other).status_code == 404
    assert "Your cart is empty" in shopper.see("cart/")


@pytest.mark.long
def test_cart_takes_a_hundred_different_products(shop, shopper):
    for _ in range(100):
        shopper.take(factories.product(shop))
    assert "at most 100 different products" in text(shopper.take(factories.product(shop)))


# --- The cookie -------------------------------------------------------------------------------------


def test_cookie_is_of_this_host_alone_and_out_of_reach_of_scripts(shopper, bread):
    cookie = shopper.take(bread).cookies[django_settings.CART_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["domain"]) == (
        True,
        "Lax",
        "/",
        "",
    )
    assert not cookie["secure"]


def test_database_keeps_the_key_of_the_cookie_as_a_digest_only(shopper, bread):
    key = shopper.take(bread).cookies[django_settings.CART_COOKIE_NAME].value
    [row] = Cart.objects.values()
    assert row["key_digest"] == digest(key)
    assert key not in str(row)


def test_key_that_no_cart_has_is_not_taken_over(shopper, bread):
    """Someone may have put it there who wants to look into the cart later."""
    planted = "x" * 32
    shopper.cookies[django_settings.CART_COOKIE_NAME] = planted
    shopper.take(bread)
    assert shopper.cookies[django_settings.CART_COOKIE_NAME].value != planted
    assert "Bread" in shopper.see("cart/")


def test_looking_around_sets_no_cookie_and_makes_no_cart(shopper, bread):
    for path in ("", "products/bread/", "cart/"):
        shopper.see(path)
    assert not shopper.cookies
    assert not Cart.objects.exists()


def test_two_tabs_lose_nothing_of_each_other(shop, shopper, bread):
    """Each works on the row as it is, not on what its page has shown."""
    coffee = factories.product(shop, name="Coffee")
    shopper.take(bread)
    other = Shopper(shop)
    other.cookies = shopper.cookies
    other.take(coffee)
    shopper.take(bread)
    assert [(line["name"], line["quantity"]) for line in Cart.objects.get().lines] == [
        ("Bread", 2), ("Coffee", 1),
    ]  # fmt: skip


def test_keys_of_orders_are_not_in_the_database(shopper, bread):
    shopper.take(bread)
    key = shopper.place()["Location"].rstrip("/").rpartition("/")[2]
    with connection.cursor() as cursor:
        cursor.execute("SELECT orders FROM stores_cart")
        [[stored]] = cursor.fetchall()
    assert key in Cart.objects.get().orders
    assert key not in stored


def test_cart_is_removed_thirty_days_after_its_last_change(shop, shopper, bread):
    shopper.take(bread)
    changed = Cart.objects.get().updated_at
    assert remove_old_carts(now=changed + timedelta(days=30)) == 0
    assert "Bread" in shopper.see("cart/")
    assert remove_old_carts(now=changed + timedelta(days=30, seconds=1)) == 1
    assert "Your cart is empty" in shopper.see("cart/")
