from datetime import UTC, datetime

import pytest

from common.errors import Conflict, Invalid, NotFound
from stores import signals
from stores.models import Order, Product
from stores.records import ProductRecord
from stores.services.catalogue import products
from stores.services.catalogue.products import (
    archive_product,
    create_product,
    delete_product,
    restore_product,
    update_product,
)
from stores.services.checkout import place_order
from stores.services.reviews import create_review
from tests import factories
from tests.factories import order_request
from tests.signals import connected

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_creating_tells_and_counts(shop, ear):
    product = create_product(business=shop, name="Rye Bread", price=640, stock=3, now=NOON)
    assert (product.slug, product.created_at, product.updated_at) == ("rye-bread", NOON, NOON)
    assert ear.names == ["product_created"]
    assert ear.only("product_created")["product"] == ProductRecord.of(product, "USD")
    shop.totals.refresh_from_db()
    assert shop.totals.products == 1


def test_slugs_from_the_same_name_are_numbered(shop, sandbox):
    slugs = [create_product(business=shop, name="Rye", price=1).slug for _ in range(3)]
    assert slugs == ["rye", "rye-2", "rye-3"]
    assert create_product(business=sandbox, name="Rye", price=1).slug == "rye"


def test_name_without_letters_gets_a_slug_all_the_same(shop):
    assert create_product(business=shop, name="寿司", price=1).slug == "item"


def test_long_name_gets_a_slug_that_fits(shop):
    slugs = [create_product(business=shop, name="x" * 200, price=1).slug for _ in range(2)]
    assert [len(slug) for slug in slugs] == [200, 200]


def test_taken_slug_is_a_conflict(shop, ear):
    create_product(business=shop, name="Rye", price=1)
    with pytest.raises(Conflict, match="“rye” is taken"):
        create_product(business=shop, name="Other", slug="rye", price=1)
    assert ear.names == ["product_created"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"description": "x" * 5_001}, "description"),
        ({"category": "x" * 201}, "category"),
        ({"price": -1}, "price"),
        ({"price": 2**53}, "price"),
        ({"slug": "no spaces"}, "slug"),
        ({"stock": -1}, "stock"),
        ({"low_stock_threshold": -1}, "lowStockThreshold"),
        ({"image": "https://elsewhere.example/x.png"}, "imageUrl"),
        ({"image": "//elsewhere.example/x.png"}, "imageUrl"),
    ],
)
def test_bad_value_names_its_field(shop, ear, fields, named):
    with pytest.raises(Invalid) as caught:
        create_product(business=shop, **({"name": "Rye", "price": 1} | fields))
    assert [problem["field"] for problem in caught.value.details] == [named]
    product = factories.product(shop)
    with pytest.raises(Invalid):
        update_product(product=product, **fields)
    assert ear == []


def test_store_has_a_maximum_of_products(shop, sandbox, monkeypatch):
    """Archived ones count: the merchant's search reads them, too."""
    monkeypatch.setattr(products, "MOST_PRODUCTS", 2)
    archive_product(product=create_product(business=shop, name="Rye", price=1))
    last = create_product(business=shop, name="Bun", price=1)
    with pytest.raises(Invalid, match="at most 2 products, archived ones included"):
        create_product(business=shop, name="Cake", price=1)
    create_product(business=sandbox, name="Cake", price=1)
    delete_product(product=last)
    create_product(business=shop, name="Cake", price=1)


@pytest.mark.spec("Contract 5 Payload", "product.updated adds changedFields")
def test_editing_names_what_changed_in_the_words_of_the_wire(shop, ear):
    product = factories.product(shop, name="Rye", price=100)
    edited = update_product(
        product=product, name="Rye", price=200, is_available=False, image="/static/x.svg", now=NOON
    )
    assert (edited.price, edited.is_available, edited.updated_at) == (200, False, NOON)
    heard = ear.only("product_updated")
    assert heard["changed_fields"] == ["imageUrl", "isAvailable", "price"]
    assert heard["product"] == ProductRecord.of(edited, "USD")


def test_edit_that_changes_nothing_is_told_to_nobody(shop, ear):
    product = factories.product(shop, price=100)
    update_product(product=product, price=100, name=product.name, now=NOON)
    assert ear == []
    assert Product.objects.get().updated_at != NOON


def test_threshold_alone_is_kept_and_told_to_nobody(shop, ear):
    product = factories.product(shop, stock=5)
    update_product(product=product, low_stock_threshold=3)
    assert ear == []
    assert Product.objects.get().low_stock_threshold == 3


@pytest.mark.spec(
    "Contract 9 Orders", "An edit of stock by the merchant publishes inventory events and product.updated"
)
@pytest.mark.parametrize(
    ("before", "after", "crossing"),
    [(5, 2, "low_stock"), (5, 0, "out_of_stock"), (0, 5, "back_in_stock")],
)
def test_editing_stock_tells_both(shop, ear, before, after, crossing):
    product = factories.product(shop, stock=before, low_stock_threshold=3)
    update_product(product=product, stock=after, now=NOON)
    assert ear.names == ["product_updated", "stock_crossed"]
    assert ear.only("product_updated")["changed_fields"] == ["stock"]
    assert ear.only("stock_crossed")["crossing"] == crossing


def test_editing_works_on_the_row_as_it_is_now(shop):
    stale = factories.product(shop, stock=10)
    place_order(business=shop, request=order_request((stale, 4)))
    update_product(product=stale, name="New name")
    assert Product.objects.get().stock == 6


def test_editing_to_a_taken_slug_is_a_conflict(shop):
    factories.product(shop, slug="rye")
    other = factories.product(shop, slug="other")
    with pytest.raises(Conflict):
        update_product(product=other, slug="rye")
    assert update_product(product=other, slug="wheat").slug == "wheat"


@pytest.mark.spec("Contract 9 Orders", "Archiving publishes product.updated")
def test_archiving_and_restoring_tell_and_count(shop, ear):
    product = factories.product(shop)
    assert archive_product(product=product, now=NOON).status == "ARCHIVED"
    archive_product(product=product)
    assert ear.names == ["product_updated"]
    assert ear.only("product_updated")["changed_fields"] == ["status"]
    shop.totals.refresh_from_db()
    assert shop.totals.products == 0

    assert restore_product(product=product).status == "ACTIVE"
    restore_product(product=product)
    assert ear.names == ["product_updated", "product_updated"]
    shop.totals.refresh_from_db()
    assert shop.totals.products == 1


@pytest.mark.spec("Contract 9 Orders", "A deleted product is gone, its order lines stay")
def test_deleting_tells_takes_the_reviews_and_leaves_the_lines(shop, ear):
    product = factories.product(shop, name="Rye")
    order = place_order(business=shop, request=order_request((product, 1)))
    review = create_review(product=product, rating=5, author_name="Kim")
    ear.clear()
    delete_product(product=product, now=NOON)
    assert ear.names == ["review_deleted", "product_deleted"]
    assert ear[0].arguments["review"].id == review.pk
    assert ear[1].arguments["product"] == ProductRecord.of(product, "USD")
    assert [item.name for item in Order.objects.get(pk=order.pk).items.all()] == ["Rye"]
    shop.totals.refresh_from_db()
    assert (shop.totals.products, shop.totals.reviews) == (0, 0)


def test_signal_of_a_deletion_comes_while_the_row_is_there(shop, ear):
    seen = []

    def look(sender, product, **arguments):
        seen.append(Product.objects.filter(pk=product.id).exists())

    with connected(signals.product_deleted, look):
        delete_product(product=factories.product(shop))
    assert seen == [True]


def test_deleting_an_archived_product_leaves_the_count(shop):
    factories.product(shop)
    archived = archive_product(product=factories.product(shop))
    delete_product(product=archived)
    shop.totals.refresh_from_db()
    assert shop.totals.products == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda product: update_product(product=product, name="x"),
        lambda product: archive_product(product=product),
        lambda product: delete_product(product=product),
    ],
)
def test_product_that_is_gone_is_not_found(shop, change):
    product = factories.product(shop)
    Product.objects.all().delete()
    with pytest.raises(NotFound):
        change(product)
