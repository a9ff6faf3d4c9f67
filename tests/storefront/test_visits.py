"""Visits of a store, as its merchant's home page counts them."""

from datetime import datetime

import pytest
import time_machine
from django.test import Client

from accounts.models import Business, User
from storefront.views.reports import COUNTED_PER_MINUTE
from tests import factories
from tests.pages import signed_in, words_of
from tests.storefront.shopping import Shopper

pytestmark = pytest.mark.django_db


def figure(owner: User, business: Business, days: int = 7) -> str:
    """What the home page says under *Visits*, once the store has sold something."""
    if not business.orders.exists():
        factories.order(business)
    page = words_of(signed_in(owner).get(f"/merchant/?store={business.slug}&days={days}"))
    return " ".join(page.partition(" Visits ")[2].split()[:4])


def test_visits_are_the_stores_own_and_compared_with_the_days_before(mira: User, shop: Business) -> None:
    other = factories.business(mira)
    shop.timezone = "Asia/Tokyo"
    shop.save()
    with time_machine.travel(
        datetime.fromisoformat("2026-11-10T16:00+00:00"), tick=False
    ):  # the 11th in Tokyo
        Shopper(shop).post(Shopper(shop).at("visit/"))
    with time_machine.travel(datetime.fromisoformat("2026-11-17T16:00+00:00"), tick=False):
        for _ in range(2):
            assert Shopper(shop).post(Shopper(shop).at("visit/")).status_code == 204
        Shopper(other).post(Shopper(other).at("visit/"))
        assert figure(mira, shop) == "2 100% more than"  # the 12th to the 18th
        assert figure(mira, other).startswith("1 None before")
        assert figure(mira, shop, 30).startswith("3 None before")


@pytest.mark.long
def test_programs_and_loops_are_not_counted(mira: User, shop: Business, stopped_clock: None) -> None:
    shopper = Shopper(shop)
    shopper.see("")
    assert shopper.get(shopper.at("visit/")).status_code == 405
    answers = [shopper.post(shopper.at("visit/")).status_code for _ in range(COUNTED_PER_MINUTE + 2)]
    assert answers.count(204) == COUNTED_PER_MINUTE
    assert answers[-1] == 429
    assert figure(mira, shop).startswith(f"{COUNTED_PER_MINUTE} ")


def test_visitor_needs_no_cookie_and_gets_none(shop: Business) -> None:
    visitor = Client(enforce_csrf_checks=True, SERVER_NAME=Shopper(shop).defaults["SERVER_NAME"])
    answer = visitor.post(Shopper(shop).at("visit/"))
    assert answer.status_code == 204
    assert not answer.cookies
