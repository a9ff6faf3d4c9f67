from django.db import connection
from django.test.utils import CaptureQueriesContext

from stores.models import Order, Product, Review, StoreTotals
from stores.services.catalogue.products import archive_product, create_product, delete_product
from stores.services.checkout import place_order
from stores.services.reviews import create_review, delete_review
from stores.services.totals import drifted, recount
from stores.tasks import recount_totals
from tests.factories import order_request


def counts(business):
    return (
        Product.objects.filter(business=business, status="ACTIVE").count(),
        Order.objects.filter(business=business).count(),
        Review.objects.filter(business=business).count(),
    )


def totals(business):
    return StoreTotals.objects.values_list("products", "orders", "reviews").get(business=business)


def test_totals_agree_with_the_tables_after_every_step(shop, sandbox):
    bread, rye, coffee = (create_product(business=shop, name="Thing", price=100) for _ in range(3))
    steps = [
        lambda: place_order(business=shop, request=order_request((bread, 1))),
        lambda: place_order(business=shop, request=order_request((rye, 1))),
        lambda: create_review(product=bread, rating=5, author_name="Kim"),
        lambda: create_review(product=bread, rating=4, author_name="Kim"),
        lambda: create_review(product=rye, rating=3, author_name="Kim"),
        lambda: delete_review(review=rye.reviews.get()),
        lambda: archive_product(product=coffee),
        lambda: delete_product(product=coffee),
        lambda: delete_product(product=bread),
    ]
    for step in steps:
        step()
        assert totals(shop) == counts(shop)
    assert totals(shop) == (1, 2, 0)
    assert totals(sandbox) == (0, 0, 0)


def test_recounting_mends_what_was_changed_past_the_services(shop, sandbox):
    bread = create_product(business=shop, name="Bread", price=100)
    number = place_order(business=shop, request=order_request((bread, 1))).number
    StoreTotals.objects.filter(business=shop).update(products=50, orders=0, reviews=3)
    recount(business=shop)
    assert totals(shop) == (1, 1, 0)
    assert StoreTotals.objects.get(business=shop).last_order_number == int(number)


def test_nightly_task_recounts_every_business(shop, sandbox):
    StoreTotals.objects.update(products=50)
    recount_totals()
    assert totals(shop) == totals(sandbox) == (0, 0, 0)


def test_nightly_task_writes_only_what_differs(shop, sandbox):
    StoreTotals.objects.filter(business=shop).update(rank_changes=5)
    with CaptureQueriesContext(connection) as captured:
        assert list(drifted()) == []
    assert sum("SELECT" in each["sql"] for each in captured) == 5  # the rows, three counts, and no more rows
    recount_totals()
    assert StoreTotals.objects.get(business=shop).rank_changes == 5
    StoreTotals.objects.filter(business=sandbox).update(reviews=1)
    recount_totals()
    assert StoreTotals.objects.get(business=shop).rank_changes == 5
    assert totals(sandbox) == (0, 0, 0)
