"""A merchant's orders: finding them, reading one, moving it along."""

from datetime import timedelta
from html import unescape

import pytest
from django.utils import timezone

from stores.enums import OrderStatus
from stores.models import Order
from stores.services.checkout import place_order
from tests import factories
from tests.merchants.counting import statements_of
from tests.merchants.pages import signed_in, text_of

LIST = "/merchant/orders/"


@pytest.fixture
def browser(mira):
    return signed_in(mira)


def page_of(browser, order, ending="", **options):
    return unescape(text_of(browser.get(f"{LIST}{order.pk}/{ending}", **options)))


def move(browser, order, status):
    return unescape(text_of(browser.post(f"{LIST}{order.pk}/status/", {"status": status}, follow=True)))


def status_of(order):
    return Order.objects.get(pk=order.pk).status


# --- The list ---------------------------------------------------------------------------------------


def test_orders_come_newest_first_with_sum_and_status(browser, shop):
    for number in ("2001", "2002"):
        factories.order(shop, number=number, customer_name="Ann & Kim")
    page = unescape(text_of(browser.get(LIST)))
    assert page.index("2002") < page.index("2001")
    assert "2 orders, newest first" in page
    assert "20.00 USD" in page
    assert "Ann & Kim" in page
    assert "Pending" in page


def test_status_and_number_narrow_the_list(browser, shop):
    factories.order(shop, number="2001", status="READY")
    factories.order(shop, number="2010")
    factories.order(shop, number="3001")

    def found(query):
        page = text_of(browser.get(LIST + query))
        return [number for number in ("2001", "2010", "3001") if f">{number}<" in page]

    assert found("?status=READY") == ["2001"]
    assert found("?q=20") == ["2001", "2010"]
    assert "2 found, newest first" in text_of(browser.get(LIST + "?q=20"))
    assert found("?q=%232010") == ["2010"]
    assert found("?q=20&status=PENDING") == ["2010"]
    assert found("?q=77") == []
    assert "No orders match these filters" in text_of(browser.get(LIST + "?q=77"))


@pytest.mark.parametrize("query", ["?status=LOST", "?q=a%00b", "?q=" + 101 * "1"])
def test_filter_that_can_not_be_is_told_at_its_field(browser, shop, query):
    response = browser.get(LIST + query)
    assert response.status_code == 422
    assert "There is a problem" in text_of(response)


@pytest.mark.parametrize(("orders", "on_second"), [(25, False), (26, True)])
def test_orders_come_in_pages_that_keep_the_filters(browser, shop, orders, on_second):
    for number in range(orders):
        factories.order(shop, number=str(5000 + number))
    first = text_of(browser.get(LIST + "?status=PENDING"))
    assert ("status=PENDING&amp;page=2" in first) is on_second
    assert (">5000<" in text_of(browser.get(LIST + "?page=2"))) is on_second
    assert browser.get(LIST + "?page=x").status_code == 400


def test_list_takes_the_same_statements_however_many_orders(browser, shop):
    bread = factories.product(shop)

    def statements_with_more(orders):
        for _ in range(orders):
            factories.payment(place_order(business=shop, request=factories.order_request((bread, 2))))
        return statements_of(browser, LIST)

    assert statements_with_more(1) == statements_with_more(3)


# --- One order --------------------------------------------------------------------------------------


def test_order_shows_lines_sums_and_the_customer(browser, shop):
    order = factories.order(
        shop, subtotal=2500, discount=500, discount_reason="Ten <stars>", delivery_fee=350, amount=2350,
        delivery_method="DELIVERY", address="5 Orchard Close\nPortside", customer_phone="+1 555 0101",
        note="Ring twice.",
    )  # fmt: skip
    order.items.create(product_id=order.pk, name="Rye", quantity=2, price=1250)
    page = page_of(browser, order)
    for words in (
        "Rye", "12.50 USD each", "25.00 USD", "−5.00 USD",
        "3.50 USD", "23.50 USD", "5 Orchard Close<br>Portside",
        "+1 555 0101", "kim@example.com", "Ring twice.", "Cash. You collect",
    ):  # fmt: skip
        assert words in page
    assert "Ten &lt;stars&gt;" in text_of(browser.get(f"{LIST}{order.pk}/"))


def test_line_leads_to_its_product_as_long_as_there_is_one(browser, shop):
    bread, rye = factories.product(shop, name="Bread"), factories.product(shop, name="Rye")
    order = place_order(business=shop, request=factories.order_request((bread, 1), (rye, 1)))
    rye.delete()
    page = page_of(browser, order)
    assert f'href="/merchant/products/{bread.pk}/"' in page
    assert str(rye.pk) not in page
    assert "Rye" in page


def test_payment_of_an_app_is_shown_with_its_state(browser, shop):
    order = factories.order(shop, payment_method="pay:wallet")
    payment = factories.payment(
        order, invoice_id="INV-7", reference="R-8", expires_at=timezone.now() + timedelta(minutes=5)
    )
    for status, words in (
        ("PENDING", "Waiting for payment"),
        ("COMPLETED", "Paid"),
        ("FAILED", "Payment failed"),
        ("EXPIRED", "Payment expired"),
    ):
        payment.status = status
        payment.save()
        page = page_of(browser, order)
        assert f"</svg>{words}</span>" in page
        assert "INV-7" in page
        assert "R-8" in page
        assert ("Payment due" in page) is (status == "PENDING")


@pytest.mark.spec("Contract 6 Hooks", "An order that was not validated is marked so for the merchant")
def test_order_that_was_not_validated_is_marked(browser, shop):
    order = factories.order(shop, validation="NOT_VALIDATED")
    assert "Not checked" in page_of(browser, order)
    assert "Not checked" in text_of(browser.get(LIST))
    fine = factories.order(shop)
    assert "Not checked" not in page_of(browser, fine)


def test_order_of_a_customer_who_writes_markup_shows_it_as_text(browser, shop):
    order = factories.order(shop, customer_name="<script>x()</script>", note="<b>bold</b>")
    for path in (LIST, f"{LIST}{order.pk}/", f"{LIST}{order.pk}/cancel/"):
        page = browser.get(path).content.decode()
        assert "<script>x()" not in page
        assert "<b>bold" not in page


# --- Moving it along --------------------------------------------------------------------------------

FORWARD = [
    ("PENDING", "Confirm order", ["PREPARING", "READY", "IN_DELIVERY", "DELIVERED"]),
    ("CONFIRMED", "Start preparing", ["READY", "IN_DELIVERY", "DELIVERED"]),
    ("PREPARING", "Mark as ready", ["IN_DELIVERY", "DELIVERED"]),
    ("READY", "Send out for delivery", ["DELIVERED"]),
    ("IN_DELIVERY", "Mark as delivered", []),
]


@pytest.mark.spec("Contract 4 Order status", "The merchant's page offers the moves that are allowed")
@pytest.mark.parametrize(("status", "verb", "skips"), FORWARD)
def test_page_offers_the_next_stage_first_and_the_others_to_skip_to(browser, shop, status, verb, skips):
    order = factories.order(shop, status=status, delivery_method="DELIVERY")
    page = page_of(browser, order)
    main, others = page.split('<ol class="stages">')
    assert f">{verb}</button>" in main
    assert page.count("button primary") == 1
    assert [each for each in OrderStatus.values if f'value="{each}"' in others] == skips
    assert f"{LIST}{order.pk}/cancel/" in page


@pytest.mark.parametrize("status", ["DELIVERED", "CANCELLED"])
def test_order_at_its_end_offers_no_move(browser, shop, status):
    order = factories.order(shop, status=status)
    page = page_of(browser, order)
    assert 'name="status"' not in page
    assert "Cancel order" not in page


def test_order_that_is_picked_up_is_not_sent_out(browser, shop):
    order = factories.order(shop, status="READY", delivery_method="PICKUP")
    page = page_of(browser, order)
    assert "Mark as delivered" in page
    assert "IN_DELIVERY" not in page
    order.status = "IN_DELIVERY"  # which an app may have chosen
    order.save()
    assert "In delivery" in page_of(browser, order)


@pytest.mark.spec("Contract 4 Order status", "Forward moves are allowed, stages may be skipped")
@pytest.mark.parametrize("target", ["CONFIRMED", "READY", "DELIVERED"])
def test_order_is_moved_forward(browser, shop, target):
    order = factories.order(shop)
    assert f"is {OrderStatus(target).label.lower()}." in move(browser, order, target)
    assert status_of(order) == target


def test_move_that_has_become_impossible_changes_nothing_and_says_so(browser, shop):
    order = factories.order(shop, status="READY")
    assert f"Order {order.number} is already ready, so it was not changed." in move(
        browser, order, "CONFIRMED"
    )
    assert status_of(order) == "READY"


def test_move_pressed_twice_is_made_once(browser, shop, ear):
    order = factories.order(shop)
    for _ in range(2):
        assert "is confirmed." in move(browser, order, "CONFIRMED")
    assert ear.names == ["order_status_changed"]


@pytest.mark.parametrize("target", ["", "LOST", "CANCELLED", "confirmed"])
def test_move_to_nowhere_is_refused(browser, shop, target):
    order = factories.order(shop)
    response = browser.post(f"{LIST}{order.pk}/status/", {"status": target})
    assert response.status_code == 400
    assert status_of(order) == "PENDING"


# --- Cancelling -------------------------------------------------------------------------------------


@pytest.mark.spec("Contract 9 Orders", "Cancelling gives the stock back")
def test_cancelling_asks_first_and_gives_the_stock_back(browser, shop):
    bread = factories.product(shop, stock=5)
    order = place_order(business=shop, request=factories.order_request((bread, 2)))
    asked = page_of(browser, order, "cancel/")
    assert "go back in stock" in asked
    assert "kim@example.com" in asked
    assert status_of(order) == "PENDING"
    response = browser.post(f"{LIST}{order.pk}/cancel/", follow=True)
    assert response.redirect_chain == [(f"{LIST}{order.pk}/", 302)]
    assert f"Order {order.number} is cancelled." in text_of(response)
    bread.refresh_from_db()
    assert (status_of(order), bread.stock) == ("CANCELLED", 5)


def test_cancelling_twice_gives_the_stock_back_once(browser, shop):
    bread = factories.product(shop, stock=5)
    order = place_order(business=shop, request=factories.order_request((bread, 2)))
    for _ in range(2):
        browser.post(f"{LIST}{order.pk}/cancel/")
    bread.refresh_from_db()
    assert bread.stock == 5


def test_cancelling_a_paid_order_says_that_the_money_stays(browser, shop):
    order = factories.order(shop, payment_method="pay:wallet")
    payment = factories.payment(order, status="COMPLETED")
    assert "It is already paid." in page_of(browser, order, "cancel/")
    payment.status = "PENDING"
    payment.save()
    assert "Its payment is pending." in page_of(browser, order, "cancel/")


@pytest.mark.parametrize("status", ["DELIVERED", "CANCELLED"])
def test_order_at_its_end_is_not_cancelled(browser, shop, status):
    order = factories.order(shop, status=status)
    response = browser.get(f"{LIST}{order.pk}/cancel/", follow=True)
    assert f"is {status.lower()} and can't be cancelled" in unescape(text_of(response))
    browser.post(f"{LIST}{order.pk}/cancel/")
    assert status_of(order) == status
