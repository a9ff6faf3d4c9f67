"""What shoppers do reaches the apps: from the page to a real receiver."""

import json
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from stores.hookpoints import PaymentDetails, PaymentMethod, registered
from stores.tasks import expire_payments
from tests import factories
from tests.receivers import Receiver
from tests.storefront.shopping import Shopper
from tests.webhooks.helpers import drain, is_signed, webhook

WALLET = PaymentMethod("pay:wallet", "Wallet", "pay")

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def receiver():
    with Receiver() as running:
        yield running


@pytest.fixture
def hook(installation, receiver, settings):
    settings.ALLOW_LOCAL_DESTINATIONS = True
    events = [
        "order.created",
        "product.out_of_stock",
        "product.low_stock",
        "review.created",
        "payment.expired",
    ]
    return webhook(installation, receiver.url, events)


@pytest.fixture
def shopper(hook, sandbox):
    return Shopper(sandbox)


def received(receiver, hook, count):
    """The `data` of the received events, by name."""
    drain()
    requests = receiver.wait_for(count)
    assert len(requests) == count
    assert all(is_signed(request, hook.secret) for request in requests)
    return {body["event"]: body["data"] for body in (json.loads(request.body) for request in requests)}


@pytest.mark.long
@pytest.mark.spec("Events", "order.created is sent when a shopper places an order")
def test_order_placed_on_the_page_reaches_the_app(shopper, sandbox, receiver, hook):
    bread = factories.product(sandbox, name="Bread", price=500, stock=3, low_stock_threshold=2)
    shopper.take(bread, 3)
    shopper.place(delivery_method="DELIVERY", address="1 Quay Street", payment_method="CARD")
    told = received(receiver, hook, 2)
    assert told["order.created"] | {"orderId": "", "orderNumber": "", "createdAt": ""} == {
        "orderId": "",
        "orderNumber": "",
        "amount": 20,
        "deliveryFee": 5,
        "deliveryMethod": "DELIVERY",
        "paymentMethod": "CARD",
        "isGuest": True,
        "createdAt": "",
    }
    assert told["product.out_of_stock"]["productId"] == str(bread.pk)


@pytest.mark.long
@pytest.mark.spec("Events", "product.low_stock is sent when an order takes stock below the threshold")
def test_low_stock_reaches_the_app(shopper, sandbox, receiver, hook):
    shopper.take(factories.product(sandbox, stock=5, low_stock_threshold=4), 2)
    shopper.place()
    told = received(receiver, hook, 2)
    assert (told["product.low_stock"]["stock"], told["product.low_stock"]["threshold"]) == (3, 4)


@pytest.mark.spec("Events", "review.created is sent when a shopper writes a review")
def test_review_reaches_the_app(shopper, sandbox, receiver, hook):
    factories.product(sandbox, slug="bread")
    typed = {"rating": "4", "comment": "Good.", "author_name": "Kim"}
    assert shopper.post(shopper.at("products/bread/reviews/"), typed).status_code == 302
    told = received(receiver, hook, 1)["review.created"]
    assert (told["rating"], told["comment"], told["authorName"]) == (4, "Good.", "Kim")


@pytest.mark.long
@pytest.mark.spec("Events", "payment.expired is sent when a shopper has not paid in time")
def test_expired_payment_reaches_the_app(shopper, sandbox, receiver, hook):
    shopper.take(factories.product(sandbox))
    soon = timezone.now() + timedelta(minutes=1)
    with (
        registered("checkout.payment_methods", lambda request: [WALLET]),
        registered(
            "checkout.create_payment", lambda request: PaymentDetails(invoice_id="INV-1", expires_at=soon)
        ),
    ):
        shopper.place(payment_method="pay:wallet")
    with time_machine.travel(soon + timedelta(seconds=1)):
        expire_payments()
        told = received(receiver, hook, 2)["payment.expired"]
    assert (told["invoiceId"], told["status"], told["paymentMethod"]) == ("INV-1", "EXPIRED", "pay:wallet")


@pytest.mark.spec("Events", "Nothing is sent for an order that was refused")
def test_refused_order_tells_nobody(shopper, sandbox, receiver, hook):
    shopper.take(factories.product(sandbox))
    shopper.place(customer_name="")
    assert drain() == 0
    assert receiver.requests == []
