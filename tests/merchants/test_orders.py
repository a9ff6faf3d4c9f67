"""A merchant's orders: finding them, reading one, moving it along."""

import csv
import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from io import StringIO

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Business
from common.errors import Invalid
from common.times import iso
from merchants.orders import views as order_export
from stores.enums import ActorKind, OrderStatus
from stores.hookpoints import PaymentMethod, registered
from stores.models import Order, OrderChange
from stores.services.checkout import place_order
from stores.services.history import SYSTEM, Actor, staff
from stores.services.orders import change_order_status, record_refund
from stores.services.payments import choose_again, settle_payment
from tests import factories
from tests.clients import client_of
from tests.merchants.counting import statements_of
from tests.pages import text_of, words_of
from webhooks.models import Event

LIST = "/merchant/orders/"
ORDERS = "Contract 23 What an order tells"


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
    assert "2 orders" in page
    assert "$20.00" in page
    assert "Ann & Kim" in page
    assert "Pending" in page


@pytest.mark.long
def test_status_and_number_narrow_the_list(browser, shop):
    factories.order(shop, number="2001", status="READY")
    factories.order(shop, number="2010")
    factories.order(shop, number="3001")

    def found(query):
        page = text_of(browser.get(LIST + query))
        return [number for number in ("2001", "2010", "3001") if f">{number}<" in page]

    assert found("?status=READY") == ["2001"]
    assert found("?q=20") == ["2001", "2010"]
    assert "2 found" in text_of(browser.get(LIST + "?q=20"))
    assert found("?q=%232010") == ["2010"]
    assert found("?q=20&status=PENDING") == ["2010"]
    assert found("?q=77") == []
    assert found("?q=7") == []
    assert found("?q=3") == ["3001"]
    assert "No orders match these filters" in text_of(browser.get(LIST + "?q=77"))


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("ann", ["1"]), ("LEE ann", ["1"]), ("kim@harbour", ["2"]), ("0171 2345", ["2"]), ("01712345", ["2"]),
        ("+49 (171) 23", []), ("50%", ["3"]), ("lee_", []), ("3001", ["1", "2", "3"]), ("Ann Kim", []),
    ],
)  # fmt: skip
def test_search_looks_into_number_name_mail_and_phone(browser, shop, typed, found):
    factories.order(shop, number="30011", customer_name="Ann Lee", customer_email="")
    factories.order(
        shop,
        number="30012",
        customer_name="Kim",
        customer_email="Kim@harbour.example",
        customer_phone="(0171) 23-45",
    )
    factories.order(shop, number="30013", customer_name="50% Off Ltd", customer_email="off@example.com")
    theirs = factories.business(factories.merchant("rival@example.com"))
    factories.order(theirs, number="30014", customer_name="Ann Lee Kim 50% off")
    page = text_of(browser.get(LIST, {"q": typed}))
    assert [end for end in ("1", "2", "3", "4") if f">3001{end}<" in page] == found


def test_days_narrow_the_list_in_the_zone_of_the_store(browser, shop):
    shop.timezone = "Asia/Kolkata"
    shop.save()
    for number, hour in (("1", 18), ("2", 19)):  # midnight is at 18:30 UTC
        factories.order(shop, number=f"400{number}", created_at=datetime(2026, 7, 14, hour, tzinfo=UTC))

    def found(**query):
        page = text_of(browser.get(LIST, query))
        return [number for number in ("4001", "4002") if f">{number}<" in page]

    assert found(since="2026-07-15") == found(since="2026-07-15", until="2026-07-15") == ["4002"]
    assert found(until="2026-07-14") == ["4001"]
    assert found(since="2026-07-14", until="2026-07-15") == ["4001", "4002"]


# --- CSV --------------------------------------------------------------------------------------------

EXPORT = f"{LIST}export.csv"


def exported(browser, **query):
    response = browser.get(EXPORT, query)
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    text = b"".join(response.streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(StringIO(text)))


@pytest.mark.spec("Contract 15 Doors", "a well-formed date of any year works")
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Honolulu"])
def test_days_of_any_year_narrow_the_list(browser, shop, zone):
    Business.objects.filter(pk=shop.pk).update(timezone=zone)
    factories.order(shop, number="4001")
    for since, until, is_found in (
        ("0001-01-01", "9999-12-31", True), ("0002-11-25", "", True), ("9999-12-31", "", False), ("", "0001-01-01", False),
    ):  # fmt: skip
        for path in (LIST, EXPORT):
            response = browser.get(path, {"since": since, "until": until})
            text = b"".join(response).decode() if response.streaming else text_of(response)
            assert (response.status_code, "4001" in text) == (200, is_found)


def test_export_has_the_orders_of_the_filters_newest_first(browser, shop, monkeypatch):
    monkeypatch.setattr(order_export, "BATCH", 2)
    shop.timezone = "Europe/Lisbon"
    shop.save()
    for number in range(5):
        order = factories.order(
            shop, number=f"500{number}", subtotal=1250, discount=250, amount=1000, status="READY",
            created_at=datetime(2026, 7, 14, 23, 30, tzinfo=UTC),
        )  # fmt: skip
        order.items.create(product_id=order.pk, name="Rye, dark", quantity=2, price=625)
    factories.order(shop, number="6000", payment_method="pay:wallet", payment_method_name="Harbour Wallet")
    factories.order(
        factories.business(factories.merchant("rival@example.com")), number="5009", status="READY"
    )
    rows = exported(browser, status="READY", page="2")
    assert [row["Order"] for row in rows] == ["5004", "5003", "5002", "5001", "5000"]
    assert {name: rows[0][name] for name in ("Placed", "Status", "Items", "Subtotal", "Discount", "Total")} == {
        "Placed": "2026-07-15 00:30:00+01:00", "Status": "Ready", "Items": "2 × Rye, dark",
        "Subtotal": "12.50", "Discount": "2.50", "Total": "10.00",
    }  # fmt: skip
    assert exported(browser, q="6000")[0]["Payment method"] == "Harbour Wallet"
    assert f"{EXPORT}?status=READY" in text_of(browser.get(LIST + "?status=READY"))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", " =", "\n="])
def test_export_has_no_formulas(browser, shop, start):
    typed = f'{start}HYPERLINK("http://evil.example","x")'
    factories.order(shop, customer_name=typed, note=typed, address=typed)
    (row,) = exported(browser)
    assert [row["Customer"], row["Note"], row["Address"]] == [f"'{typed}"] * 3


def test_export_quotes_every_cell(browser, shop):
    factories.order(shop)
    header, line = browser.get(EXPORT).getvalue().decode("utf-8-sig").splitlines()
    assert header.count('"') == line.count('"') == 2 * len(order_export.COLUMNS)


def test_export_of_a_bad_filter_shows_the_list_with_the_error(browser, shop):
    response = browser.get(EXPORT, {"since": "2026-07-15", "until": "2026-07-14"})
    assert response.status_code == 422
    assert "Choose a day that isn" in text_of(response)


def test_export_takes_the_same_statements_however_many_orders_are_in_a_batch(browser, shop):
    def statements_with_more(orders):
        for _ in range(orders):
            factories.order(shop)
        with CaptureQueriesContext(connection) as captured:
            exported(browser)
        return len(captured)

    assert statements_with_more(1) == statements_with_more(3)


# --- The list's faults ------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["?since=x", "?status=LOST", "?q=" + 101 * "1"])
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


def test_history_says_who_did_what(browser, shop):
    bread = factories.product(shop)
    order = place_order(business=shop, request=factories.order_request((bread, 1)))
    app = Actor(ActorKind.APP, order.pk, "Order Bell")
    change_order_status(order=order, status="CONFIRMED", by=app)
    move(browser, order, "READY")
    change_order_status(order=order, status="DELIVERED", by=staff(factories.reviewer()))
    page = page_of(browser, order).split('id="history"')[1]
    lines = re.findall(r'<p class="title">(.*?)</p>\s*<div class="about">(.*?)</div>', page)
    assert lines == [
        ("Delivered", "By the platform's staff"), ("Ready", "By you"),
        ("Confirmed", "By the app Order Bell"), ("Order placed", "By the customer"),
    ]  # fmt: skip
    OrderChange.objects.filter(actor=ActorKind.MERCHANT).update(actor_id=order.pk, actor_name="Ann")
    assert "By Ann" in page_of(browser, order)


def test_history_of_an_order_from_before_begins_with_what_is_known(browser, shop):
    page = page_of(browser, factories.order(shop)).split('id="history"')[1]
    assert page.count("Order placed") == 1


def test_payment_is_in_the_history_with_its_method_in_the_apps_words(browser, shop):
    method = PaymentMethod("pay:wallet", "Harbour Wallet", "7")
    bread = factories.product(shop)
    request = factories.order_request((bread, 1), payment_method=method.id)
    with registered("checkout.create_payment", lambda request: None):
        order = place_order(business=shop, request=request, offered=[method])
        order = choose_again(order=order, payment_method=method.id, offered=[method])
    order.payment.status = "PENDING"
    order.payment.save()
    settle_payment(order=order, provider="7", status="COMPLETED", by=Actor(ActorKind.APP, None, "Bell Pay"))
    page = page_of(browser, order)
    titles = re.findall(r'<p class="title">(.*?)</p>', page.split('id="history"')[1])
    assert titles == [
        "Paid",
        "Payment failed",
        "Payment method changed to Harbour Wallet",
        "Payment failed",
        "Order placed",
    ]
    assert "By the app Bell Pay" in page
    assert "Harbour Wallet" in page
    assert "pay:wallet" not in page


def test_page_says_how_the_total_came_about(browser, shop):
    bread = factories.product(shop, price=1000)
    order = place_order(business=shop, request=factories.order_request((bread, 1)))
    assert "How the total was calculated" not in page_of(browser, order)
    given = {"provider": "1", "at": order.created_at}
    for point, app, outcome, fields in (
        (
            "order.validate",
            "Checker",
            "FAILED",
            {"instead": "The order was accepted without this app's check."},
        ),
        ("order.calculate_discounts", "Stars", "ANSWERED", {"amount": 150, "reason": "Ten <stars>"}),
        ("checkout.shipping_rates", "Slow Bikes", "SKIPPED", {"instead": "The store's own fee was kept."}),
        (
            "checkout.shipping_rates",
            "Vans",
            "ANSWERED",
            {"amount": 400, "instead": "The next app's fee was used."},
        ),
        ("checkout.shipping_rates", "Bikes", "ANSWERED", {"amount": 350}),
    ):
        order.hook_parts.create(point=point, app_name=app, outcome=outcome, **given, **fields)
    page = page_of(browser, order)
    for words in (
        "</strong> failed when asked to check the order", "The order was accepted without this app's check.",
        "</strong> gave a discount", "−$1.50", "wasn't asked for the delivery fee", "The store's own fee was kept.",
        '<span class="amount replaced">$4.00', '<span class="amount">$3.50',
    ):  # fmt: skip
        assert words in page
    assert "Ten &lt;stars&gt;" in text_of(browser.get(f"{LIST}{order.pk}/"))


def test_page_links_to_the_customers_other_orders(browser, shop):
    order = factories.order(shop, customer_email="kim@example.com")
    assert "2 orders" not in page_of(browser, order)
    factories.order(shop, customer_email="KIM@example.com")
    factories.order(shop, customer_email="other-kim@example.com")
    page = page_of(browser, order)
    assert f'href="/merchant/customers/{order.pk}/">Kim</a>' in page
    assert "2 orders" in page


def test_packing_slip_has_items_without_prices(browser, shop):
    order = factories.order(
        shop,
        delivery_method="DELIVERY",
        address="5 Orchard Close\nPortside",
        note="Ring twice.",
        amount=1000,
        subtotal=1000,
    )
    order.items.create(product_id=order.pk, name="Rye", quantity=2, price=500)
    page = page_of(browser, order, "packing-slip/")
    for words in (shop.name, "5 Orchard Close<br>Portside", "Rye", "Ring twice.", "data-print"):
        assert words in page
    assert "USD" not in page
    theirs = factories.order(factories.business(factories.merchant("rival@example.com")))
    assert browser.get(f"{LIST}{theirs.pk}/packing-slip/").status_code == 404


def test_order_shows_lines_sums_and_the_customer(browser, shop):
    order = factories.order(
        shop, subtotal=2500, discount=500, discount_reason="Ten <stars>", delivery_fee=350, amount=2350,
        delivery_method="DELIVERY", address="5 Orchard Close\nPortside", customer_phone="+1 555 0101",
        note="Ring twice.",
    )  # fmt: skip
    order.items.create(product_id=order.pk, name="Rye", quantity=2, price=1250)
    page = page_of(browser, order)
    for words in (
        "Rye", "2 × $12.50", "$25.00", "−$5.00",
        "$3.50", "$23.50", "5 Orchard Close<br>Portside",
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
        ("PENDING", "Unpaid</span> Waiting for payment"),
        ("COMPLETED", "Paid</span></p>"),
        ("FAILED", "Unpaid</span> Payment failed"),
        ("EXPIRED", "Unpaid</span> Payment expired"),
    ):
        payment.status = status
        payment.save()
        page = page_of(browser, order)
        assert f"</svg>{words}" in page
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
    ("CONFIRMED", "Mark as delivered", ["PREPARING", "READY", "IN_DELIVERY"]),
    ("PREPARING", "Mark as delivered", ["READY", "IN_DELIVERY"]),
    ("READY", "Mark as delivered", ["IN_DELIVERY"]),
    ("IN_DELIVERY", "Mark as delivered", []),
]


@pytest.mark.spec("Contract 4 Order status", "The merchant's page offers the moves that are allowed")
@pytest.mark.parametrize(("status", "verb", "others"), FORWARD)
def test_page_offers_confirming_then_delivered_first_and_the_stages_between(
    browser, shop, status, verb, others
):
    order = factories.order(shop, status=status, delivery_method="DELIVERY")
    page = page_of(browser, order)
    main, between = page.split('<ol class="stages">')
    assert f">{verb}</button>" in main
    assert page.count("button primary") == 1
    assert [each for each in OrderStatus.values if f'value="{each}"' in between] == others
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


@pytest.mark.spec(
    "Contract 15 Doors",
    "Moving on an order that an app hasn't been paid for asks each time, and names the act",
)
@pytest.mark.parametrize("payment", ["PENDING", "FAILED", "EXPIRED"])
def test_unpaid_order_is_moved_on_after_a_question_each_time(browser, shop, payment):
    order = factories.order(shop, payment_method="pay:wallet")
    factories.payment(order, status=payment)
    for target, before, act in (
        ("CONFIRMED", "PENDING", "Confirm"),
        ("DELIVERED", "CONFIRMED", "Mark as delivered"),
    ):
        asked = move(browser, order, target)
        assert f"Not paid yet. {act} anyway?</h1>" in asked
        assert f'<button class="button primary" name="anyway" value="1">{act} anyway</button>' in asked
        assert status_of(order) == before
        form = dict(re.findall(r'<input type="hidden" name="(status)" value="(\w+)">', asked))
        browser.post(f"{LIST}{order.pk}/status/", form | {"anyway": "1"})
        assert status_of(order) == target


@pytest.mark.parametrize("payment", ["COMPLETED", None])
def test_order_that_is_paid_or_collected_is_moved_on_at_once(browser, shop, payment):
    order = factories.order(shop)
    if payment:
        factories.payment(order, status=payment)
    assert "is confirmed." in move(browser, order, "CONFIRMED")


def test_unpaid_order_that_can_not_be_moved_is_not_asked_about(browser, shop):
    order = factories.order(shop, status="READY")
    factories.payment(order)
    assert "is already ready" in move(browser, order, "CONFIRMED")


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
    assert "Items with tracked stock are back in stock." in page_of(browser, order)


@pytest.mark.parametrize("tells", [True, False])
def test_cancelling_tells_the_buyer_unless_the_merchant_says_no(
    browser, shop, tells, mailoutbox, django_capture_on_commit_callbacks, tasks_run_at_once
):
    order = factories.order(shop, page_key_digest="x" * 64)
    asked = page_of(browser, order, "cancel/")
    assert '<input type="checkbox" id="tell_buyer" name="tell_buyer" value="1" checked>' in asked
    with django_capture_on_commit_callbacks(execute=True):
        browser.post(f"{LIST}{order.pk}/cancel/", {"tell_buyer": "1"} if tells else {})
    assert status_of(order) == "CANCELLED"
    mailed = [(mail.to, mail.subject) for mail in mailoutbox]
    assert mailed == [(["kim@example.com"], f"Order {order.number} was cancelled – {shop.name}")] * tells


def test_cancelling_an_order_without_mails_offers_none(browser, shop):
    asked = page_of(browser, factories.order(shop), "cancel/")
    assert "We don’t send the customer mails about this order. Tell them at kim@example.com." in asked
    assert "tell_buyer" not in asked
    order = factories.order(shop, customer_email="", customer_phone="+49 30 1234567")
    words = words_of(browser.get(f"{LIST}{order.pk}/cancel/"))
    assert "The customer gave no e-mail address, so we can’t notify them. Call +49 30 1234567." in words


def test_stock_that_is_not_tracked_is_not_said_to_be_given_back(browser, shop):
    order = place_order(
        business=shop, request=factories.order_request((factories.product(shop, stock=None), 2))
    )
    assert "back in stock" not in page_of(browser, order, "cancel/")
    browser.post(f"{LIST}{order.pk}/cancel/")
    page = page_of(browser, order)
    assert "This order is cancelled." in page
    assert "back in stock" not in page


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
    assert "Cancelling doesn’t refund the payment. Refund $20.00 in Payment app" in page_of(
        browser, order, "cancel/"
    )
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


# --- Refunds and notes ------------------------------------------------------------------------------


def refund(browser, order, **fields):
    form = {"known": "0", "amount": "5.00", "reason": "One loaf <b>was</b> missing"} | fields
    return browser.post(f"{LIST}{order.pk}/refund/", form, follow=True)


def refunds_of(order):
    return list(OrderChange.objects.filter(order=order, kind="REFUND").values_list("amount", flat=True))


@pytest.mark.spec(
    ORDERS, "order.refunded when the merchant records one; the Order record has refunded; updatedAt moves"
)
def test_refund_is_recorded_with_amount_and_reason_and_apps_learn_of_it(browser, shop, dana):
    reader = factories.installation(factories.approve(factories.app(dana)).app, shop)
    order = factories.order(shop)
    factories.payment(order, status="COMPLETED")
    assert "$20.00 paid" in page_of(browser, order, "refund/")
    page = text_of(refund(browser, order))
    assert "Refunded $5.00" in page
    assert "One loaf &lt;b&gt;was&lt;/b&gt; missing" in page
    assert "Refunded $5.00" in text_of(browser.get(LIST))
    event = Event.objects.get()
    record = client_of(reader).get(f"/app-api/orders/{order.pk}").json()
    assert (event.type, json.loads(event.data)) == (
        "order.refunded",
        {
            "orderId": str(order.pk), "orderNumber": order.number, "amount": 5.0, "refunded": 5.0, "currency": "USD",
            "reason": "One loaf <b>was</b> missing", "refundedAt": record["updatedAt"],
        },
    )  # fmt: skip
    assert record["refunded"] == 5.0
    assert record["updatedAt"] > iso(order.updated_at)


@pytest.mark.long
@pytest.mark.spec(ORDERS, "The reason is a text of at most 500")
def test_reason_of_a_refund_has_at_most_500_characters(browser, shop):
    order = factories.order(shop, status="DELIVERED")
    assert refund(browser, order, reason="x" * 501).status_code == 422
    assert refund(browser, order, reason="x" * 500).status_code == 200
    with pytest.raises(Invalid):
        record_refund(order=order, amount=1, reason="x" * 501, known=500, by=SYSTEM)


def test_refund_pressed_twice_is_recorded_once(browser, shop):
    order = factories.order(shop, status="DELIVERED")  # in cash
    refund(browser, order)
    again = refund(browser, order)
    assert (again.status_code, refunds_of(order)) == (409, [500])
    assert "A refund was recorded meanwhile." in text_of(again)


@pytest.mark.parametrize("amount", ["20.01", "0", "-1", "x", "5.001", ""])
def test_more_than_was_paid_and_nonsense_is_not_refunded(browser, shop, amount):
    order = factories.order(shop, status="DELIVERED")
    assert refund(browser, order, amount=amount).status_code == 422
    assert refunds_of(order) == []


def test_second_refund_is_at_most_what_is_left(browser, shop):
    order = factories.order(shop, status="DELIVERED")
    refund(browser, order, amount="5.00")
    assert refund(browser, order, known=500, amount="15.01").status_code == 422
    assert refund(browser, order, known=500, amount="15.00").status_code == 200
    assert refunds_of(order) == [500, 1500]


@pytest.mark.long
def test_what_was_not_paid_or_is_refunded_has_no_refund(browser, shop):
    unpaid = factories.order(shop)
    factories.payment(unpaid, status="EXPIRED")
    whole = factories.order(shop, status="DELIVERED")
    refund(browser, whole, amount="20.00")
    for order in (unpaid, whole):
        assert "Record a refund" not in page_of(browser, order)
        refund(browser, order, known=order.refunded)
    assert (refunds_of(unpaid), refunds_of(whole)) == ([], [2000])


def test_paid_order_that_is_cancelled_asks_for_the_refund_until_it_is_recorded(browser, shop):
    order = factories.order(shop, status="CANCELLED")
    factories.payment(order, status="COMPLETED")
    assert "Cancelling didn’t refund the payment. Refund $20.00 in" in page_of(browser, order)
    refund(browser, order, amount="20.00")
    assert "Cancelling didn’t" not in page_of(browser, order)


def note(browser, order, text):
    return browser.post(f"{LIST}{order.pk}/note/", {"text": text}, follow=True)


def test_note_for_the_staff_is_in_the_history_of_the_merchants_page(browser, shop):
    order = factories.order(shop)
    page = text_of(note(browser, order, "Ask <b>Ann</b> for the key"))
    assert "Ask &lt;b&gt;Ann&lt;/b&gt; for the key" in page
    assert "By you" in page
    assert note(browser, order, " ").status_code == 422
    assert OrderChange.objects.filter(order=order).count() == 1
