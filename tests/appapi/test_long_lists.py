"""Pages far down a list, which start from bookmarks instead of an offset, with the same results."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Business
from appapi import pages
from common.db import long_lists
from installations.models import Installation
from stores.models import Product
from stores.services.catalogue.products import archive_product, delete_product, restore_product
from stores.services.totals import recount
from tests import factories

Read = Callable[..., list[str]]


@pytest.fixture(autouse=True)
def few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the fourth row a list is long here."""
    monkeypatch.setattr(pages, "NEAR_TOP", 4)
    monkeypatch.setattr("appapi.middleware.REQUESTS_A_MINUTE", 1000)


@pytest.fixture
def shelf(sandbox: Business) -> list[Product]:
    """Thirty products, the newest first."""
    return [
        factories.product(sandbox, name=f"P{n}", category=f"C{n % 2}", is_available=n % 3 > 0)
        for n in range(30)
    ][::-1]


@pytest.fixture
def read(api: Client) -> Read:
    """The names on a page of three, and no word wrong about it."""

    def names(page: int, filters: str = "", *, total: int | None = None, limit: int = 3) -> list[str]:
        answer = api.get(f"/app-api/products?limit={limit}&page={page}{filters}").json()
        assert (answer["page"], answer["limit"]) == (page, limit)
        if total is not None:
            assert answer["total"] == total
        return [product["name"] for product in answer["data"]]

    return names


def cut(products: Sequence[Product], page: int) -> list[str]:
    return [product.name for product in products[(page - 1) * 3 : page * 3]]


def listed(business: Business) -> list[Product]:
    return list(Product.objects.filter(business=business, status="ACTIVE").order_by("-id"))


ORDERS_OF_READING = {
    "forwards": list(range(1, 12)),
    "backwards": list(range(11, 0, -1)),
    "one deep page first": [9, 1, 10, 3, 2],
    "the same page again": [8, 8, 8, 9, 8],
    "deep right after shallow": [2, 3, 1, 10],
    "far apart": [3, 10, 4, 9],
}


@pytest.mark.spec("Pagination", "Each page holds what its offset says, in whatever order pages are read")
@pytest.mark.parametrize("order", ORDERS_OF_READING.values(), ids=ORDERS_OF_READING)
@pytest.mark.parametrize("category", ["", "C1"])
def test_pages_in_any_order_hold_what_their_offset_says(
    shelf: list[Product], read: Read, order: list[int], category: str
) -> None:
    found = [product for product in shelf if not category or product.category == category]
    filters = f"&category={category}" if category else ""
    for page in order:
        assert read(page, filters, total=len(found)) == cut(found, page), page


@pytest.mark.spec(
    "Pagination", "A row that arrives or leaves between two pages moves the rows, as an offset does"
)
@pytest.mark.parametrize("change", ["created", "archived", "archived above", "deleted", "restored", "both"])
def test_change_between_pages_is_seen_at_once(
    shelf: list[Product], sandbox: Business, read: Read, change: str
) -> None:
    gone = shelf.pop(20)
    archive_product(product=gone)
    for page in (3, 4, 5, 6, 7):
        read(page)
    if change in ("created", "both"):
        factories.product(sandbox, name="New")
    if change in ("archived", "both"):
        archive_product(product=shelf[13])
    if change == "archived above":
        archive_product(product=shelf[0])
    if change == "deleted":
        delete_product(product=shelf[13])
    if change == "restored":
        restore_product(product=gone)
    now = listed(sandbox)
    for page in (5, 7, 6, 10, 3, 4):
        assert read(page, total=len(now)) == cut(now, page), page


@pytest.mark.spec("Pagination", "An app that reads page after page misses nothing while rows arrive")
def test_reading_on_while_rows_arrive_misses_nothing(
    shelf: list[Product], sandbox: Business, read: Read
) -> None:
    seen: list[str] = []
    page = 1
    while names := read(page):
        seen += names
        factories.product(sandbox, name=f"New {page}")
        page += 1
        if page > 30:
            break
    assert {product.name for product in shelf} <= set(seen)


@pytest.mark.spec("Pagination", "No row is repeated or lost because another arrived while a page was read")
def test_row_that_arrives_while_a_page_is_read_moves_no_later_page(
    shelf: list[Product], sandbox: Business, read: Read
) -> None:
    arrived: list[Product] = []

    def arrives_before_the_rows(execute: Any, sql: str, *args: Any) -> Any:
        if "OFFSET 12" in sql and not arrived:
            arrived.append(factories.product(sandbox, name="New"))
        return execute(sql, *args)

    with connection.execute_wrapper(arrives_before_the_rows):
        read(5)
    assert arrived
    now = listed(sandbox)
    for page in (5, 6, 7, 11):
        assert read(page, total=31) == cut(now, page), page


def test_change_in_a_filtered_list_is_seen_by_its_total(shelf: list[Product], read: Read) -> None:
    found = [product for product in shelf if product.category == "C0"]
    filters = "&category=C0&updatedSince=2020-01-01T00:00:00Z"
    for page in (3, 4):
        assert read(page, filters) == cut(found, page)
    archive_product(product=found.pop(1))
    for page in (3, 4):
        assert read(page, filters, total=len(found)) == cut(found, page)


@pytest.mark.parametrize("filters", ["", "&category=C1"])
def test_page_past_the_end_of_a_long_list_is_empty(shelf: list[Product], read: Read, filters: str) -> None:
    total = 15 if filters else 30
    last = total // 3
    assert len(read(last, filters)) == 3
    for page in (last + 1, last + 2, 10**6):
        assert read(page, filters, total=total) == []
    assert len(read(last, filters, total=total)) == 3
    # A last page that is not full.
    assert len(read(2, filters, limit=total - 1)) == 1


def test_places_of_one_shop_say_nothing_of_another(
    shelf: list[Product], read: Read, elsewhere: Installation
) -> None:
    from tests.clients import client_of

    theirs = [factories.product(elsewhere.business, name=f"T{n}") for n in range(20)][::-1]
    assert read(5) == cut(shelf, 5)
    answer = client_of(elsewhere).get("/app-api/products?limit=3&page=5").json()
    assert [product["name"] for product in answer["data"]] == cut(theirs, 5)


def test_places_are_forgotten_when_the_counts_are_corrected(
    shelf: list[Product], sandbox: Business, read: Read
) -> None:
    assert read(5) == cut(shelf, 5)
    Product.objects.filter(pk=shelf.pop(3).pk).update(status="ARCHIVED")  # past the services
    recount(business=sandbox)
    assert read(5, total=29) == cut(shelf, 5)


def test_long_list_of_orders_comes_with_lines_and_payments(api: Client, sandbox: Business) -> None:
    orders = [factories.order(sandbox) for _ in range(12)][::-1]
    factories.payment(orders[7])
    for page in (3, 4, 3, 4):
        answer = api.get(f"/app-api/orders?limit=3&page={page}").json()
        assert answer["total"] == 12
        expected = orders[(page - 1) * 3 : page * 3]
        assert [order["id"] for order in answer["data"]] == [str(order.pk) for order in expected]
        assert [order["payment"] is not None for order in answer["data"]] == [
            order == orders[7] for order in expected
        ]


@pytest.mark.parametrize("page", [5, 6])
def test_page_far_down_takes_three_statements_and_does_not_walk_there_twice(
    api: Client,
    shelf: list[Product],
    read: Read,
    statements: Callable[[], CaptureQueriesContext],
    page: int,
) -> None:
    read(5)
    with statements() as asked:
        assert read(page) == cut(shelf, page)
    assert len(asked) == 3, [query["sql"] for query in asked]
    assert "OFFSET 12" not in asked[2]["sql"]
    assert "OFFSET 15" not in asked[2]["sql"]


def test_total_of_a_filtered_list_is_counted_in_full(
    shelf: list[Product], read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_lists, "COUNTED_EXACTLY", 10)
    assert read(1, "&category=C0", total=15) == ["P28", "P26", "P24"]
    assert read(1, "&category=C0&isAvailable=false", total=5) == ["P24", "P18", "P12"]


def test_total_is_remembered_only_past_the_rows_that_are_counted_each_time(
    sandbox: Business, shelf: list[Product], read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_lists, "COUNTED_EXACTLY", 15)
    for total in (15, 16, 16):  # 16 is remembered, so the 17th is not counted yet
        read(1, "&category=C0", total=total)
        factories.product(sandbox, category="C0")
