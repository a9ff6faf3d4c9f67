"""Reviews and their statistics, as an app reads them."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Business
from installations.models import Installation
from stores.models import Product
from stores.services.catalogue.products import delete_product
from stores.services.reviews import create_review, delete_review
from tests import factories

MOMENT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def tea(sandbox: Business) -> Product:
    return factories.product(sandbox)


def authors(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [review["authorName"] for review in answer.json()["data"]]


@pytest.mark.spec("App API", "The Review record: id, productId, rating, comment, authorName, createdAt")
def test_review_record_names_every_field(api: Client, tea: Product) -> None:
    review = create_review(product=tea, rating=4, comment="Fine ☕", author_name="Zoë", now=MOMENT)
    assert api.get("/app-api/reviews").json() == {
        "data": [
            {
                "id": str(review.pk),
                "productId": str(tea.pk),
                "rating": 4,
                "comment": "Fine ☕",
                "authorName": "Zoë",
                "createdAt": "2026-11-20T12:00:00.000Z",
            }
        ],
        "total": 1,
        "page": 1,
        "limit": 10,
    }


@pytest.mark.long
@pytest.mark.spec("Limits", "Reviews page size: default 10, at most 50")
def test_pages_are_newest_first_and_bounded(api: Client, tea: Product) -> None:
    for number in range(52):
        create_review(product=tea, rating=5, author_name=str(number))
    newest = [str(number) for number in range(51, -1, -1)]
    assert authors(api.get("/app-api/reviews")) == newest[:10]
    wide = api.get("/app-api/reviews?limit=51")
    assert (authors(wide), wide.json()["limit"], wide.json()["total"]) == (newest[:50], 50, 52)
    assert authors(api.get("/app-api/reviews?page=2&limit=50")) == newest[50:]
    assert authors(api.get("/app-api/reviews?page=3&limit=50")) == []
    assert api.get("/app-api/reviews?page=0").status_code == 400


@pytest.mark.spec("App API", "Reviews are filtered by productId")
def test_filter_by_product(api: Client, tea: Product, sandbox: Business, elsewhere: Installation) -> None:
    bread = factories.product(sandbox)
    foreign = factories.product(elsewhere.business)
    for product, author in ((tea, "1"), (bread, "2"), (tea, "3"), (foreign, "4")):
        create_review(product=product, rating=3, author_name=author)
    found = api.get(f"/app-api/reviews?productId={tea.pk}")
    assert (authors(found), found.json()["total"]) == (["3", "1"], 2)
    for nothing in (foreign.pk, uuid4(), "nonsense", "", str(tea.pk).upper()):
        none = api.get(f"/app-api/reviews?productId={nothing}")
        assert (authors(none), none.json()["total"]) == ([], 0)
    assert api.get("/app-api/reviews?productId=%00").status_code == 400
    assert authors(api.get("/app-api/reviews")) == ["3", "2", "1"]


@pytest.mark.spec(
    "App API", "Review statistics: total, averageRating (null when none), distribution of 1 to 5"
)
def test_statistics_count_the_reviews_of_the_business(
    api: Client, tea: Product, elsewhere: Installation
) -> None:
    empty = {"total": 0, "averageRating": None, "distribution": {str(n): 0 for n in range(1, 6)}}
    create_review(product=factories.product(elsewhere.business), rating=1, author_name="Sam")
    assert api.get("/app-api/reviews/stats").json() == empty
    made = [create_review(product=tea, rating=rating, author_name="Kim") for rating in (5, 5, 2)]
    assert api.get("/app-api/reviews/stats").json() == {
        "total": 3,
        "averageRating": 4.0,
        "distribution": {"1": 0, "2": 1, "3": 0, "4": 0, "5": 2},
    }
    delete_review(review=made[0])
    assert api.get("/app-api/reviews/stats").json()["averageRating"] == 3.5
    delete_product(product=tea)
    assert api.get("/app-api/reviews/stats").json() == empty


@pytest.mark.parametrize("rows", [1, 3])
def test_list_and_statistics_take_two_statements_each(
    api: Client, tea: Product, rows: int, statements: Callable[[], CaptureQueriesContext]
) -> None:
    for _ in range(rows):
        create_review(product=tea, rating=5, author_name="Kim")
    for path in ("/app-api/reviews", "/app-api/reviews/stats"):
        with statements() as asked:
            assert api.get(path).status_code == 200
        assert len(asked) == 2, [query["sql"] for query in asked]
