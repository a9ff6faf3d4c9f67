"""Answers of apps that come after the world has moved on: the payment was chosen again, the currency changed."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import orjson
import pytest
from django.db import connection

from accounts.models import Business, User
from common import strangers
from stores.models import Order, Payment
from tests import factories
from tests.clients import client_of
from tests.forms import filled, form_at
from tests.hooking import Hooked, Hooking, says
from tests.pages import signed_in
from tests.receivers import Answer
from tests.storefront.shopping import Shopper, hidden

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timed,
    pytest.mark.long,
]

JSON = "application/json"


@pytest.fixture(autouse=True)
def _places_for_two(settings: Any) -> Iterator[None]:
    settings.WEB_THREADS = 32
    strangers.bound.cache_clear()
    yield
    strangers.bound.cache_clear()


class Held:
    """An app that keeps its answer to itself until the test lets it go."""

    def __init__(self, app: Hooked, target: str, answer: bytes, status: int = 200) -> None:
        self.app, self._go = app, Event()
        head = (
            f"HTTP/1.1 {status} Status\r\nContent-Length: {len(answer)}\r\nConnection: close\r\n\r\n".encode()
        )

        def respond(connection: Any) -> None:
            self._go.wait(10)
            connection.sendall(head + answer)

        app.receiver.answer_at(target, Answer(script=respond))

    def meanwhile(self, ask: Callable[[], Any], do: Callable[[], None]) -> Any:
        """The response to `ask`, with `do` done while the app is asked."""
        count = len(self.app.receiver.requests)
        with ThreadPoolExecutor(1) as thread:
            asking = thread.submit(_on_own_connection, ask)
            try:
                self.app.receiver.wait_for(count + 1)
                do()
            finally:
                self._go.set()
            return asking.result(10)


def _on_own_connection(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    finally:
        connection.close()


# --- Payments ---------------------------------------------------------------------------------------


@pytest.fixture
def wallet(hooking: Hooking) -> Callable[[str], Hooked]:
    """`wallet("a")` offers a method of that name and makes its payments, with a URL and an invoice of that name."""

    def install(name: str) -> Hooked:
        app = hooking("checkout.payment_methods")
        factories.hook(app.app, "checkout.create_payment")
        offer = {"methods": [{"id": "wallet", "name": name}]}
        app.receiver.answer_at("/base/checkout.payment_methods", says(offer))
        app.receiver.answer_at("/base/checkout.create_payment", Answer(body=payment_of(name)))
        return app

    return install


def payment_of(name: str) -> bytes:
    return orjson.dumps({"paymentUrl": f"https://{name}.example/pay", "invoiceId": f"inv-{name}"})


def pay_again(shopper: Shopper, path: str, method: str) -> None:
    form = hidden(shopper.get(f"{path}pay/"))
    assert shopper.post(f"{path}pay/", form | {"payment_method": method})["Location"] == path


@pytest.mark.spec("Contract 6 Hooks", "An answer counts for the payment that was asked for")
@pytest.mark.parametrize(("answer", "status"), [(payment_of("slow"), 200), (b"{}", 503)])
def test_late_payment_leaves_the_one_that_was_chosen_meanwhile(
    shop: Business, wallet: Callable[[str], Hooked], answer: bytes, status: int
) -> None:
    """The app reports that its payment failed before it answers, and the buyer has gone to another."""
    slow, other = wallet("slow"), wallet("other")
    shopper = Shopper(shop)
    shopper.take(factories.product(shop))
    page = shopper.checkout_page()
    path = shopper.at(f"orders/{page['key']}/")

    def choose_the_other() -> None:
        order = Order.objects.get()
        report = client_of(slow.installation).patch(
            f"/app-api/orders/{order.pk}/payment", {"status": "FAILED"}, content_type=JSON
        )
        assert report.status_code == 200, report.content
        pay_again(shopper, path, f"{other.app.slug}:wallet")

    held = Held(slow, "/base/checkout.create_payment", answer, status)
    placed = held.meanwhile(
        lambda: shopper.place(page, payment_method=f"{slow.app.slug}:wallet"), choose_the_other
    )

    assert placed["Location"] == path
    payment = Payment.objects.get()
    assert (payment.provider, payment.status) == (str(other.app.pk), "PENDING")
    assert (payment.payment_url, payment.invoice_id) == ("https://other.example/pay", "inv-other")
    assert "https://other.example/pay" in shopper.see(f"orders/{page['key']}/")


def test_late_payment_of_an_order_that_the_merchant_collects_by_now(
    shop: Business, wallet: Callable[[str], Hooked]
) -> None:
    slow = wallet("slow")
    shopper = Shopper(shop)
    shopper.take(factories.product(shop))
    page = shopper.checkout_page()
    path = shopper.at(f"orders/{page['key']}/")

    def choose_cash() -> None:
        Payment.objects.update(status="EXPIRED")
        pay_again(shopper, path, "CASH")

    held = Held(slow, "/base/checkout.create_payment", payment_of("slow"))
    placed = held.meanwhile(
        lambda: shopper.place(page, payment_method=f"{slow.app.slug}:wallet"), choose_cash
    )

    assert placed["Location"] == path
    assert not Payment.objects.exists()
    assert Order.objects.get().payment_method == "CASH"


# --- Currency ---------------------------------------------------------------------------------------


@pytest.mark.spec(
    "Contract 4 Placing an order", "An order is in the currency that the store has when it is saved"
)
@pytest.mark.parametrize(("currency", "price"), [("JPY", 5), ("EUR", 500)])
def test_order_in_a_currency_of_before_is_not_saved(
    mira: User, shop: Business, hooking: Hooking, currency: str, price: int
) -> None:
    """$5.00 become ¥5 while an app is asked: five cents would be too little, and €5.00 too much or too little."""
    validator = hooking("order.validate", {"valid": True})
    bread = factories.product(shop, price=500, stock=3)
    client = client_of(validator.installation)
    body = {
        "items": [{"productId": str(bread.pk), "quantity": 1}],
        "customer": {"name": "Kim", "email": "kim@example.com"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }

    def place() -> Any:
        return client.post("/app-api/orders", body, content_type=JSON)

    def change_currency() -> None:
        path = "/merchant/store/"
        browser = signed_in(mira)
        sent = filled(form_at(browser, path, having="currency"), currency=currency)
        assert browser.post(path, sent).status_code == 302

    held = Held(validator, "/base/order.validate", b'{"valid": true}')
    answer = held.meanwhile(place, change_currency)

    assert (answer.status_code, answer["X-Error-Code"]) == (409, "prices_changing")
    bread.refresh_from_db()
    assert (Order.objects.count(), bread.stock, bread.price) == (0, 3, price)
    assert place().status_code == 201
    assert Order.objects.values_list("currency", "subtotal", "number").get() == (currency, price, "1001")
