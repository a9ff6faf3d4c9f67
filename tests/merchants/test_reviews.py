"""What customers say, for the merchant to read and to remove."""

from html import unescape

import pytest

from stores.models import Review
from stores.services.reviews import create_review
from tests import factories
from tests.merchants.counting import statements_of
from tests.pages import text_of

LIST = "/merchant/reviews/"


@pytest.fixture
def bread(shop):
    return factories.product(shop, name="Bread")


@pytest.fixture
def rye(shop):
    return factories.product(shop, name="Rye Bread")


def words(response):
    return unescape(text_of(response))


def test_reviews_come_newest_first_with_product_rating_and_comment(browser, bread):
    create_review(product=bread, rating=5, author_name="Ann", comment="The best.")
    create_review(product=bread, rating=1, author_name="Kim", comment="Burnt <b>black</b>.")
    page = text_of(browser.get(LIST))
    assert page.index("Kim") < page.index("Ann")
    assert "2 reviews" in page
    assert "5 of 5 stars" in page
    assert "The best." in page
    assert "Burnt &lt;b&gt;black&lt;/b&gt;." in page


@pytest.mark.long
def test_filters_narrow_the_list(browser, bread, rye):
    create_review(product=bread, rating=5, author_name="Ann")
    create_review(product=rye, rating=5, author_name="Bob")
    create_review(product=rye, rating=2, author_name="Cleo")

    def found(query):
        page = text_of(browser.get(LIST + query))
        return [name for name in ("Ann", "Bob", "Cleo") if f">{name}<" in page]

    assert found("?rating=5") == ["Ann", "Bob"]
    assert found("?q=rye") == ["Bob", "Cleo"]
    assert found("?q=bread&rating=2") == ["Cleo"]
    assert found(f"?product={bread.pk}") == ["Ann"]
    assert "Reviews of <span" in text_of(browser.get(f"{LIST}?product={bread.pk}"))
    assert "No reviews match these filters" in text_of(browser.get(LIST + "?rating=3"))


def test_filter_that_can_not_be_is_told(browser, bread, sandbox):
    theirs = factories.product(sandbox, name="Secret").pk
    for query in ("?rating=6", "?product=x", f"?product={theirs}"):
        response = browser.get(LIST + query)
        assert response.status_code == 422
        assert "There is a problem" in text_of(response)
        assert "Secret" not in text_of(response)


def test_list_takes_the_same_statements_however_many_reviews(browser, bread, rye):
    def statements_with_more(reviews):
        for number in range(reviews):
            create_review(product=(bread, rye)[number % 2], rating=5, author_name="Ann")
        return statements_of(browser, LIST)

    assert statements_with_more(1) == statements_with_more(3)


@pytest.mark.long
@pytest.mark.parametrize(("reviews", "on_second"), [(25, False), (26, True)])
def test_reviews_come_in_pages(browser, bread, reviews, on_second):
    for number in range(reviews):
        create_review(product=bread, rating=5, author_name=f"Ann {number:02}")
    assert ("rating=5&amp;page=2" in text_of(browser.get(LIST + "?rating=5"))) is on_second
    assert ("Ann 00" in text_of(browser.get(LIST + "?page=2"))) is on_second


def test_removing_asks_first(browser, bread, ear):
    review = create_review(product=bread, rating=1, author_name="Kim", comment="Burnt.")
    asked = words(browser.get(f"{LIST}{review.pk}/delete/"))
    assert "Burnt." in asked
    assert Review.objects.exists()
    response = browser.post(f"{LIST}{review.pk}/delete/", follow=True)
    assert response.redirect_chain == [(LIST, 302)]
    assert "The review of Bread is removed." in words(response)
    assert not Review.objects.exists()
    assert ear.names == ["review_created", "review_deleted"]
    assert browser.post(f"{LIST}{review.pk}/delete/").status_code == 404
