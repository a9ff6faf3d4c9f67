"""Checking out: from the page to the order, and the messages when it is refused."""

import re
import threading
import time

import pytest
import time_machine
from django.db import connections, transaction

from stores import hookpoints
from stores.hookpoints import (
    ASKED_PER_MINUTE,
    Discount,
    OrderVerdict,
    PaymentDetails,
    PaymentMethod,
    ShippingRate,
    registered,
)
from stores.models import Order, Product
from stores.services.settings import set_delivery_fee
from tests import factories
from tests.storefront.shopping import Shopper, hidden, text
from tests.strangers import places_taken

WALLET = PaymentMethod(
    "pay:wallet", "Harbour Wallet", "pay", "Pay by phone.", "https://pay.example.com/i.png"
)


@pytest.fixture
def bread(shop):
    return factories.product(shop, name="Bread", slug="bread", price=500, stock=10)


@pytest.fixture
def shopper(shop, bread):
    """With two loaves in the cart."""
    made = Shopper(shop)
    made.take(bread, 2)
    return made


def answering(answer):
    questions = []

    def handler(question):
        with transaction.atomic(
            durable=True
        ):  # raises inside a transaction, except for that of the test itself
            questions.append(question)
        return answer

    handler.questions = questions
    return handler


# --- Placing ----------------------------------------------------------------------------------------


@pytest.mark.spec("Contract 4 Placing an order", "The storefront places orders by the path of the app API")
def test_order_is_placed_and_confirmed(shop, shopper, bread, ear):
    response = shopper.place(note="Sliced, please.", customer_phone="+1 555 0100")
    order = Order.objects.get()
    page = text(shopper.get(response["Location"]))
    assert "Thank you for your order" in page
    for words in (order.number, "Bread", "$10.00", "in cash", "Sliced, please.", "Kim"):
        assert words in page
    assert (order.customer_phone, order.is_guest, order.amount) == ("+1 555 0100", True, 1000)
    assert order.address == ""
    bread.refresh_from_db()
    assert bread.stock == 8
    assert ear.names == ["order_created"]
    assert "Your cart is empty" in shopper.see("cart/")


def test_delivery_carries_the_address_with_its_town(shop, shopper):
    set_delivery_fee(business=shop, fee=450)
    rate = answering(ShippingRate(700))
    with registered("checkout.shipping_rates", rate):
        shopper.place(delivery_method="DELIVERY", address="1 Quay Street", locality="Portside")
    order = Order.objects.get()
    assert order.address == "1 Quay Street\nPortside"
    assert rate.questions[0].data["locality"] == "Portside"
    assert (order.delivery_fee, order.amount) == (700, 1700)


def test_pickup_leaves_a_typed_address_alone(shopper):
    shopper.place(address="1 Quay Street", locality="Portside")
    assert Order.objects.get().address == ""


def test_summary_says_what_is_known_before(shop, shopper):
    set_delivery_fee(business=shop, fee=450)
    page = shopper.see("checkout/")
    for amount in ("10.00", "4.50", "14.50"):
        assert f"${amount}" in page


@pytest.mark.spec("Contract 6 Hooks", "A discount's reason is shown to the customer")
def test_discount_is_shown_with_its_reason(shopper):
    with registered("order.calculate_discounts", answering(Discount(150, "Rainy <day>"))):
        response = shopper.place()
    page = shopper.get(response["Location"]).content.decode()
    assert "Rainy &lt;day&gt;" in page
    assert "−$1.50" in page
    assert "8.50" in page


@pytest.mark.spec("Contract 4 Placing an order", "The whole price can be seen before the order is placed")
def test_total_is_worked_out_before_anything_is_ordered(shopper):
    verdict = answering(OrderVerdict())
    with (
        registered("order.validate", verdict),
        registered("order.calculate_discounts", answering(Discount(150, "Rainy day"))),
        registered("checkout.shipping_rates", answering(ShippingRate(725))),
    ):
        page = shopper.checkout_page()
        typed = {
            "delivery_method": "DELIVERY",
            "locality": "Portside",
            "customer_name": "",
            "note": "Kept words",
        }
        response = shopper.place(page, total="1", **typed)
    assert response.status_code == 200
    shown = text(response)
    for words in (
        "Rainy day",
        "−$1.50",
        "$7.25",
        "$15.75",
        "Kept words",
        "Portside",
    ):
        assert words in shown
    assert "There is a problem" not in shown
    assert not Order.objects.exists()
    assert verdict.questions == []
    assert shopper.place(page).status_code == 302  # the same page still stands for its one order


def test_total_of_what_can_not_be_had_leads_to_the_cart(shopper):
    page = shopper.checkout_page()
    Product.objects.update(stock=0)
    assert shopper.place(page, total="1")["Location"] == shopper.at("cart/")


@pytest.mark.parametrize(
    "typed", [{"delivery_method": "DRONE"}, {"delivery_method": ""}, {"payment_method": "x"}]
)
def test_total_of_a_strange_choice_is_that_of_a_pickup(shopper, typed):
    response = shopper.place(total="1", **typed)
    assert response.status_code == 200
    assert "Free" in text(response)


def test_price_is_the_one_in_the_database(shop, shopper, bread):
    page = shopper.checkout_page()
    shopper.place(page | {"seen": "1", "price": "1", "subtotal": "1"})
    assert not Order.objects.exists()
    shopper.place()
    assert Order.objects.get().subtotal == 1000


def test_changed_price_is_said_before_anything_is_ordered(shopper, bread):
    page = shopper.checkout_page()
    Product.objects.update(price=600)
    response = shopper.place(page, note="Kept words")
    assert response.status_code == 409
    assert "have changed since you opened this page" in text(response)
    assert "Kept words" in text(response)
    assert "$12.00" in text(response)
    assert not Order.objects.exists()
    shopper.place(page | {"seen": "1200"})
    assert Order.objects.get().amount == 1200


@pytest.mark.long
@pytest.mark.spec("Contract 4 Placing an order", "No order is placed at another price than the page showed")
def test_price_that_changes_while_apps_are_asked_is_said_first(shopper, bread):
    def raise_the_price(question):
        Product.objects.update(price=600)
        return OrderVerdict()

    with registered("order.validate", raise_the_price):
        response = shopper.place(note="Kept words")
    assert response.status_code == 409
    for words in ("have changed since you opened this page", "Kept words", "$12.00"):
        assert words in text(response)
    assert not Order.objects.exists()
    bread.refresh_from_db()
    assert bread.stock == 10
    shopper.place(hidden(response))
    assert Order.objects.get().amount == 1200


def test_empty_cart_leads_back_to_itself(shop):
    shopper = Shopper(shop)
    assert shopper.get(shopper.at("checkout/"))["Location"] == shopper.at("cart/")
    assert shopper.place({})["Location"] == shopper.at("cart/")
    assert not Order.objects.exists()


# --- What is wrong, and what is refused -------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"customer_name": ""}, "Enter your name."),
        ({"customer_email": ""}, "Enter an e-mail address or a phone number."),
        ({"customer_email": "kim"}, "Enter an e-mail address such as"),
        ({"delivery_method": ""}, "Choose delivery or pickup."),
        ({"delivery_method": "DELIVERY"}, "Enter the address to deliver to."),
        ({"delivery_method": "DRONE"}, "Select a valid choice"),
        ({"payment_method": ""}, "Choose how to pay."),
        ({"payment_method": "pay:nothing"}, "Choose one of these payment methods."),
        ({"customer_name": "x" * 121}, "at most 120 characters"),
        ({"customer_name": "a\0b"}, "Null characters"),
        ({"note": "x" * 2001}, "at most 2000 characters"),
        ({"delivery_method": "DELIVERY", "address": "x" * 1001}, "at most 1000 characters"),
        (
            {"delivery_method": "DELIVERY", "address": "x" * 990, "locality": "y" * 20},
            "at most 1000 characters",
        ),
    ],
)
def test_wrong_checkout_says_so_and_keeps_what_was_typed(shopper, fields, message):
    response = shopper.place(
        **{"customer_phone": "+1 555 0199", **fields} if "customer_email" not in fields else fields
    )
    assert response.status_code == 422
    page = text(response)
    assert message in page
    assert "There is a problem" in page
    assert "<title>Error: Checkout" in page
    assert "Kim" in page or "customer_name" in fields
    assert not Order.objects.exists()


@pytest.mark.spec("Hook calls", "order.validate's reason is shown to the customer when valid is false")
def test_refusal_shows_the_reason_and_keeps_what_was_typed(shopper, bread):
    with registered(
        "order.validate", answering(OrderVerdict(valid=False, reason="Only two <loaves> a day."))
    ):
        response = shopper.place(
            delivery_method="DELIVERY", address="1 Quay Street", locality="Portside", note="Kept words",
            customer_phone="+1 555 0100", payment_method="CARD",
        )  # fmt: skip
    assert response.status_code == 422
    page = response.content.decode()
    assert "Only two &lt;loaves&gt; a day." in page
    for typed in ("1 Quay Street", "Portside", "Kept words", "+1 555 0100", "kim@example.com"):
        assert typed in page
    assert re.search(r'value="CARD"[^>]* checked', page)
    assert not Order.objects.exists()
    assert "Bread" in shopper.see("cart/")


def test_order_that_an_app_could_not_judge_is_taken_without_a_word(shopper):
    with registered("order.validate", answering(OrderVerdict(all_heard=False))):
        response = shopper.place()
    assert Order.objects.get().validation == "NOT_VALIDATED"
    assert "validated" not in text(shopper.get(response["Location"])).lower()


def test_sold_out_at_the_last_moment_is_said(shopper, bread):
    page = shopper.checkout_page()

    def sell_the_rest(question):
        Product.objects.update(stock=1)
        return OrderVerdict()

    with registered("order.validate", sell_the_rest):
        response = shopper.place(page, note="Kept words")
    assert response.status_code == 409
    assert "Bread: Only 1 left." in text(response)
    assert "Kept words" in text(response)
    assert not Order.objects.exists()


def test_product_deleted_since_the_page_was_opened_is_said(shopper, bread):
    page = shopper.checkout_page()
    bread.delete()
    response = shopper.place(page)
    assert response.status_code == 409
    assert "Bread: The store no longer has it." in text(response)


# --- How often apps are asked -----------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.spec("Contract 9 Extensions", "An address makes a shop's apps be asked 120 times a minute")
@pytest.mark.usefixtures("stopped_clock")
def test_address_that_asks_on_and_on_is_told_to_wait(shopper):
    asked = answering([WALLET])
    with registered("checkout.payment_methods", asked):
        page = shopper.checkout_page()
        for _ in range(119):
            shopper.get(shopper.at("checkout/"))
        refused = shopper.get(shopper.at("checkout/"))
        press = shopper.place(page | {"offered": "forged"}, note="Kept words")
    assert len(asked.questions) == 120
    assert (refused.status_code, press.status_code) == (429, 429)
    assert 0 < int(refused["Retry-After"]) <= 61
    assert 0 < int(press["Retry-After"]) <= 61
    for words in ("Kept words", "Try again in"):
        assert words in text(press)
    assert not Order.objects.exists()


def test_guide_names_the_limit_on_asking(settings):
    guide = (settings.BASE_DIR / "docs" / "hooks.md").read_text()
    assert f"ask apps at most {ASKED_PER_MINUTE} times a minute" in guide


@pytest.mark.long
@pytest.mark.usefixtures("stopped_clock")
def test_choosing_again_counts_as_well(shop, shopper, monkeypatch):
    monkeypatch.setattr("storefront.views.access.ASKED_PER_MINUTE", 5)
    with registered("checkout.payment_methods", answering([WALLET])):
        placed = shopper.place(payment_method="pay:wallet")  # no app makes it: it fails
        pages = [shopper.get(placed["Location"] + "pay/").status_code for _ in range(5)]
    assert pages == [200] * 3 + [429] * 2


@pytest.mark.long
@pytest.mark.spec("Contract 6 Hooks", "A payment that can't be asked for, all places taken, is 503")
def test_payment_that_no_thread_is_left_for_keeps_what_was_typed(shop, shopper):
    by_wallet = {"payment_method": "pay:wallet", "note": "Kept words"}
    with registered("checkout.payment_methods", answering([WALLET])):
        page = shopper.checkout_page()
        with places_taken():
            refused = shopper.place(page, **by_wallet)
        assert not Order.objects.exists()
        pay_page = shopper.place(page, **by_wallet)["Location"] + "pay/"  # no app makes the payment: it fails
        offered = hidden(shopper.get(pay_page))
        with places_taken():
            again = shopper.post(pay_page, offered | by_wallet)
    for answer in (refused, again):
        assert answer.status_code == 503
        assert int(answer["Retry-After"]) > 0
        assert "busy at the moment" in text(answer)
    assert "Kept words" in text(refused)
    assert Order.objects.get().payment.status == "FAILED"


# --- Pressing twice ---------------------------------------------------------------------------------


@pytest.mark.spec("Contract 4 Placing an order", "Pressing Place order twice gives one order")
def test_second_press_shows_the_same_order(shopper, bread, ear):
    page = shopper.checkout_page()
    first, second = shopper.place(page), shopper.place(page)
    assert first["Location"] == second["Location"]
    assert Order.objects.count() == 1
    assert ear.names == ["order_created"]
    bread.refresh_from_db()
    assert bread.stock == 8


def test_reload_of_the_confirmation_places_nothing(shopper):
    response = shopper.place()
    for _ in range(3):
        shopper.get(response["Location"])
    assert Order.objects.count() == 1


def test_old_page_does_not_empty_a_new_cart(shopper, bread):
    page = shopper.checkout_page()
    shopper.place(page)
    shopper.take(bread, 2)
    shopper.place(page)
    assert Order.objects.count() == 1
    assert "Bread" in shopper.see("cart/")


def test_each_checkout_page_stands_for_an_order_of_its_own(shopper, bread):
    shopper.place()
    shopper.take(bread, 1)
    shopper.place()
    assert Order.objects.count() == 2


@pytest.mark.parametrize("key", ["", "short", "x" * 33, "é" * 32, "../" * 11])
def test_key_that_is_none_of_ours_is_replaced(shopper, key):
    response = shopper.place(shopper.checkout_page() | {"key": key})
    assert len(response["Location"].rstrip("/").rpartition("/")[2]) == 32
    assert Order.objects.count() == 1


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("stock", [10, 2])
def test_two_presses_at_once_give_one_order(shop, bread, stock):
    """With a stock of 2 the second press finds the shelf emptied by the first."""
    Product.objects.update(stock=stock)
    shopper = Shopper(shop)
    shopper.take(bread, 2)
    page = shopper.checkout_page()
    together = threading.Barrier(2, timeout=20)

    def validate(question):
        together.wait()
        return OrderVerdict()

    answers = []

    def press():
        twin = Shopper(shop)
        twin.cookies = shopper.cookies.copy()
        answers.append(twin.place(page))
        connections.close_all()

    with registered("order.validate", validate):
        threads = [threading.Thread(target=press) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [answer.status_code for answer in answers] == [302, 302]
    assert len({answer["Location"] for answer in answers}) == 1
    assert Order.objects.count() == 1
    bread.refresh_from_db()
    assert bread.stock == stock - 2
    assert "Your cart is empty" in shopper.see("cart/")


# --- Methods of apps --------------------------------------------------------------------------------


@pytest.mark.spec("Hook calls", "checkout.payment_methods adds methods to the checkout page")
def test_methods_of_apps_are_offered(shopper):
    with registered("checkout.payment_methods", answering([WALLET])):
        page = shopper.see("checkout/")
    for words in ("Cash", "Card", "Harbour Wallet", "Pay by phone.", "https://pay.example.com/i.png"):
        assert words in page


def test_next_checkout_begins_with_the_delivery_and_payment_of_the_last(shop, shopper, bread):
    """Of this browser and store, and nothing of who ordered or where."""
    with registered("checkout.payment_methods", answering([WALLET])):
        shopper.place(delivery_method="DELIVERY", address="1 Quay Street", payment_method="CARD")
        for known, chosen in ((shopper, ("DELIVERY", "CARD")), (Shopper(shop), ("PICKUP", WALLET.id))):
            known.take(bread)
            page = known.see("checkout/")
            assert (
                tuple(re.findall(r'<input type="radio" name="\w+" value="([^"]+)"[^>]* checked', page))
                == chosen
            )
            assert "1 Quay Street" not in page
            assert "kim@example.com" not in page


def test_method_that_is_gone_is_not_chosen_again(shopper, bread):
    with registered("checkout.payment_methods", answering([WALLET])):
        shopper.place(payment_method=WALLET.id)
    shopper.take(bread)
    assert re.findall(r'name="payment_method" value="(\w+)"[^>]* checked', shopper.see("checkout/")) == [
        "CASH"
    ]


def test_icon_that_is_no_https_address_is_not_shown(shopper):
    method = PaymentMethod("pay:odd", "Odd", "pay", icon="javascript:alert(1)")
    with registered("checkout.payment_methods", answering([method])):
        assert 'src="javascript' not in shopper.see("checkout/")


@pytest.mark.spec(
    "Contract 9 Orders", "A method of an app is accepted when this shopper's checkout page offered it"
)
def test_method_that_the_page_showed_is_taken_without_asking_again(shopper):
    methods = answering([WALLET])
    with (
        registered("checkout.payment_methods", methods),
        registered("checkout.create_payment", answering(PaymentDetails("https://pay.example.com/1"))),
    ):
        page = shopper.checkout_page()
        response = shopper.place(page, payment_method="pay:wallet")
    assert len(methods.questions) == 1
    order = Order.objects.get()
    assert (order.payment_method, order.payment.provider) == ("pay:wallet", "pay")
    assert "Pay for order" in text(shopper.get(response["Location"]))


def test_method_that_no_page_showed_is_refused(shopper):
    page = shopper.checkout_page()
    response = shopper.place(page, payment_method="pay:wallet")
    assert response.status_code == 422
    assert not Order.objects.exists()


@pytest.mark.long
def test_offer_that_was_tampered_with_or_is_old_is_asked_for_anew(shopper):
    with registered("checkout.payment_methods", answering([WALLET])):
        page = shopper.checkout_page()
    for changed in (page | {"offered": page["offered"] + "x"}, page | {"offered": ""}):
        assert shopper.place(changed, payment_method="pay:wallet").status_code == 422
    with time_machine.travel(time.time() + 25 * 3600):
        assert shopper.place(page, payment_method="pay:wallet").status_code == 422
    assert not Order.objects.exists()
    with registered("checkout.payment_methods", answering([WALLET])):
        assert shopper.place(page | {"offered": ""}, payment_method="pay:wallet").status_code == 302
    assert Order.objects.get().payment_method == "pay:wallet"


def test_offer_of_another_shop_counts_for_nothing(shop, sandbox, shopper):
    other = Shopper(sandbox)
    other.take(factories.product(sandbox))
    with registered("checkout.payment_methods", answering([WALLET])):
        stolen = other.checkout_page()["offered"]
    page = shopper.checkout_page() | {"offered": stolen}
    assert shopper.place(page, payment_method="pay:wallet").status_code == 422
    assert not Order.objects.exists()


def test_failing_apps_leave_the_shop_with_its_own_ways(shopper):
    def fail(question):
        raise TimeoutError

    with (
        registered("checkout.payment_methods", fail),
        registered("order.validate", fail),
        registered("order.calculate_discounts", fail),
        registered("checkout.shipping_rates", fail),
    ):
        assert shopper.place().status_code == 302
    assert Order.objects.get().validation == "NOT_VALIDATED"


@pytest.mark.spec("Contract 6 Hooks", "checkout.payment_methods has its own budget of 10 seconds")
def test_checkout_page_asks_once_within_the_budget(shopper):
    methods = answering([])
    with registered("checkout.payment_methods", methods):
        shopper.checkout_page()
    (question,) = methods.questions
    assert question.flow.left <= hookpoints.BUDGET_SECONDS
    assert question.method_id is None


def test_refused_page_shows_its_methods_without_asking_again(shopper):
    methods = answering([WALLET])
    with registered("checkout.payment_methods", methods):
        page = shopper.checkout_page()
        response = shopper.place(page, customer_name="")
    assert "Harbour Wallet" in text(response)
    assert len(methods.questions) == 1


def test_sums_alone_are_given_to_the_script(shopper):
    page = shopper.checkout_page()
    asked = page | {"total": "1", "delivery_method": "DELIVERY", "locality": "Portside"}
    with registered("checkout.shipping_rates", answering(ShippingRate(725))):
        response = shopper.post(shopper.at("checkout/"), asked, headers={"x-part": "sums"})
    assert "$17.25" in text(response)
    assert "<html" not in text(response)
    Product.objects.update(stock=0)
    assert shopper.post(shopper.at("checkout/"), asked, headers={"x-part": "sums"}).status_code == 409
