"""Sales figures: sums, days of the business's time zone, and what cancelled orders count for."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import time_machine
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Business
from installations.models import Installation
from stores.enums import OrderStatus
from stores.models import Order, OrderItem
from tests import factories

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PATH = "/app-api/analytics/dashboard"


@pytest.fixture(autouse=True)
def _noon() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


def sale(business: Business, at: datetime, amount: int = 1000, status: str = "PENDING") -> Order:
    return factories.order(business, created_at=at, subtotal=amount, amount=amount, status=status)


def line(order: Order, product_id: UUID, quantity: int, price: int, name: str = "Tea") -> None:
    OrderItem.objects.create(order=order, product_id=product_id, name=name, quantity=quantity, price=price)


def figures(api: Client, query: str = "") -> dict[str, Any]:
    answer = api.get(PATH + query)
    assert answer.status_code == 200, answer.content
    record: dict[str, Any] = answer.json()
    return record


def sold(record: dict[str, Any]) -> dict[str, tuple[int, float]]:
    """The days on which something happened."""
    return {
        day["date"]: (day["orders"], day["revenue"])
        for day in record["daily"]
        if day["orders"] or day["revenue"]
    }


@pytest.mark.spec("App API", "The Dashboard record: all fields, with zeros and null where nothing was sold")
def test_dashboard_of_a_shop_that_sold_nothing(api: Client, elsewhere: Installation) -> None:
    sale(elsewhere.business, NOON)
    record = figures(api, "?days=3")
    assert record == {
        "currency": "USD",
        "days": 3,
        "totalOrders": 0,
        "totalRevenue": 0,
        "averageOrderValue": None,
        "ordersByStatus": dict.fromkeys(OrderStatus.values, 0),
        "topProducts": [],
        "daily": [
            {"date": "2026-11-18", "orders": 0, "revenue": 0},
            {"date": "2026-11-19", "orders": 0, "revenue": 0},
            {"date": "2026-11-20", "orders": 0, "revenue": 0},
        ],
    }


@pytest.mark.spec("App API", "Cancelled orders are counted, and carry no revenue")
def test_cancelled_orders_are_counted_without_revenue(api: Client, sandbox: Business) -> None:
    tea = uuid4()
    for amount, status in ((1000, "PENDING"), (2555, "DELIVERED"), (9900, "CANCELLED")):
        line(sale(sandbox, NOON, amount, status), tea, 1, amount)
    record = figures(api)
    assert (record["totalOrders"], record["totalRevenue"], record["averageOrderValue"]) == (3, 35.55, 17.78)
    expected = dict.fromkeys(OrderStatus.values, 0) | {"PENDING": 1, "DELIVERED": 1, "CANCELLED": 1}
    assert record["ordersByStatus"] == expected
    assert sold(record) == {"2026-11-20": (3, 35.55)}
    assert [(top["quantity"], top["revenue"]) for top in record["topProducts"]] == [(2, 35.55)]


@pytest.mark.spec("App API", "averageOrderValue is null with no orders")
def test_average_of_cancelled_orders_alone_is_null(api: Client, sandbox: Business) -> None:
    sale(sandbox, NOON, status="CANCELLED")
    record = figures(api)
    assert (record["totalOrders"], record["totalRevenue"], record["averageOrderValue"]) == (1, 0, None)


@pytest.mark.spec("App API", "Dashboard days: 1 to 90, default 30")
@pytest.mark.parametrize(
    ("query", "days"), [("", 30), ("?days=1", 1), ("?days=90", 90), ("?days=007", 7), ("?daysx=5", 30)]
)
def test_days_come_oldest_first_and_end_today(api: Client, query: str, days: int) -> None:
    record = figures(api, query)
    today = date(2026, 11, 20)
    expected = [(today - timedelta(days=ago)).isoformat() for ago in range(days - 1, -1, -1)]
    assert [day["date"] for day in record["daily"]] == expected
    assert record["days"] == days


@pytest.mark.parametrize("days", ["0", "91", "-1", "x", "", "1.5", "1" * 5000, "٣", "%00"])
def test_other_numbers_of_days_are_400(api: Client, days: str) -> None:
    answer = api.get(f"{PATH}?days={days}")
    assert answer.status_code == 400
    assert answer.json()["details"] == [{"field": "days", "message": "Must be an integer from 1 to 90."}]


@pytest.mark.spec("App API", "Dashboard days are those of the business's time zone, today last")
@pytest.mark.parametrize(
    ("zone", "today", "first_moment"),
    [
        ("UTC", "2026-11-20", datetime(2026, 11, 19, 0, 0, tzinfo=UTC)),
        ("Asia/Tokyo", "2026-11-20", datetime(2026, 11, 18, 15, 0, tzinfo=UTC)),
        ("Asia/Kathmandu", "2026-11-20", datetime(2026, 11, 18, 18, 15, tzinfo=UTC)),
        ("America/Los_Angeles", "2026-11-20", datetime(2026, 11, 19, 8, 0, tzinfo=UTC)),
        ("Pacific/Kiritimati", "2026-11-21", datetime(2026, 11, 19, 10, 0, tzinfo=UTC)),
    ],
)
def test_days_begin_at_the_business_s_midnight(
    api: Client, sandbox: Business, zone: str, today: str, first_moment: datetime
) -> None:
    Business.objects.filter(pk=sandbox.pk).update(timezone=zone)
    before = (date.fromisoformat(today) - timedelta(days=1)).isoformat()
    sale(sandbox, first_moment - timedelta(microseconds=1), 100)  # the day before the first
    sale(sandbox, first_moment, 200)
    sale(sandbox, first_moment + timedelta(hours=24, microseconds=-1), 300)
    sale(sandbox, first_moment + timedelta(hours=24), 400)
    record = figures(api, "?days=2")
    assert sold(record) == {before: (2, 5.0), today: (1, 4.0)}
    assert (record["totalOrders"], record["totalRevenue"]) == (3, 9.0)


@pytest.mark.spec("App API", "A day on which the clock changes has 23 or 25 hours")
@pytest.mark.parametrize(
    ("zone", "now", "day", "begins", "hours"),
    [
        ("Europe/Berlin", (2026, 10, 26, 12), "2026-10-25", (2026, 10, 24, 22), 25),
        ("Europe/Berlin", (2026, 3, 30, 12), "2026-03-29", (2026, 3, 28, 23), 23),
        ("America/New_York", (2026, 11, 2, 18), "2026-11-01", (2026, 11, 1, 4), 25),
        # Here the clock goes from 23:59 to 1:00, so that the day has no midnight.
        ("America/Santiago", (2026, 9, 7, 15), "2026-09-06", (2026, 9, 6, 4), 23),
        # Here midnight comes twice: the clock goes from 0:59 back to 0:00.
        ("Atlantic/Azores", (2026, 10, 26, 12), "2026-10-25", (2026, 10, 25, 0), 25),
    ],
)
def test_day_on_which_the_clock_changes(
    api: Client, sandbox: Business, zone: str, now: Any, day: str, begins: Any, hours: int
) -> None:
    Business.objects.filter(pk=sandbox.pk).update(timezone=zone)
    start = datetime(*begins, tzinfo=UTC)
    for minutes in (0, 60 * hours - 1):  # its first and its last minute
        sale(sandbox, start + timedelta(minutes=minutes))
    for minutes in (-1, 60 * hours):  # neighbours
        sale(sandbox, start + timedelta(minutes=minutes))
    with time_machine.travel(datetime(*now, tzinfo=UTC), tick=False):
        record = figures(api, "?days=3")
    assert [each["orders"] for each in record["daily"]] == [1, 2, 1]
    assert record["daily"][1]["date"] == day
    with time_machine.travel(datetime(*now, tzinfo=UTC), tick=False):
        assert figures(api, "?days=2")["totalOrders"] == 3  # from that day's very first moment on


@pytest.mark.spec(
    "App API", "topProducts: the best-selling ones, with pieces and revenue, under their present name"
)
def test_top_products(api: Client, sandbox: Business) -> None:
    tea = factories.product(sandbox, name="Green tea")
    gone = uuid4()
    order = sale(sandbox, NOON)
    line(order, tea.pk, 2, 500, name="Tea")
    line(sale(sandbox, NOON - timedelta(days=29)), tea.pk, 3, 450, name="Old tea")
    line(sale(sandbox, NOON - timedelta(days=31)), tea.pk, 70, 1)
    line(order, gone, 4, 1000, name="Cake")
    line(sale(sandbox, NOON, status="CANCELLED"), gone, 9, 1000, name="Cake")
    assert figures(api)["topProducts"] == [
        {"productId": str(tea.pk), "name": "Green tea", "quantity": 5, "revenue": 23.5},
        {"productId": str(gone), "name": "Cake", "quantity": 4, "revenue": 40.0},
    ]


def test_top_products_are_ten_and_ties_go_by_revenue(api: Client, sandbox: Business) -> None:
    order = sale(sandbox, NOON)
    for price in range(12):
        line(order, uuid4(), 1, price * 100, name=str(price))
    best = [top["name"] for top in figures(api)["topProducts"]]
    assert best == [str(price) for price in range(11, 1, -1)]


@pytest.mark.parametrize(("currency", "total", "average"), [("JPY", 100, 33), ("KWD", 0.1, 0.033)])
def test_money_is_in_major_units_of_the_currency(
    api: Client, sandbox: Business, currency: str, total: float, average: float
) -> None:
    Business.objects.filter(pk=sandbox.pk).update(currency=currency)
    for amount in (50, 25, 25):
        sale(sandbox, NOON, amount)
    record = figures(api)
    assert (record["currency"], record["totalRevenue"], record["averageOrderValue"]) == (
        currency,
        total,
        average,
    )


def test_largest_amounts_are_added_up(api: Client, sandbox: Business) -> None:
    largest = 2**53 - 1
    line(sale(sandbox, NOON, largest), uuid4(), 1, largest)
    sale(sandbox, NOON, largest)
    assert figures(api)["totalRevenue"] == largest * 2 / 100


@pytest.mark.parametrize("orders", [1, 30])
def test_dashboard_takes_three_statements(
    api: Client, sandbox: Business, orders: int, statements: Callable[[], CaptureQueriesContext]
) -> None:
    for ago in range(orders):
        line(sale(sandbox, NOON - timedelta(days=ago)), uuid4(), 1, 100)
    with statements() as asked:
        figures(api, "?days=90")
    assert len(asked) == 3, [query["sql"] for query in asked]
