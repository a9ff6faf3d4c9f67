from datetime import UTC, datetime

import pytest

from common.errors import Invalid, NotFound
from stores.models import Review
from stores.records import ReviewRecord
from stores.services.reviews import create_review, delete_review
from tests import factories

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_creating_tells_and_counts(shop, ear):
    product = factories.product(shop)
    review = create_review(product=product, rating=4, comment="Good.", author_name="Kim", now=NOON)
    stored = Review.objects.get()
    assert (stored.product, stored.business, stored.rating) == (product, shop, 4)
    assert (stored.comment, stored.author_name, stored.created_at) == ("Good.", "Kim", NOON)
    assert ear.only("review_created")["review"] == ReviewRecord.of(review)
    shop.totals.refresh_from_db()
    assert shop.totals.reviews == 1


def test_product_keeps_the_average_and_number_of_its_reviews(shop):
    product = factories.product(shop)
    reviews = [create_review(product=product, rating=rating, author_name="Kim") for rating in (5, 4, 2)]
    delete_review(review=reviews[2])
    product.refresh_from_db()
    assert (product.rating, product.review_count) == (4.5, 2)
    for review in reviews[:2]:
        delete_review(review=review)
    product.refresh_from_db()
    assert (product.rating, product.review_count) == (0, 0)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"rating": 0}, "rating"),
        ({"rating": 6}, "rating"),
        ({"author_name": ""}, "authorName"),
        ({"comment": "x" * 2_001}, "comment"),
    ],
)
def test_bad_value_names_its_field(shop, ear, fields, named):
    product = factories.product(shop)
    with pytest.raises(Invalid) as caught:
        create_review(**({"product": product, "rating": 3, "author_name": "Kim"} | fields))
    assert caught.value.details[0]["field"] == named
    assert ear == []


def test_review_of_a_product_that_is_gone_is_not_found(shop):
    product = factories.product(shop)
    type(product).objects.all().delete()
    with pytest.raises(NotFound):
        create_review(product=product, rating=3, author_name="Kim")


def test_deleting_tells_and_counts(shop, ear):
    review = create_review(product=factories.product(shop), rating=4, author_name="Kim")
    ear.clear()
    delete_review(review=review, now=NOON)
    heard = ear.only("review_deleted")
    assert (heard["review"].id, heard["now"]) == (review.pk, NOON)
    shop.totals.refresh_from_db()
    assert (shop.totals.reviews, Review.objects.count()) == (0, 0)
    with pytest.raises(NotFound):
        delete_review(review=review)
    assert len(ear) == 1
