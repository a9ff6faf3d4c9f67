from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from common.errors import NotFound
from stores import queries
from stores.models import StoreTotals
from stores.services.catalogue.products import archive_product
from stores.services.pages import create_page
from stores.services.reviews import create_review
from stores.services.settings import set_delivery_fee
from tests import factories

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
TICK = timedelta(microseconds=1)


@pytest.fixture
def bread(shop, sandbox):
    factories.product(sandbox, name="Bread", slug="bread", category="Bread")
    return factories.product(
        shop, name="Rye Bread", slug="bread", description="Dark.", category="Bread", updated_at=NOON
    )


def test_products_come_newest_first(shop, bread):
    coffee = factories.product(shop)
    assert list(queries.listed_products(shop).rows) == [coffee, bread]


@pytest.mark.spec("Contract 9 Orders", "Unavailable products are listed, ARCHIVED ones not, but readable")
def test_archived_products_are_readable_and_not_listed(shop, bread):
    off = factories.product(shop, is_available=False)
    archive_product(product=bread)
    listing = queries.listed_products(shop)
    assert (list(listing.rows), listing.total) == ([off], 1)
    assert queries.product_by_id(shop, bread.pk) == bread
    assert queries.product_by_slug(shop, "bread") == bread


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"category": "Bread"}, True),
        ({"category": "bread"}, False),
        ({"category": ""}, False),
        ({"is_available": True}, True),
        ({"is_available": False}, False),
        ({"search": "rye"}, True),
        ({"search": "DARK"}, True),
        ({"search": "wheat"}, False),
        ({"updated_since": NOON}, True),
        ({"updated_since": NOON + TICK}, False),
        ({"category": "Bread", "search": "wheat"}, False),
    ],
)
def test_products_are_narrowed(shop, bread, filters, found):
    listing = queries.listed_products(shop, **filters)
    assert list(listing.rows) == ([bread] if found else [])
    assert listing.total == found


def test_empty_search_narrows_nothing(shop, bread):
    assert queries.listed_products(shop, search="").total == 1


@pytest.mark.spec(
    "Contract 9 Orders", "createdAfter and createdBefore exclude the moment, updatedSince includes it"
)
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"status": "READY"}, True),
        ({"status": "PENDING"}, False),
        ({"created_after": NOON}, False),
        ({"created_after": NOON - TICK}, True),
        ({"created_before": NOON}, False),
        ({"created_before": NOON + TICK}, True),
        ({"updated_since": NOON}, True),
        ({"updated_since": NOON + TICK}, False),
        ({"created_after": NOON - TICK, "created_before": NOON + TICK, "status": "READY"}, True),
    ],
)
def test_orders_are_narrowed(shop, sandbox, filters, found):
    factories.order(sandbox, status="READY", created_at=NOON, updated_at=NOON)
    order = factories.order(shop, status="READY", created_at=NOON, updated_at=NOON)
    listing = queries.orders(shop, **filters)
    assert list(listing.rows) == ([order] if found else [])
    assert listing.total == found


def test_orders_come_newest_first(shop):
    orders = [factories.order(shop) for _ in range(3)]
    assert list(queries.orders(shop).rows) == orders[::-1]


def test_totals_of_whole_lists_are_read_not_counted(shop):
    StoreTotals.objects.filter(business=shop).update(products=7, orders=8, reviews=9)
    assert queries.listed_products(shop).total == 7
    assert queries.orders(shop).total == 8
    assert queries.reviews(shop).total == 9
    assert queries.orders(shop, status="READY").total == 0


def test_reviews_of_one_product(shop, bread):
    coffee = factories.product(shop)
    reviews = [create_review(product=product, rating=4, author_name="Kim") for product in (bread, coffee)]
    assert list(queries.reviews(shop).rows) == reviews[::-1]
    listing = queries.reviews(shop, product_id=bread.pk)
    assert (list(listing.rows), listing.total) == ([reviews[0]], 1)


@pytest.mark.spec("Contract 4 Records", "Only published pages are shown")
def test_pages_that_are_published(shop, sandbox):
    create_page(business=sandbox, title="Theirs")
    create_page(business=shop, title="Draft", is_published=False)
    page = create_page(business=shop, title="About")
    listing = queries.published_pages(shop)
    assert (list(listing.rows), listing.total) == ([page], 1)
    assert queries.page_by_slug(shop, "about") == page
    for slug in ("draft", "theirs", "nothing"):
        with pytest.raises(NotFound, match="Page not found"):
            queries.page_by_slug(shop, slug)


@pytest.mark.spec("Contract 0 Conventions", "404: absent or another tenant's")
def test_another_tenants_rows_are_not_found(shop, sandbox, bread):
    order = factories.order(shop)
    assert queries.order_by_id(shop, order.pk) == order
    for read in (
        lambda: queries.product_by_id(sandbox, bread.pk),
        lambda: queries.product_by_id(shop, uuid4()),
        lambda: queries.product_by_id(shop, None),
        lambda: queries.order_by_id(sandbox, order.pk),
        lambda: queries.order_by_id(shop, None),
        lambda: queries.product_by_slug(sandbox, "nothing"),
    ):
        with pytest.raises(NotFound):
            read()


def test_delivery_fee_is_a_default_until_it_is_set(shop, sandbox):
    assert queries.delivery_fee(shop, "DELIVERY") == queries.DEFAULT_DELIVERY_FEE
    set_delivery_fee(business=shop, fee=0)
    assert queries.delivery_fee(shop, "DELIVERY") == 0
    set_delivery_fee(business=shop, fee=250)
    assert queries.delivery_fee(shop, "DELIVERY") == 250
    assert queries.delivery_fee(shop, "PICKUP") == 0
    assert queries.delivery_fee(sandbox, "DELIVERY") == queries.DEFAULT_DELIVERY_FEE
