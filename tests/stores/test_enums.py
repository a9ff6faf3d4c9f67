import pytest

from stores.enums import OrderStatus, StockCrossing, is_low, may_move
from stores.services.catalogue.stock import stock_crossing

LINE = ["PENDING", "CONFIRMED", "PREPARING", "READY", "IN_DELIVERY", "DELIVERED"]
FORWARD = {(LINE[i], LINE[j]) for i in range(6) for j in range(i + 1, 6)}
CANCELLING = {(status, "CANCELLED") for status in LINE if status != "DELIVERED"}
EVERY_PAIR = [(str(a), str(b)) for a in OrderStatus for b in OrderStatus]


@pytest.mark.spec(
    "Contract 4 Order status",
    "Forward moves may skip stages; CANCELLED from any state but DELIVERED; nothing else is allowed",
)
@pytest.mark.parametrize(("current", "target"), [pair for pair in EVERY_PAIR if pair[0] != pair[1]])
def test_status_graph(current, target):
    assert may_move(current, target) == ((current, target) in FORWARD | CANCELLING)


@pytest.mark.spec(
    "Contract 9 Orders",
    "low_stock when stock falls from at least the threshold to below it and stays above 0; out_of_stock when it "
    "reaches 0, without low_stock; back_in_stock when it rises from 0",
)
@pytest.mark.parametrize(
    ("before", "after", "threshold", "crossing"),
    [
        (5, 4, 5, StockCrossing.LOW_STOCK),
        (9, 1, 5, StockCrossing.LOW_STOCK),
        (6, 5, 5, None),  # at the threshold is not below it
        (4, 3, 5, None),  # it was low already
        (3, 4, 5, None),
        (4, 6, 5, None),  # it was not sold out
        (5, 0, 5, StockCrossing.OUT_OF_STOCK),
        (3, 0, 5, StockCrossing.OUT_OF_STOCK),
        (1, 0, None, StockCrossing.OUT_OF_STOCK),
        (9, 1, None, None),
        (0, 1, 5, StockCrossing.BACK_IN_STOCK),
        (0, 9, None, StockCrossing.BACK_IN_STOCK),
        (0, 0, 5, None),
        (4, 4, 5, None),
        (None, 0, 5, None),
        (0, None, 5, None),
        (None, 3, None, None),
        (1, 1, 0, None),
    ],
)
def test_stock_crossing_for_each_change(before, after, threshold, crossing):
    assert stock_crossing(before, after, threshold) == crossing


LOW = [(1, 5), (4, 5)]
NOT_LOW = [(0, 5), (5, 5), (6, 5), (3, 0), (3, None), (None, 5), (None, None)]


@pytest.mark.parametrize(("stock", "threshold"), LOW + NOT_LOW)
def test_stock_is_low_below_its_threshold_and_above_none(stock, threshold):
    assert is_low(stock, threshold) == ((stock, threshold) in LOW)
