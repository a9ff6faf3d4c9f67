"""Orders that arrive at the same time. SQLite lets one writer in at a time, so these need PostgreSQL."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from common.errors import Conflict, ServiceError
from stores import signals
from stores.hookpoints import OrderVerdict, registered
from stores.models import Order, Product
from stores.services.catalogue.products import delete_product, update_product
from stores.services.checkout import place_order
from stores.services.orders import change_order_status
from stores.services.payments import expire_payments, settle_payment
from stores.services.reviews import create_review
from tests import factories
from tests.factories import order_request
from tests.signals import connected

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def together(*jobs):
    """Run the jobs at the same time; what each returned or which error of a service it raised."""
    barrier = Barrier(len(jobs))

    def run(job):
        try:
            barrier.wait(timeout=10)
            return job()
        except ServiceError as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(jobs)) as threads:
        return list(threads.map(run, jobs))


def wait(sender, **arguments):
    """Keep the transaction that sends a signal open for a while, so that the others surely come meanwhile."""
    time.sleep(0.2)


def slow(signal):
    return connected(signal, wait)


def ordering(shop, *lines):
    return lambda: place_order(business=shop, request=order_request(*lines))


@pytest.mark.spec(
    "Contract 4 Placing an order", "Two orders for the last piece: one is placed, the other is 409"
)
def test_last_piece_is_sold_once(shop):
    bread = factories.product(shop, stock=1)
    # Both have looked at the shelf before either comes to the lock.
    both_looked = Barrier(2)

    def look(question):
        both_looked.wait(timeout=10)
        return OrderVerdict()

    with registered("order.validate", look):
        results = together(*[ordering(shop, (bread, 1))] * 2)
    assert sorted(type(result).__name__ for result in results) == ["Conflict", "Order"]
    bread.refresh_from_db()
    assert (bread.stock, Order.objects.count()) == (0, 1)


def test_parallel_orders_get_different_numbers_and_agree_with_stock(shop):
    bread, rye = factories.product(shop, stock=20), factories.product(shop, stock=20)
    forth, back = ordering(shop, (bread, 1), (rye, 1)), ordering(shop, (rye, 1), (bread, 1))
    orders = together(*[forth, back] * 4)
    assert sorted(order.number for order in orders) == [str(number) for number in range(1001, 1009)]
    assert set(Product.objects.values_list("stock", flat=True)) == {12}
    shop.totals.refresh_from_db()
    assert (shop.totals.orders, shop.totals.last_order_number) == (8, 1008)


@pytest.mark.long
def test_order_and_edit_of_its_product_do_not_undo_each_other(shop):
    bread = factories.product(shop, stock=50)
    orders = [ordering(shop, (bread, 1))] * 4
    edits = [lambda n=n: update_product(product=bread, name=f"Bread {n}") for n in range(4)]
    with slow(signals.product_updated):
        together(*orders, *edits)
    bread.refresh_from_db()
    assert bread.stock == 46
    assert bread.name.startswith("Bread ")


def test_order_cancelled_twice_gives_its_stock_back_once(shop):
    bread = factories.product(shop, stock=5)
    order = place_order(business=shop, request=order_request((bread, 3)))
    with slow(signals.order_status_changed):
        together(*[lambda: change_order_status(order=order, status="CANCELLED")] * 3)
    bread.refresh_from_db()
    assert bread.stock == 5


def test_order_is_delivered_or_cancelled_but_not_both(shop, ear):
    order = factories.order(shop)
    with slow(signals.order_status_changed):
        results = together(
            lambda: change_order_status(order=order, status="DELIVERED"),
            lambda: change_order_status(order=order, status="CANCELLED"),
        )
    assert sum(isinstance(result, Conflict) for result in results) == 1
    assert ear.names.count("order_status_changed") == 1


def test_payment_is_settled_once(shop, ear):
    order = factories.order(shop)
    factories.payment(order)
    with slow(signals.payment_completed):
        together(*[lambda: settle_payment(order=order, provider="app", status="COMPLETED")] * 3)
    assert ear.names == ["payment_completed"]


def test_payment_is_completed_or_expired_but_not_both(shop, ear):
    order = factories.order(shop)
    factories.payment(order, expires_at=order.created_at)
    with slow(signals.payment_completed), slow(signals.payment_expired):
        results = together(
            lambda: settle_payment(order=order, provider="app", status="COMPLETED"), expire_payments
        )
    assert len(ear) == 1
    order.refresh_from_db()
    if order.payment.status == "EXPIRED":
        assert isinstance(results[0], Conflict)
    else:
        assert (order.payment.status, results[1]) == ("COMPLETED", 0)


def test_review_of_a_product_that_is_being_deleted_leaves_totals_right(shop):
    bread = factories.product(shop)
    together(
        lambda: delete_product(product=bread),
        *[lambda: create_review(product=bread, rating=4, author_name="Kim")] * 3,
    )
    shop.totals.refresh_from_db()
    assert (shop.totals.products, shop.totals.reviews) == (0, 0)
    assert not Product.objects.exists()
