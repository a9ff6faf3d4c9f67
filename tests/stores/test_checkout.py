"""Placing an order without listeners: the store works alone."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.db import connection, transaction

from common.errors import Conflict, Invalid, NotFound
from stores import signals
from stores.models import Order, OrderItem, Product
from stores.queries import DEFAULT_DELIVERY_FEE
from stores.records import OrderRecord
from stores.services.checkout import place_order
from stores.services.pricing import OrderLine
from stores.services.settings import set_delivery_fee
from tests import factories
from tests.factories import order_request
from tests.signals import breaking, connected

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def bread(shop):
    return factories.product(shop, name="Bread", price=500, stock=10, low_stock_threshold=4)


@pytest.fixture
def coffee(shop):
    return factories.product(shop, name="Coffee", price=325)


def test_order_carries_lines_money_and_customer(shop, bread, coffee):
    order = place_order(
        business=shop,
        request=order_request(
            (bread, 2),
            (coffee, 1),
            customer_phone="+1 555 0100",
            delivery_method="DELIVERY",
            address="1 Quay Street",
            promo_discount=100,
            note="Sliced, please.",
        ),
        now=NOON,
    )
    order = Order.objects.get(pk=order.pk)
    assert [(item.product_id, item.name, item.quantity, item.price) for item in order.items.all()] == [
        (bread.pk, "Bread", 2, 500),
        (coffee.pk, "Coffee", 1, 325),
    ]
    assert (order.subtotal, order.discount, order.delivery_fee) == (1325, 100, DEFAULT_DELIVERY_FEE)
    assert order.amount == 1325 - 100 + DEFAULT_DELIVERY_FEE
    assert (order.status, order.validation, order.currency) == ("PENDING", "VALID", "USD")
    assert (order.customer_name, order.customer_phone, order.note) == (
        "Kim",
        "+1 555 0100",
        "Sliced, please.",
    )
    assert order.is_guest
    assert order.created_at == order.updated_at == NOON


@pytest.mark.spec(
    "Contract 9 Orders", "CASH and CARD are taken by the merchant: such an order has no payment"
)
@pytest.mark.parametrize("method", ["CASH", "CARD"])
def test_built_in_method_has_no_payment(shop, bread, method):
    order = place_order(business=shop, request=order_request((bread, 1), payment_method=method))
    assert not hasattr(Order.objects.get(pk=order.pk), "payment")


def test_pickup_costs_no_delivery(shop, bread):
    set_delivery_fee(business=shop, fee=900)
    order = place_order(business=shop, request=order_request((bread, 1)))
    assert order.delivery_fee == 0


def test_delivery_costs_the_fee_of_the_store(shop, bread):
    set_delivery_fee(business=shop, fee=900)
    order = place_order(
        business=shop, request=order_request((bread, 1), delivery_method="DELIVERY", address="Here")
    )
    assert (order.delivery_fee, order.amount) == (900, 1400)


def test_order_numbers_count_up(shop, bread):
    numbers = [place_order(business=shop, request=order_request((bread, 1))).number for _ in range(3)]
    assert numbers == ["1001", "1002", "1003"]


def test_product_named_twice_becomes_one_line(shop, bread):
    order = place_order(business=shop, request=order_request((bread, 4), (bread, 3)))
    assert [item.quantity for item in order.items.all()] == [7]
    bread.refresh_from_db()
    assert bread.stock == 3


def test_product_named_twice_is_refused_when_the_sum_is_too_much(shop, bread):
    with pytest.raises(Conflict, match="10 left"):
        place_order(business=shop, request=order_request((bread, 6), (bread, 5)))


@pytest.mark.spec(
    "Contract 9 Orders", "A change of stock by an order publishes inventory events, not product.updated"
)
def test_stock_falls_and_crossings_follow_the_order(shop, bread, coffee, ear):
    olives = factories.product(shop, stock=1)
    place_order(business=shop, request=order_request((bread, 7), (coffee, 50), (olives, 1)), now=NOON)
    assert ear.names == ["order_created", "stock_crossed", "stock_crossed"]
    crossed = {heard.arguments["product"].id: heard.arguments["crossing"] for heard in ear[1:]}
    assert crossed == {bread.pk: "low_stock", olives.pk: "out_of_stock"}
    bread.refresh_from_db()
    coffee.refresh_from_db()
    assert (bread.stock, bread.updated_at) == (3, NOON)
    assert coffee.stock is None


def test_signal_brings_the_order_with_its_lines(shop, bread, ear, django_assert_num_queries):
    order = place_order(business=shop, request=order_request((bread, 1)), now=NOON)
    heard = ear.only("order_created")
    with django_assert_num_queries(0):
        assert heard["order"] == OrderRecord.of(order)
    assert heard["now"] == NOON
    assert heard["order"].lines == [(bread.pk, bread.name, 1, bread.price)]


# --- Refusals -------------------------------------------------------------------------


@pytest.mark.spec("Contract 4 Guest order", "An unknown product is 404, another tenant's too")
def test_unknown_product_is_not_found(shop, sandbox, bread):
    foreign = factories.product(sandbox)
    for stranger in (foreign, Product(id=uuid4())):
        with pytest.raises(NotFound, match=str(stranger.pk)):
            place_order(business=shop, request=order_request((bread, 1), (stranger, 1)))
    assert_nothing_happened(shop, bread)


@pytest.mark.spec("Contract 4 Guest order", "An unavailable or archived product is 409")
@pytest.mark.parametrize("state", [{"is_available": False}, {"status": "ARCHIVED"}])
def test_product_that_is_off_the_shelf_is_a_conflict(shop, bread, state):
    gone = factories.product(shop, name="Plum Danish", stock=5, **state)
    with pytest.raises(Conflict, match="Plum Danish is not available"):
        place_order(business=shop, request=order_request((bread, 1), (gone, 1)))
    assert_nothing_happened(shop, bread)


@pytest.mark.spec("Contract 4 Guest order", "Not enough stock is 409")
def test_too_little_stock_is_a_conflict(shop, bread):
    with pytest.raises(Conflict, match="not enough of Bread: 10 left"):
        place_order(business=shop, request=order_request((bread, 11)))
    assert_nothing_happened(shop, bread)


def test_sold_out_is_a_conflict(shop):
    gone = factories.product(shop, name="Rye", stock=0)
    with pytest.raises(Conflict, match="Rye is sold out"):
        place_order(business=shop, request=order_request((gone, 1)))


@pytest.mark.spec("Contract 9 Orders", "promoDiscount above the subtotal is 400")
def test_promo_above_the_subtotal_is_invalid(shop, bread):
    with pytest.raises(Invalid) as caught:
        place_order(business=shop, request=order_request((bread, 1), promo_discount=501))
    assert caught.value.details[0]["field"] == "promoDiscount"
    assert_nothing_happened(shop, bread)


def test_promo_of_the_whole_subtotal_is_taken(shop, bread):
    order = place_order(business=shop, request=order_request((bread, 1), promo_discount=500))
    assert (order.discount, order.amount) == (500, 0)


@pytest.mark.parametrize("method", ["BITCOIN", "cash", "some-app:card", ":card", ""])
def test_payment_method_that_nobody_offers_is_invalid(shop, bread, method):
    with pytest.raises(Invalid) as caught:
        place_order(business=shop, request=order_request((bread, 1), payment_method=method))
    assert caught.value.details[0]["field"] == "paymentMethod"
    assert_nothing_happened(shop, bread)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"customer_email": ""}, "customer"),
        ({"customer_email": "not-an-address"}, "customer.email"),
        ({"customer_name": ""}, "customer.name"),
        ({"customer_name": "x" * 121}, "customer.name"),
        ({"customer_phone": "1" * 41}, "customer.phone"),
        ({"delivery_method": "DRONE"}, "deliveryMethod"),
        ({"delivery_method": "DELIVERY", "address": " "}, "address"),
        ({"promo_discount": -1}, "promoDiscount"),
        ({"note": "x" * 2_001}, "note"),
        ({"address": "x" * 1_001}, "address"),
        ({"items": []}, "items"),
        ({"items": [OrderLine(uuid4(), 0)]}, "items[0].quantity"),
    ],
)
def test_bad_request_names_its_field(shop, bread, fields, named):
    with pytest.raises(Invalid) as caught:
        place_order(business=shop, request=order_request((bread, 1), **fields))
    assert [problem["field"] for problem in caught.value.details] == [named]
    assert_nothing_happened(shop, bread)


def test_every_problem_is_told_at_once(shop, bread):
    with pytest.raises(Invalid) as caught:
        place_order(
            business=shop,
            request=order_request((bread, -3), customer_name="", customer_email="", delivery_method="DRONE"),
        )
    assert {problem["field"] for problem in caught.value.details} == {
        "customer.name",
        "customer",
        "deliveryMethod",
        "items[0].quantity",
    }


def test_sum_that_no_number_can_carry_is_invalid(shop):
    gold = factories.product(shop, price=10**12)
    with pytest.raises(Invalid, match="too large"):
        place_order(business=shop, request=order_request((gold, 10**6)))


def assert_nothing_happened(shop, product):
    stock = product.stock
    product.refresh_from_db()
    shop.totals.refresh_from_db()
    assert product.stock == stock
    assert not Order.objects.filter(business=shop).exists()
    assert (shop.totals.orders, shop.totals.last_order_number) == (0, 1000)


# --- The transaction --------------------------------------------------------------------------------


def test_on_saved_is_called_with_the_saved_order(shop, bread):
    seen = []
    order = place_order(business=shop, request=order_request((bread, 1)), on_saved=seen.append)
    assert seen == [order]


def test_failure_of_on_saved_undoes_everything(shop, bread):
    def fail(order):
        assert Order.objects.filter(pk=order.pk).exists()
        raise RuntimeError("the caller's row could not be written")

    with pytest.raises(RuntimeError, match="could not be written"):
        place_order(business=shop, request=order_request((bread, 2)), on_saved=fail)
    assert_nothing_happened(shop, bread)
    assert not OrderItem.objects.exists()


@pytest.mark.spec("Contract 5 Delivery", "A change that rolls back sends nothing")
def test_failure_of_a_receiver_undoes_everything(shop, bread):
    failing = connected(signals.order_created, breaking("the event could not be written"))
    with failing, pytest.raises(RuntimeError, match="event could not"):
        place_order(business=shop, request=order_request((bread, 2)))
    assert_nothing_happened(shop, bread)


@pytest.mark.django_db(transaction=True)
def test_nobody_wraps_it_in_a_transaction(shop, bread):
    with pytest.raises(RuntimeError, match="transaction"), transaction.atomic():
        place_order(business=shop, request=order_request((bread, 1)))
    assert_nothing_happened(shop, bread)


def test_placing_takes_few_statements(shop, bread, coffee, django_assert_max_num_queries):
    with django_assert_max_num_queries(11 if connection.vendor == "postgresql" else 16):
        place_order(business=shop, request=order_request((bread, 1), (coffee, 1)))
