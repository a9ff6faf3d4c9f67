"""Placing an order while others are asked."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from common.errors import Conflict, Invalid, Refused
from stores.hookpoints import (
    Discount,
    OrderVerdict,
    PaymentDetails,
    PaymentMethod,
    ShippingRate,
    ask_payment_methods,
    registered,
)
from stores.models import Order, Payment, Product
from stores.queries import DEFAULT_DELIVERY_FEE
from stores.services.checkout import place_order
from stores.services.payments import settle_payment
from tests import factories
from tests.factories import order_request

SOON = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)


@pytest.fixture
def bread(shop):
    return factories.product(shop, name="Bread", price=500, stock=10)


class Answer:
    """A handler that remembers what it was asked."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        return self.answer

    @property
    def data(self):
        (request,) = self.requests
        return request.data


def delivered(*lines, **fields):
    return order_request(*lines, delivery_method="DELIVERY", address="1 Quay Street", **fields)


# --- order.validate ---------------------------------------------------------------------------------


@pytest.mark.spec("Contract 4 Guest order", "An order refused by a hook is 422 with the hook's reason")
def test_refusal_carries_the_reason_and_saves_nothing(shop, bread):
    with (
        registered("order.validate", Answer(OrderVerdict(valid=False, reason="Too much bread."))),
        pytest.raises(Refused, match=r"Too much bread\."),
    ):
        place_order(business=shop, request=order_request((bread, 2)))
    bread.refresh_from_db()
    assert bread.stock == 10
    assert not Order.objects.exists()


def test_refusal_without_a_reason_has_a_sentence(shop, bread):
    with (
        registered("order.validate", Answer(OrderVerdict(valid=False))),
        pytest.raises(Refused, match="can't accept"),
    ):
        place_order(business=shop, request=order_request((bread, 2)))


def test_refused_order_asks_nobody_else(shop, bread):
    others = Answer(None)
    with (
        registered("order.validate", Answer(OrderVerdict(valid=False))),
        registered("order.calculate_discounts", others),
        registered("checkout.shipping_rates", others),
        pytest.raises(Refused),
    ):
        place_order(business=shop, request=order_request((bread, 2)))
    assert others.requests == []


@pytest.mark.spec("Contract 6 Hooks", "An order that not every app could validate is marked as not validated")
@pytest.mark.parametrize(("all_heard", "mark"), [(True, "VALID"), (False, "NOT_VALIDATED")])
def test_order_is_marked_when_somebody_was_not_heard(shop, bread, all_heard, mark):
    with registered("order.validate", Answer(OrderVerdict(all_heard=all_heard))):
        order = place_order(business=shop, request=order_request((bread, 1)))
    assert Order.objects.get(pk=order.pk).validation == mark


@pytest.mark.spec("Hook calls", "order.validate is asked with items, subtotal and deliveryMethod")
def test_validation_is_asked_in_the_words_of_the_specification(shop, bread):
    verdict = Answer(OrderVerdict())
    with registered("order.validate", verdict):
        place_order(business=shop, request=order_request((bread, 1), (bread, 1)))
    assert verdict.data == {
        "items": [{"productId": str(bread.pk), "quantity": 2}],
        "subtotal": 1000,
        "deliveryMethod": "PICKUP",
    }


# --- Discounts and shipping -------------------------------------------------------------------------


@pytest.mark.spec(
    "Hook calls", "order.calculate_discounts is asked with items, subtotal, promoDiscount and deliveryFee"
)
@pytest.mark.spec("Contract 9 Orders", "deliveryFee in hook data is the store's own fee")
def test_discount_is_added_to_the_promo_discount(shop, bread):
    discount = Answer(Discount(150, "Rainy day"))
    with (
        registered("order.calculate_discounts", discount),
        registered("checkout.shipping_rates", Answer(ShippingRate(123))),
    ):
        order = place_order(business=shop, request=delivered((bread, 2), promo_discount=100))
    assert discount.data == {
        "items": [{"productId": str(bread.pk), "quantity": 2}],
        "subtotal": 1000,
        "promoDiscount": 100,
        "deliveryFee": DEFAULT_DELIVERY_FEE,
    }
    assert (order.discount, order.discount_reason) == (250, "Rainy day")
    assert order.amount == 1000 - 250 + 123


@pytest.mark.spec("Contract 6 Hooks", "Discounts are never more than the subtotal minus promoDiscount")
def test_discount_is_capped_at_the_subtotal(shop, bread):
    with registered("order.calculate_discounts", Answer(Discount(5000))):
        order = place_order(business=shop, request=order_request((bread, 1), promo_discount=200))
    assert (order.discount, order.amount) == (500, 0)


@pytest.mark.spec(
    "Hook calls",
    "checkout.shipping_rates is asked with deliveryMethod, subtotal, builtInFee, and locality if known",
)
def test_shipping_fee_overrides_the_fee_of_the_store(shop, bread):
    rate = Answer(ShippingRate(0))
    with registered("checkout.shipping_rates", rate):
        order = place_order(business=shop, request=delivered((bread, 1), locality="Portside"))
    assert rate.data == {
        "deliveryMethod": "DELIVERY",
        "locality": "Portside",
        "subtotal": 500,
        "builtInFee": DEFAULT_DELIVERY_FEE,
    }
    assert (order.delivery_fee, order.amount) == (0, 500)


@pytest.mark.spec("Contract 9 Orders", "Shipping hooks are asked for PICKUP too, with a built-in fee of 0")
def test_shipping_is_asked_for_a_pickup_too(shop, bread):
    rate = Answer(ShippingRate(75))
    with registered("checkout.shipping_rates", rate):
        order = place_order(business=shop, request=order_request((bread, 1)))
    assert rate.data == {"deliveryMethod": "PICKUP", "subtotal": 500, "builtInFee": 0}
    assert order.delivery_fee == 75


def test_no_rate_keeps_the_fee_of_the_store(shop, bread):
    with registered("checkout.shipping_rates", Answer(None)):
        order = place_order(business=shop, request=delivered((bread, 1)))
    assert order.delivery_fee == DEFAULT_DELIVERY_FEE


@pytest.mark.spec(
    "Contract 6 Hooks", "The three points asked before an order is saved share one budget of 10 seconds"
)
def test_three_points_are_one_flow(shop, bread):
    verdict, discount, rate = Answer(OrderVerdict()), Answer(Discount()), Answer(None)
    methods, details = Answer([PaymentMethod("pay:card", "Card", "pay")]), Answer(PaymentDetails())
    with (
        registered("checkout.payment_methods", methods),
        registered("order.validate", verdict),
        registered("order.calculate_discounts", discount),
        registered("checkout.shipping_rates", rate),
        registered("checkout.create_payment", details),
    ):
        place_order(business=shop, request=order_request((bread, 1), payment_method="pay:card"))
    flows = [answer.requests[0].flow for answer in (verdict, discount, rate)]
    assert flows[0] == flows[1] == flows[2]
    assert 9 < flows[0].deadline - time.monotonic() <= 10
    assert methods.requests[0].flow != flows[0] != details.requests[0].flow


@pytest.mark.spec("Contract 6 Hooks", "A failure never breaks the flow: each point has a fallback")
def test_handlers_that_fail_do_not_break_the_flow(shop, bread, caplog):
    def fail(request):
        raise RuntimeError("out of order")

    with (
        registered("order.validate", fail),
        registered("order.calculate_discounts", fail),
        registered("checkout.shipping_rates", fail),
    ):
        order = place_order(business=shop, request=delivered((bread, 1)))
    assert order.validation == "NOT_VALIDATED"
    assert (order.discount, order.delivery_fee) == (0, DEFAULT_DELIVERY_FEE)
    assert caplog.text.count("failed for business") == 3


@pytest.mark.spec("Contract 4 Placing an order", "A hook call never happens inside a database transaction")
@pytest.mark.django_db(transaction=True)
def test_hooks_are_asked_outside_any_transaction(shop, bread):
    states = {}

    def look(answer):
        def handler(request):
            states[str(request.point)] = connection.in_atomic_block
            return answer

        return handler

    with (
        registered("checkout.payment_methods", look([PaymentMethod("pay:card", "Card", "pay")])),
        registered("order.validate", look(OrderVerdict())),
        registered("order.calculate_discounts", look(Discount())),
        registered("checkout.shipping_rates", look(None)),
        registered("checkout.create_payment", look(PaymentDetails())),
    ):
        place_order(business=shop, request=order_request((bread, 1), payment_method="pay:card"))
    assert states == {
        "checkout.payment_methods": False,
        "order.validate": False,
        "order.calculate_discounts": False,
        "checkout.shipping_rates": False,
        "checkout.create_payment": False,
    }


@pytest.mark.django_db(transaction=True)
def test_asking_inside_a_transaction_is_refused(shop):
    with pytest.raises(RuntimeError, match="must not run inside a transaction"), transaction.atomic():
        ask_payment_methods(business=shop)


# --- What changes while they answer -----------------------------------------------------------------


def test_order_is_created_when_it_is_saved(shop, bread):
    quick = []

    def place_another(request):
        if not quick:
            quick.append(None)
            quick.append(place_order(business=shop, request=order_request((bread, 1))))
        return OrderVerdict()

    with registered("order.validate", place_another):
        slow = place_order(business=shop, request=order_request((bread, 1)))
    assert slow.created_at == slow.updated_at > quick[1].created_at


@pytest.mark.spec("Contract 4 Placing an order", "Price and stock come from the database, under lock")
def test_price_that_changes_meanwhile_is_asked_about_again(shop, bread):
    subtotals = []

    def raise_the_price_once(request):
        subtotals.append(request.data["subtotal"])
        Product.objects.filter(pk=bread.pk).update(price=800)
        return Discount(request.data["subtotal"] // 10)

    with registered("order.calculate_discounts", raise_the_price_once):
        order = place_order(business=shop, request=order_request((bread, 1)))
    assert subtotals == [500, 800]
    assert (order.subtotal, order.discount, order.amount) == (800, 80, 720)


def test_price_that_never_stands_still_is_a_conflict(shop, bread):
    def raise_the_price(request):
        Product.objects.filter(pk=bread.pk).update(price=request.data["subtotal"] + 1)
        return Discount()

    with (
        registered("order.calculate_discounts", raise_the_price),
        pytest.raises(Conflict, match="Prices are changing"),
    ):
        place_order(business=shop, request=order_request((bread, 1)))
    assert not Order.objects.exists()


def test_stock_that_is_sold_meanwhile_is_a_conflict(shop, bread):
    def sell_out(request):
        Product.objects.filter(pk=bread.pk).update(stock=0)
        return OrderVerdict()

    with registered("order.validate", sell_out), pytest.raises(Conflict, match="sold out"):
        place_order(business=shop, request=order_request((bread, 1)))


# --- An app's payment -------------------------------------------------------------------------------

OFFER = PaymentMethod("pay:card", "Pay by card", provider="app-17")


def test_payment_is_made_and_kept(shop, bread):
    made = Answer(PaymentDetails("https://pay.example/1", "QR", "INV-1", SOON))
    with (
        registered("checkout.payment_methods", Answer([OFFER])),
        registered("checkout.create_payment", made),
    ):
        order = place_order(business=shop, request=order_request((bread, 1), payment_method="pay:card"))
    assert order.payment_method == "pay:card"
    payment = Payment.objects.get(order=order)
    assert order.payment == payment
    assert (payment.provider, payment.status) == ("app-17", "PENDING")
    assert (payment.payment_url, payment.qr_code) == ("https://pay.example/1", "QR")
    assert (payment.invoice_id, payment.expires_at) == ("INV-1", SOON)


@pytest.mark.spec(
    "Hook calls",
    "checkout.create_payment is asked with the amount as text in minor units and the app's own method id",
)
@pytest.mark.spec(
    "Contract 9 Orders", "Methods are offered as <app slug>:<id>; the hook gets the app's own id"
)
def test_payment_is_asked_in_the_words_of_the_specification(shop, bread):
    made = Answer(PaymentDetails())
    with (
        registered("checkout.payment_methods", Answer([OFFER])),
        registered("checkout.create_payment", made),
    ):
        order = place_order(business=shop, request=order_request((bread, 3), payment_method="pay:card"))
    assert made.data == {
        "orderId": str(order.pk),
        "amount": "1500",
        "currency": "USD",
        "paymentMethodId": "card",
        "businessId": str(shop.pk),
        "description": f"Order {order.number} at {shop.name}",
    }
    assert made.requests[0].method_id == "pay:card"


@pytest.mark.spec(
    "Contract 9 Orders", "A method of an app is accepted when that app, asked first and alone, offers it now"
)
def test_only_the_chosen_method_is_verified(shop, bread):
    methods = Answer([OFFER])
    with registered("checkout.payment_methods", methods):
        place_order(business=shop, request=order_request((bread, 1), payment_method="pay:card"))
    assert methods.data == {"businessId": str(shop.pk)}
    assert methods.requests[0].method_id == "pay:card"


def test_method_that_is_not_offered_now_is_invalid(shop, bread):
    with registered("checkout.payment_methods", Answer([OFFER])), pytest.raises(Invalid):
        place_order(business=shop, request=order_request((bread, 1), payment_method="pay:wallet"))
    assert not Order.objects.exists()


def test_method_of_this_customers_page_is_accepted_without_asking(shop, bread):
    methods = Answer([])
    with (
        registered("checkout.payment_methods", methods),
        registered("checkout.create_payment", Answer(PaymentDetails())),
    ):
        order = place_order(
            business=shop,
            request=order_request((bread, 1), payment_method="pay:card"),
            offered=[OFFER],
        )
    assert methods.requests == []
    assert order.payment.provider == "app-17"


def test_built_in_method_asks_nobody(shop, bread):
    anybody = Answer([])
    with (
        registered("checkout.payment_methods", anybody),
        registered("checkout.create_payment", anybody),
    ):
        place_order(business=shop, request=order_request((bread, 1)))
    assert anybody.requests == []


@pytest.mark.spec("Contract 6 Hooks", "When create_payment fails the order is kept and its payment is FAILED")
@pytest.mark.parametrize("answer", [None, "raise"])
def test_payment_that_fails_leaves_the_order_standing(shop, bread, answer):
    def make(request):
        if answer == "raise":
            raise RuntimeError
        return answer

    with (
        registered("checkout.payment_methods", Answer([OFFER])),
        registered("checkout.create_payment", make),
    ):
        order = place_order(business=shop, request=order_request((bread, 1), payment_method="pay:card"))
    order = Order.objects.get(pk=order.pk)
    assert order.status == "PENDING"
    assert (order.payment.status, order.payment.expires_at) == ("FAILED", None)


@pytest.mark.spec(
    "Contract 9 Orders", "order.created is published at the save, before checkout.create_payment"
)
def test_order_is_told_before_its_payment_is_made(shop, bread, ear):
    told = []

    def make(request):
        told.extend(ear.names)
        return PaymentDetails()

    with (
        registered("checkout.payment_methods", Answer([OFFER])),
        registered("checkout.create_payment", make),
    ):
        place_order(business=shop, request=order_request((bread, 1), payment_method="pay:card"))
    assert told == ["order_created"]


@pytest.mark.parametrize(
    ("answer", "invoice_id"), [(PaymentDetails(invoice_id="INV-2", expires_at=SOON), "INV-2"), (None, "")]
)
def test_payment_settled_before_the_answer_stays_settled(shop, bread, answer, invoice_id):
    """Also if the app settles it and then answers too late or with an error: None."""

    def settle_at_once(request):
        order = Order.objects.get(pk=request.data["orderId"])
        settle_payment(order=order, provider="app-17", status="COMPLETED")
        return answer

    with (
        registered("checkout.payment_methods", Answer([OFFER])),
        registered("checkout.create_payment", settle_at_once),
    ):
        order = place_order(business=shop, request=order_request((bread, 1), payment_method="pay:card"))
    assert (order.payment.status, order.payment.invoice_id) == ("COMPLETED", invoice_id)


def test_payment_whose_maker_died_expires(shop, bread):
    class Died(BaseException):
        pass

    def die(request):
        raise Died

    with (
        registered("checkout.payment_methods", Answer([OFFER])),
        registered("checkout.create_payment", die),
        pytest.raises(Died),
    ):
        place_order(business=shop, request=order_request((bread, 1), payment_method="pay:card"), now=SOON)
    payment = Payment.objects.get()
    assert (payment.status, payment.expires_at) == ("PENDING", SOON + timedelta(seconds=60))
