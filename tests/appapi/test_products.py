"""Products as an app sees them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Business
from installations.models import Installation
from stores.models import Product
from tests import factories

MOMENT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def names(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [product["name"] for product in answer.json()["data"]]


@pytest.mark.spec("App API", "The Product record has the specification's fields, stock and updatedAt")
def test_product_record_names_every_field(api: Client, sandbox: Business) -> None:
    product = factories.product(
        sandbox,
        name="Crème brûlée 🍮",
        slug="creme",
        price=1250,
        category="Süßes",
        stock=7,
        created_at=MOMENT,
        updated_at=MOMENT + timedelta(milliseconds=1500),
    )
    record = {
        "id": str(product.pk),
        "name": "Crème brûlée 🍮",
        "description": "",
        "price": 12.5,
        "category": "Süßes",
        "isAvailable": True,
        "imageUrl": "/static/images/product.svg",
        "slug": "creme",
        "status": "ACTIVE",
        "stock": 7,
        "createdAt": "2026-11-20T12:00:00.000Z",
        "updatedAt": "2026-11-20T12:00:01.500Z",
    }
    assert api.get("/app-api/products").json() == {"data": [record], "total": 1, "page": 1, "limit": 50}
    assert api.get(f"/app-api/products/{product.pk}").json() == record
    assert api.get("/app-api/products/slug/creme").json() == record


def test_price_in_a_currency_without_decimals_is_whole(api: Client, sandbox: Business) -> None:
    sandbox.currency = "JPY"
    sandbox.save()
    product = factories.product(sandbox, price=1250)
    assert api.get(f"/app-api/products/{product.pk}").json()["price"] == 1250


@pytest.mark.long
@pytest.mark.spec("Limits", "Products page size: default 50, at most 100; a larger limit is lowered")
def test_pages_are_newest_first_and_bounded(api: Client, sandbox: Business) -> None:
    made = [factories.product(sandbox).name for _ in range(103)]
    newest = made[::-1]
    first = api.get("/app-api/products")
    assert names(first) == newest[:50]
    assert first.json()["limit"] == 50
    wide = api.get("/app-api/products?limit=1000")
    assert names(wide) == newest[:100]
    assert (wide.json()["limit"], wide.json()["total"]) == (100, 103)
    assert names(api.get("/app-api/products?limit=10&page=3")) == newest[20:30]
    assert names(api.get("/app-api/products?limit=100&page=2")) == newest[100:]


@pytest.mark.spec("Pagination", "A page past the end is an empty list with 200 and the true total")
@pytest.mark.parametrize("page", ["2", "10000001", str(2**53 - 1), "0" * 20 + "2"])
def test_page_past_the_end_is_empty_and_named(api: Client, sandbox: Business, page: str) -> None:
    factories.product(sandbox)
    answer = api.get(f"/app-api/products?page={page}&limit=100")
    assert answer.status_code == 200
    assert answer.json() == {"data": [], "total": 1, "page": int(page), "limit": 100}


@pytest.mark.spec("Pagination", "An integer has any number of digits; a limit above the maximum is lowered")
@pytest.mark.parametrize("value", ["9" * 20, "9" * 16, "1" + "0" * 5000])
def test_page_and_limit_of_many_digits_are_integers(api: Client, sandbox: Business, value: str) -> None:
    factories.product(sandbox)
    assert api.get(f"/app-api/products?limit={value}").json()["limit"] == 100
    far = api.get(f"/app-api/products?page={value}&limit={value}")
    assert far.status_code == 200
    assert far.json() == {"data": [], "total": 1, "page": 2**53 - 1, "limit": 100}


@pytest.mark.spec("Pagination", "page and limit below 1, or no integers, are 400 and named in details")
@pytest.mark.parametrize("value", ["0", "-1", "1.5", "two", "", "1e3", "٣", "000"])
def test_page_that_is_no_positive_integer_is_refused(api: Client, value: str) -> None:
    answer = api.get(f"/app-api/products?page={quote(value)}&limit={quote(value)}")
    assert answer.status_code == 400
    assert [problem["field"] for problem in answer.json()["details"]] == ["page", "limit"]


def test_every_problem_of_a_query_is_told_at_once(api: Client) -> None:
    answer = api.get("/app-api/products?page=0&isAvailable=yes&updatedSince=today&search=%00")
    fields = [problem["field"] for problem in answer.json()["details"]]
    assert answer.status_code == 400
    assert fields == ["page", "isAvailable", "search", "updatedSince"]


@pytest.mark.spec("App API", "Products filter by category, isAvailable, search and updatedSince")
def test_filters_narrow_the_list(api: Client, sandbox: Business) -> None:
    factories.product(sandbox, name="Tea", category="Drinks", updated_at=MOMENT)
    factories.product(sandbox, name="Coffee", category="Drinks", is_available=False)
    factories.product(sandbox, name="Größe L", category="Wear", description="A shirt for tea drinkers")
    factories.product(sandbox, name="Gone", category="Drinks", status="ARCHIVED")

    def listed(query: str) -> list[str]:
        answer = api.get(f"/app-api/products?{query}")
        assert answer.json()["total"] == len(answer.json()["data"])
        return names(answer)

    assert listed("category=Drinks") == ["Coffee", "Tea"]
    assert listed("category=drinks") == []
    assert listed("isAvailable=true") == ["Größe L", "Tea"]
    assert listed("isAvailable=false") == ["Coffee"]
    assert listed("search=TEA") == ["Größe L", "Tea"]
    assert listed("search=größe") == ["Größe L"]
    assert listed("search=100%25") == []
    assert listed("category=Drinks&isAvailable=true&search=te&unknown=1") == ["Tea"]


@pytest.mark.spec("App API", "updatedSince includes the moment, in any offset")
@pytest.mark.parametrize(
    ("since", "found"),
    [
        ("2026-11-20T12:00:00.000Z", True),
        ("2026-11-20T12:00:00.001Z", False),
        ("2026-11-20T13:00:00%2B01:00", True),
        ("2026-11-20T13:00:00+01:00", True),  # the plus arrives as a space
        ("0001-01-01T00:00:00Z", True),
        ("9999-12-31T23:59:59Z", False),
    ],
)
def test_updated_since_includes_the_moment(api: Client, sandbox: Business, since: str, found: bool) -> None:
    factories.product(sandbox, updated_at=MOMENT)
    assert len(names(api.get(f"/app-api/products?updatedSince={since}"))) == found


@pytest.mark.parametrize(
    "since", ["2026-11-20", "2026-11-20T12:00:00", "2026-02-30T00:00:00Z", "0001-01-01T00:00:00%2B05:00", ""]
)
def test_moment_that_is_none_is_refused(api: Client, since: str) -> None:
    answer = api.get(f"/app-api/products?updatedSince={since}")
    assert answer.status_code == 400
    assert answer.json()["details"][0]["field"] == "updatedSince"


def test_archived_product_is_not_listed_but_readable(api: Client, sandbox: Business) -> None:
    product = factories.product(sandbox, slug="old", status="ARCHIVED")
    Product.objects.filter(pk=product.pk).update(status="ARCHIVED")
    assert names(api.get("/app-api/products")) == []
    assert api.get(f"/app-api/products/{product.pk}").json()["status"] == "ARCHIVED"
    assert api.get("/app-api/products/slug/old").json()["status"] == "ARCHIVED"


@pytest.mark.spec("Errors", "404: absent, or another tenant's")
def test_product_of_another_business_is_not_found(api: Client, elsewhere: Installation) -> None:
    foreign = factories.product(elsewhere.business, slug="theirs")
    assert names(api.get("/app-api/products")) == []
    for path in (foreign.pk, uuid4(), "nonsense", "slug", "slug/theirs", "slug/%00", "slug/ü", "%00"):
        answer = api.get(f"/app-api/products/{path}")
        assert answer.status_code == 404, path
        assert answer.json() == {"statusCode": 404, "message": "Product not found", "error": "Not Found"}


@pytest.mark.parametrize("rows", [1, 3])
def test_list_takes_two_statements(
    api: Client, sandbox: Business, rows: int, statements: Callable[[], CaptureQueriesContext]
) -> None:
    for _ in range(rows):
        factories.product(sandbox)
    with statements() as asked:
        assert len(names(api.get("/app-api/products"))) == rows
    assert len(asked) == 2, [query["sql"] for query in asked]


def test_filtered_list_takes_three_statements(
    api: Client, sandbox: Business, statements: Callable[[], CaptureQueriesContext]
) -> None:
    factories.product(sandbox)
    with statements() as asked:
        api.get("/app-api/products?isAvailable=true")
    assert len(asked) == 3
