"""The list of orders as a place to work: views, steps for several, newer orders, and many orders."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from stores.models import Order, StoreTotals
from tests import factories
from tests.merchants.counting import statements_of
from tests.pages import signed_in, text_of

LIST = "/merchant/orders/"


@pytest.fixture
def browser(mira):
    return signed_in(mira)


def unpaid(shop, **fields):
    order = factories.order(shop, payment_method="pay:wallet", **fields)
    factories.payment(order, status="EXPIRED")
    return order


@pytest.mark.long
def test_views_have_the_orders_that_they_name(browser, shop):
    long_ago = timezone.now() - timedelta(days=1, minutes=1)
    orders = {
        "new": factories.order(shop, delivery_method="DELIVERY"),
        "pickup": factories.order(shop, status="READY"),
        "late": factories.order(shop, delivery_method="DELIVERY", created_at=long_ago),
        "expired": unpaid(shop, status="DELIVERED"),
        "done": factories.order(shop, status="DELIVERED", created_at=long_ago),
        "cancelled": unpaid(shop, status="CANCELLED", created_at=long_ago),
    }

    def found(view):
        page = text_of(browser.get(LIST, {"view": view}))
        return {name for name, order in orders.items() if f">{order.number}<" in page}

    assert found("open") == {"new", "pickup", "late"}
    assert found("unpaid") == {"new", "pickup", "late", "expired"}
    assert found("pickup") == {"pickup"}
    assert found("late") == {"late"}
    assert found("") == set(orders)
    assert browser.get(LIST, {"view": "lost"}).status_code == 422
    page = text_of(browser.get(LIST, {"view": "late"}))
    assert 'href="/merchant/orders/?view=late" aria-current="page">Late</a>' in page
    assert '<input type="hidden" name="view" value="late"' in page, "other filters keep the view"


# --- Several at once --------------------------------------------------------------------------------


def move(browser, orders, status, **more):
    form = {"order": [order.pk for order in orders], "status": status} | more
    return browser.post(f"{LIST}move/?view=open", form, follow=True)


def statuses():
    return list(Order.objects.order_by("id").values_list("status", flat=True))


@pytest.mark.long
def test_several_orders_are_moved_and_those_that_can_not_stay(browser, shop, ear):
    theirs = factories.order(factories.business(factories.merchant("rival@example.com")))
    orders = [
        theirs,
        *(factories.order(shop, status=status) for status in ("PENDING", "READY", "CANCELLED", "PENDING")),
    ]
    page = move(browser, orders, "CONFIRMED")
    assert statuses() == ["PENDING", "CONFIRMED", "READY", "CANCELLED", "CONFIRMED"]
    assert page.redirect_chain == [("/merchant/orders/?view=open", 302)]
    assert "2 orders are confirmed." in text_of(page)
    assert f"2 orders were not changed: {orders[3].number}, {orders[2].number}." in text_of(page)
    assert ear.names == ["order_status_changed"] * 2
    assert "Select orders first." in text_of(move(browser, [], "CONFIRMED"))


@pytest.mark.spec("Contract 15 Doors", "Moving on several orders asks for those that are unpaid online")
@pytest.mark.parametrize(
    ("answer", "after"),
    [({}, ["PENDING", "PENDING"]), ({"only_paid": "1"}, ["PENDING", "READY"]), ({"anyway": "1"}, ["READY", "READY"])],
)  # fmt: skip
def test_unpaid_ones_among_several_ask(browser, shop, answer, after):
    """Those that stay are named with the question, and after its answer."""
    orders = [unpaid(shop), factories.order(shop)]
    gone = factories.order(shop, status="CANCELLED")
    asked = text_of(move(browser, [*orders, gone], "READY"))
    assert f"Not changed, because they can’t become ready: {gone.number}." in asked
    assert "Not paid yet. Mark as ready anyway?</h1>" in asked
    assert f"Order {orders[0].number} from" in asked
    assert f"Order {orders[1].number} from" not in asked
    assert statuses() == ["PENDING", "PENDING", "CANCELLED"]
    if answer:
        sent = re.findall(r'<input type="hidden" name="order" value="([^"]+)">', asked)
        done = browser.post(f"{LIST}move/", {"order": sent, "status": "READY"} | answer, follow=True)
        left = [gone.number] if "anyway" in answer else [gone.number, orders[0].number]
        assert f"not changed: {', '.join(left)}." in text_of(done)
    assert statuses() == [*after, "CANCELLED"]


def test_at_most_a_page_of_orders_is_moved_at_once(browser, shop, monkeypatch):
    monkeypatch.setattr("merchants.orders.bulk.ROWS", 2)
    orders = [factories.order(shop) for _ in range(3)]
    move(browser, orders, "CONFIRMED")
    assert statuses() == ["CONFIRMED", "CONFIRMED", "PENDING"]


@pytest.mark.parametrize("status", ["", "CANCELLED", "PREPARING", "LOST"])
def test_other_steps_are_refused(browser, shop, status):
    assert move(browser, [factories.order(shop)], status).status_code == 400
    assert statuses() == ["PENDING"]


def test_only_steps_that_an_order_of_the_page_can_make_are_offered(browser, shop):
    def offered():
        return re.findall(
            r'<button class="button small" name="status" value="(\w+)">', text_of(browser.get(LIST))
        )

    factories.order(shop, status="READY")
    assert offered() == ["DELIVERED"]
    factories.order(shop)
    assert offered() == ["CONFIRMED", "READY", "DELIVERED"]
    Order.objects.update(status="CANCELLED")
    assert offered() == []


# --- Newer orders, and times ------------------------------------------------------------------------


def test_news_counts_what_came_after_the_newest_that_is_shown(browser, shop):
    first = factories.order(shop)

    def news(**query):
        return browser.get(f"{LIST}news/", query).json()["count"]

    assert news(after=first.pk) == 0
    factories.order(shop, status="READY")
    factories.order(factories.business(factories.merchant("rival@example.com")))
    assert news(after=first.pk) == 1
    assert news(after=first.pk, status="PENDING") == 0
    assert news() == news(after="x") == news(after=first.pk, status="LOST") == 0


def test_number_to_confirm_is_beside_orders(browser, shop):
    """The words that are read aloud are one phrase: without the comma it would be "Orders2 to confirm"."""

    def number():
        read = re.sub(r"<[^>]*>", "", text_of(browser.get("/merchant/reviews/")))
        return re.findall(r"Orders(.*?to confirm)?", read)[0]

    assert number() == ""
    for status in ("PENDING", "PENDING", "READY"):
        factories.order(shop, status=status)
    assert number() == ", 2 to confirm"


def test_times_are_in_the_zone_of_the_store_which_is_named_once(browser, shop):
    shop.timezone = "Asia/Kolkata"
    shop.save()
    with time_machine.travel("2026-11-20T19:00Z", tick=False):
        factories.order(shop)
        factories.order(shop, created_at=timezone.now() - timedelta(days=1))
        factories.order(shop, created_at=timezone.now() - timedelta(days=365))
        page = text_of(signed_in(shop.owner).get(LIST))
    for words in (
        ">Today</th>",
        ">Yesterday</th>",
        ">21 Nov 2025</th>",
        ">00:30</time>",
        "Placed (Asia/Kolkata)",
    ):
        assert words in page


# --- Many -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_ten_thousand_orders_take_few_statements(browser, shop):
    fields = {
        "subtotal": 500,
        "amount": 500,
        "currency": "USD",
        "delivery_method": "PICKUP",
        "payment_method": "CASH",
    }
    start = timezone.now()
    Order.objects.bulk_create(
        Order(
            business=shop,
            number=str(number),
            customer_name="Kim",
            created_at=start - timedelta(minutes=10 * number),
            **fields,
        )
        for number in range(10_000)
    )
    StoreTotals.objects.filter(business=shop).update(orders=10_000)
    for path in (
        "/merchant/",
        "/merchant/?days=90",
        LIST,
        *(f"{LIST}?view={view}" for view in ("open", "unpaid", "pickup", "late")),
    ):
        assert statements_of(browser, path) <= 20, path
    assert ">99+<" in text_of(browser.get(LIST))
