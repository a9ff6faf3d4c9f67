from datetime import UTC, datetime

import pytest

from common.errors import Conflict, NotFound
from stores import signals
from stores.enums import OrderStatus, may_move
from stores.models import Order, Product
from stores.services.catalogue.products import delete_product, update_product
from stores.services.checkout import place_order
from stores.services.orders import change_order_status
from tests import factories
from tests.factories import order_request
from tests.signals import breaking, connected

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.spec(
    "Contract 4 Order status",
    "An allowed move is made and reported, the current status changes nothing, anything else is 409",
)
@pytest.mark.parametrize("current", OrderStatus.values)
@pytest.mark.parametrize("target", OrderStatus.values)
def test_each_move_is_made_kept_quiet_or_refused(shop, ear, current, target):
    order = factories.order(shop, status=current)
    if current == target:
        assert change_order_status(order=order, status=target, now=NOON).updated_at != NOON
        assert ear == []
    elif may_move(current, target):
        moved = change_order_status(order=order, status=target, now=NOON)
        assert (moved.status, moved.updated_at) == (target, NOON)
        assert ear.names == ["order_status_changed"]
        assert ear[0].arguments["previous"] == current
        assert ear[0].arguments["order"].status == target
    else:
        with pytest.raises(Conflict, match=f"{current} can't become {target}"):
            change_order_status(order=order, status=target, now=NOON)
        assert ear == []
    assert Order.objects.get(pk=order.pk).status == (target if may_move(current, target) else current)


def test_moving_looks_at_the_order_as_it_is_now(shop):
    order = factories.order(shop)
    Order.objects.filter(pk=order.pk).update(status="DELIVERED")
    with pytest.raises(Conflict, match="DELIVERED can't become CANCELLED"):
        change_order_status(order=order, status="CANCELLED")


def test_order_that_is_gone_is_not_found(shop):
    order = factories.order(shop)
    Order.objects.filter(pk=order.pk).delete()
    with pytest.raises(NotFound):
        change_order_status(order=order, status="CONFIRMED")


@pytest.mark.spec("Contract 9 Orders", "Cancelling gives the stock back")
def test_cancelling_gives_the_stock_back(shop, ear):
    bread = factories.product(shop, stock=2)
    rye = factories.product(shop, stock=9)
    coffee = factories.product(shop)
    order = place_order(business=shop, request=order_request((bread, 2), (rye, 1), (coffee, 3)))
    ear.clear()
    change_order_status(order=order, status="CANCELLED", now=NOON)
    stock = dict(Product.objects.values_list("pk", "stock"))
    assert stock == {bread.pk: 2, rye.pk: 9, coffee.pk: None}
    assert ear.names == ["order_status_changed", "stock_crossed"]
    crossed = ear.only("stock_crossed")
    assert (crossed["product"].id, crossed["crossing"]) == (bread.pk, "back_in_stock")


def test_cancelling_gives_back_only_what_was_taken(shop):
    bread = factories.product(shop)  # not tracked when it was ordered
    order = place_order(business=shop, request=order_request((bread, 2)))
    update_product(product=bread, stock=5)
    change_order_status(order=order, status="CANCELLED")
    bread.refresh_from_db()
    assert bread.stock == 5


def test_cancelling_tolerates_products_that_are_gone_or_no_longer_tracked(shop):
    bread, rye = factories.product(shop, stock=5), factories.product(shop, stock=5)
    order = place_order(business=shop, request=order_request((bread, 2), (rye, 2)))
    delete_product(product=bread)
    update_product(product=rye, stock=None)
    assert change_order_status(order=order, status="CANCELLED").status == "CANCELLED"
    rye.refresh_from_db()
    assert rye.stock is None


def test_failure_of_a_receiver_undoes_the_move(shop):
    bread = factories.product(shop, stock=5)
    order = place_order(business=shop, request=order_request((bread, 5)))
    failing = connected(signals.order_status_changed, breaking("the event could not be written"))
    with failing, pytest.raises(RuntimeError, match="event could not"):
        change_order_status(order=order, status="CANCELLED")
    order.refresh_from_db()
    bread.refresh_from_db()
    assert (order.status, bread.stock) == ("PENDING", 0)
