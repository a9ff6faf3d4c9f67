"""Mails to merchants: new orders, products that run low, new reviews; as often as each person chose."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client

from accounts.models import Business, User
from accounts.services.sender import send_due as send_mails
from stores.models import MerchantNews, Order, Product
from stores.services.merchant_mails import send_due
from stores.services.reviews import create_review
from tests import factories
from tests.pages import signed_in, text_of
from tests.sessions import another_session
from tests.storefront.shopping import Shopper

NOTICES = "/merchant/notices/"
DEFAULTS = {"new_orders": "each", "low_stock": "daily", "new_reviews": "off"}
NOON = datetime(2026, 11, 20, 12, 10, tzinfo=UTC)
MERCHANT = "mira@example.com"


@pytest.fixture
def bread(shop):
    return factories.product(shop, name="Bread", slug="bread", price=500, stock=None)


@pytest.fixture
def place(shop, bread):
    """Has a shopper order one bread."""
    shopper = Shopper(shop)

    def order():
        shopper.take(bread, 1)
        assert shopper.place().status_code == 302
        return Order.objects.order_by("-pk").first()

    return order


@pytest.fixture
def told(mailoutbox):
    """Subjects of the mails to the merchant so far."""

    def subjects():
        send_mails()
        return [each.subject for each in mailoutbox if each.to == [MERCHANT]]

    return subjects


def choose(mira, **often):
    assert signed_in(mira).post(NOTICES, DEFAULTS | often).status_code == 302


@pytest.mark.long
def test_merchant_is_mailed_each_order_once_with_a_link_that_works_signed_out(mira, place, mailoutbox, told):
    order = place()
    assert (send_due(), send_due()) == (1, 0)
    assert told() == [f"New order {order.number}, $5.00"]
    assert not MerchantNews.objects.exists()
    letter = next(each for each in mailoutbox if each.to == [MERCHANT])
    assert "Payment: Cash, when the customer receives the order" in letter.body
    assert "Kim" not in letter.body + letter.alternatives[0][0], "a mail can't be erased"
    link = next(line for line in letter.body.splitlines() if "/merchant/orders/" in line)
    stranger = Client(headers={"accept": "text/html"})
    sign_in = stranger.get(link)
    assert sign_in.status_code == 302
    page = stranger.post(
        sign_in["Location"], {"email": MERCHANT, "password": factories.PASSWORD}, follow=True
    )
    assert f"Order {order.number}" in text_of(page)


@pytest.mark.long
@pytest.mark.parametrize(
    ("often", "zone", "first", "then"),
    [
        ("hourly", "UTC", NOON + timedelta(minutes=49), NOON + timedelta(minutes=50)),
        ("daily", "UTC", NOON + timedelta(hours=19, minutes=49), NOON + timedelta(hours=19, minutes=50)),
        ("daily", "America/New_York", NOON + timedelta(minutes=49), NOON + timedelta(minutes=50)),
    ],
)
def test_summary_has_all_orders_since_the_last_one(mira, shop, place, told, often, zone, first, then):
    choose(mira, new_orders=often)
    Business.objects.filter(pk=shop.pk).update(timezone=zone)
    with time_machine.travel(NOON, tick=False):
        place(), place()
    assert send_due(now=first) == 0
    assert told() == []
    assert send_due(now=then) == 1
    assert told() == ["2 new orders, $10.00"]
    assert send_due(now=then + timedelta(days=2)) == 0


@pytest.mark.parametrize("why", ["off", "closed", "sandbox"])
def test_nobody_is_mailed_who_must_not_be(mira, shop, place, told, why):
    if why == "off":
        choose(mira, new_orders="off")
    elif why == "closed":
        User.objects.filter(pk=mira.pk).update(is_active=False)
    else:
        Business.objects.filter(pk=shop.pk).update(is_sandbox=True)
    place()
    assert send_due() == 0
    assert told() == []
    assert not MerchantNews.objects.exists()


@pytest.mark.long
def test_new_choice_counts_for_what_waits(mira, place, told):
    choose(mira, new_orders="daily")
    place()
    assert send_due() == 0
    choose(mira, new_orders="each")
    assert send_due() == 1


@pytest.mark.long
def test_what_piled_up_is_one_mail(place, told):
    for _ in range(11):
        place()
    assert send_due() == 1
    assert told() == ["11 new orders, $55.00"]


@pytest.mark.long
def test_low_stock_is_mailed_in_the_morning_if_it_is_still_low(mira, shop, bread, place, told):
    Product.objects.filter(pk=bread.pk).update(stock=5, low_stock_threshold=5)
    choose(mira, new_orders="off")
    with time_machine.travel(NOON, tick=False):
        Product.objects.filter(pk=bread.pk).update(stock=5)
        place()
    tomorrow = NOON + timedelta(days=1)
    assert send_due(now=NOON + timedelta(hours=1)) == 0
    assert send_due(now=tomorrow) == 1
    assert told() == ["Bread is running low"]
    Product.objects.filter(pk=bread.pk).update(stock=5)
    with time_machine.travel(tomorrow, tick=False):
        place()
    Product.objects.filter(pk=bread.pk).update(stock=50)
    assert send_due(now=tomorrow + timedelta(days=1)) == 0
    assert len(told()) == 1


def test_reviews_are_mailed_to_those_who_want_them(mira, bread, told):
    create_review(product=bread, rating=4, author_name="Kim", comment="See evil.example")
    assert send_due() == 0
    choose(mira, new_reviews="each")
    create_review(product=bread, rating=4, author_name="Kim")
    assert send_due() == 1
    assert told() == ["New review of Bread"]


def test_choices_are_shown_and_wrong_ones_refused(mira, shop):
    choose(mira, new_reviews="daily")
    browser = signed_in(mira)
    page = text_of(browser.get(NOTICES))
    assert page.count('value="each" selected') == 1
    assert page.count('value="daily" selected') == 2
    assert browser.post(NOTICES, DEFAULTS | {"new_orders": "never"}).status_code == 422


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_mail_is_sent_by_one_of_two_runs(shop, bread, told):
    shopper = Shopper(shop)
    shopper.take(bread, 1)
    shopper.place()
    with another_session() as other, other.cursor() as cursor:
        cursor.execute("SELECT 1 FROM stores_merchantnews FOR UPDATE")
        assert send_due() == 0
    assert send_due() == 1
    assert len(told()) == 1
