"""An order's page: who may see it, how it is paid, and choosing again."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.models import Mail
from stores.addresses import order_key, store_url
from stores.hookpoints import PaymentDetails, PaymentMethod, registered
from stores.models import Cart, Order, Payment
from stores.services.orders import change_order_status
from stores.services.payments import settle_payment
from stores.tasks import expire_payments
from tests import factories
from tests.storefront.shopping import Shopper, hidden, text

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
WALLET = PaymentMethod("pay:wallet", "Harbour Wallet", "pay")
PIXEL = "data:image/png;base64,iVBORw0KGgo="


@pytest.fixture
def bread(shop):
    return factories.product(shop, name="Bread", slug="bread", price=500, stock=10)


@pytest.fixture
def shopper(shop, bread):
    made = Shopper(shop)
    made.take(bread, 2)
    return made


@pytest.fixture
def wallet():
    with registered("checkout.payment_methods", lambda request: [WALLET]):
        yield


def pay_by_wallet(shopper, answer):
    """Places the order; gives the address of its page, below the shop's."""
    with (
        registered("checkout.payment_methods", lambda request: [WALLET]),
        registered("checkout.create_payment", lambda request: answer),
    ):
        response = shopper.place(payment_method="pay:wallet")
    return response["Location"].removeprefix(shopper.at(""))


# --- Who sees it ------------------------------------------------------------------------------------


def test_order_is_put_into_the_cart_again_once(shop, shopper, bread):
    """What can't be ordered now is said there. The address of the page is needed, as for all that is on it."""
    cake = factories.product(shop, name="Cake", slug="cake", price=900, stock=1)
    shopper.take(cake)
    path = shopper.place()["Location"].removeprefix(shopper.at(""))
    for _ in range(2):
        response = shopper.post(shopper.at(f"{path}again/"))
        assert response["Location"] == shopper.at("cart/")
    page = shopper.see("cart/")
    assert [line["quantity"] for line in Cart.objects.get().lines] == [2, 1]
    assert "It's sold out." in page
    assert shopper.post(shopper.at(f"orders/{'x' * 32}/again/")).status_code == 404
    stranger = Shopper(shop)
    assert "Your cart is empty" in stranger.see("cart/")


@pytest.mark.long
@pytest.mark.spec("Contract 7 Pages", "An order's page opens to the one who placed it alone")
def test_order_of_another_is_a_404(shop, sandbox, shopper):
    path = shopper.place()["Location"].removeprefix(shopper.at(""))
    order = Order.objects.get()
    stranger = Shopper(shop)
    for guess in (str(order.pk), order.number, "x" * 32, order.page_key_digest):
        for page in ("", "pay/", "state/"):
            assert stranger.get(stranger.at(f"orders/{guess}/{page}")).status_code == 404
    other_shop = Shopper(sandbox)
    assert other_shop.get(other_shop.at(path)).status_code == 404
    assert f"Your order {order.number}" not in stranger.see("")


def test_address_of_the_page_opens_it_elsewhere_and_the_cart_leads_to_it(shop, shopper):
    path = shopper.place()["Location"].removeprefix(shopper.at(""))
    order = Order.objects.get()
    assert order.number in Shopper(shop).see(path)
    assert f"Your order {order.number}" in shopper.see("")


def test_key_is_kept_as_a_digest_only(shopper):
    key = shopper.place()["Location"].rstrip("/").rpartition("/")[2]
    row = Order.objects.values().get()
    assert key not in str(row)


def test_order_of_the_api_has_no_page(shop, bread):
    order = factories.order(shop)
    assert order.page_key_digest is None


# --- Paying -----------------------------------------------------------------------------------------


@pytest.mark.spec("Hook calls", "paymentUrl, qrCode and expiresAt are shown to the customer")
def test_payment_is_shown_with_link_qr_and_time(shop, shopper):
    shop.timezone = "Europe/Berlin"
    shop.save()
    with time_machine.travel(NOON, tick=False):
        details = PaymentDetails(
            "https://pay.example.com/1", "wallet://1", "INV-1", NOON + timedelta(minutes=15)
        )
        page = shopper.see(pay_by_wallet(shopper, details))
    assert 'href="https://pay.example.com/1"' in page
    assert "INV-1" in page
    assert "<svg viewBox=" in page
    assert "wallet://1" not in page
    assert "20 Nov 2026, 13:15 CET" in page
    assert "waiting for your payment" in page.lower()


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (PIXEL, f'<img class="qr" src="{PIXEL}"'),
        ("https://pay.example.com/qr.png", '<img class="qr" src="https://pay.example.com/qr.png"'),
        ("https://pay.example.com/1", "<svg viewBox="),  # the payment's own address
        ("data:text/html;base64,PHNjcmlwdD4=", "<svg viewBox="),
        ("00020126580014br.gov.bcb.pix", "<svg viewBox="),
        ("x" * 5000, '<code class="qr-text">xxxx'),
        ('"><script>x()</script>' + "y" * 5000, "&lt;script&gt;"),
    ],
)
def test_qr_code_is_a_picture_or_drawn(shopper, code, shown):
    path = pay_by_wallet(shopper, PaymentDetails("https://pay.example.com/1", code))
    page = shopper.get(shopper.at(path)).content.decode()
    assert shown in page
    assert "<script>x()" not in page


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "http://pay.example.com/", "//pay.example.com", "https://[x"]
)
def test_link_that_is_no_https_address_is_not_offered(shopper, url):
    page = shopper.see(pay_by_wallet(shopper, PaymentDetails(url, "code")))
    assert f'href="{url}"' not in page


@pytest.mark.parametrize("expires_at", [None, datetime(2100, 1, 1, tzinfo=UTC)])
def test_payment_without_details_says_so(shopper, expires_at):
    page = shopper.see(pay_by_wallet(shopper, PaymentDetails(expires_at=expires_at)))
    assert "The store will send you payment instructions." in page
    assert ("Pay before" in page) is bool(expires_at)


def test_payment_still_being_made_says_so(shop, shopper):
    """The order's page when the first of two presses is still waiting for the app."""
    seen = []

    def slow(question):
        seen.append(Shopper(shop).see(f"orders/{page['key']}/"))
        return PaymentDetails("https://pay.example.com/1")

    with (
        registered("checkout.payment_methods", lambda request: [WALLET]),
        registered("checkout.create_payment", slow),
    ):
        page = shopper.checkout_page()
        shopper.place(page, payment_method="pay:wallet")
    assert "Your payment is being prepared." in seen[0]


def test_paid_order_is_confirmed(shopper):
    path = pay_by_wallet(shopper, PaymentDetails("https://pay.example.com/1"))
    before = shopper.get(shopper.at(path + "state/")).json()
    settle_payment(order=Order.objects.get(), provider="pay", status="COMPLETED")
    page = shopper.see(path)
    assert "Thank you for your order" in page
    assert "Paid" in page
    assert "pay.example.com" not in page
    assert shopper.get(shopper.at(path + "state/")).json() != before


def test_cancelled_order_is_not_to_be_paid(shopper):
    path = pay_by_wallet(shopper, PaymentDetails("https://pay.example.com/1"))
    change_order_status(order=Order.objects.get(), status="CANCELLED")
    page = shopper.see(path)
    assert "is cancelled" in page
    assert "pay.example.com" not in page
    assert shopper.get(shopper.at(path + "pay/"))["Location"] == shopper.at(path)


# --- Choosing again ---------------------------------------------------------------------------------


def test_no_payment_is_chosen_for_a_cancelled_order(shopper, wallet):
    path = pay_by_wallet(shopper, None)
    assert shopper.get(shopper.at(path + "pay/")).status_code == 200
    change_order_status(order=Order.objects.get(), status="CANCELLED")
    assert Payment.objects.get().status == "FAILED"
    assert shopper.get(shopper.at(path + "pay/"))["Location"] == shopper.at(path)
    assert "pay/" not in shopper.see(path)


@pytest.mark.spec(
    "Contract 6 Hooks",
    "Where create_payment fails the order is kept, its payment FAILED, and the customer may choose again",
)
def test_failed_payment_is_chosen_again(shopper, wallet, ear):
    path = pay_by_wallet(shopper, None)
    assert Payment.objects.get().status == "FAILED"
    page = shopper.see(path)
    assert "The payment failed." in page
    assert "is not paid yet" in page
    form = shopper.get(shopper.at(path + "pay/"))
    assert "Harbour Wallet" in text(form)
    with registered("checkout.create_payment", lambda request: PaymentDetails("https://pay.example.com/2")):
        answer = shopper.post(shopper.at(path + "pay/"), hidden(form) | {"payment_method": "pay:wallet"})
    assert answer["Location"] == shopper.at(path)
    assert "https://pay.example.com/2" in shopper.see(path)
    assert Order.objects.count() == 1
    assert ear.names == ["order_created"]


@pytest.mark.parametrize("method", ["CASH", "CARD"])
def test_failed_payment_is_replaced_by_what_the_merchant_takes(shopper, wallet, method):
    path = pay_by_wallet(shopper, None)
    form = hidden(shopper.get(shopper.at(path + "pay/")))
    shopper.post(shopper.at(path + "pay/"), form | {"payment_method": method})
    assert not Payment.objects.exists()
    page = shopper.see(path)
    assert "Thank you for your order" in page
    assert {"CASH": "You pay $10.00 in cash", "CARD": "You pay $10.00 by card"}[method] in page


@pytest.mark.parametrize("typed", [{}, {"payment_method": "pay:nothing"}])
def test_no_choice_is_said(shopper, wallet, typed):
    path = pay_by_wallet(shopper, None)
    form = hidden(shopper.get(shopper.at(path + "pay/")))
    response = shopper.post(shopper.at(path + "pay/"), form | typed)
    assert response.status_code == 422
    assert "There is a problem" in text(response)


def test_second_press_of_another_way_changes_nothing(shopper, wallet):
    path = pay_by_wallet(shopper, None)
    form = hidden(shopper.get(shopper.at(path + "pay/"))) | {"payment_method": "pay:wallet"}
    made = []

    def create(question):
        made.append(question)
        return PaymentDetails(f"https://pay.example.com/{len(made)}")

    with registered("checkout.create_payment", create):
        for _ in range(2):
            assert shopper.post(shopper.at(path + "pay/"), form).status_code == 302
    assert len(made) == 1


@pytest.mark.spec("Contract 9 Orders", "A payment is EXPIRED within 60 s after expiresAt")
def test_payment_expires_by_the_clock_and_is_chosen_again(shopper, wallet, ear):
    with time_machine.travel(NOON, tick=False):
        path = pay_by_wallet(
            shopper, PaymentDetails("https://pay.example.com/1", expires_at=NOON + timedelta(minutes=5))
        )
    with time_machine.travel(NOON + timedelta(minutes=5, seconds=1), tick=False):
        page = shopper.see(path)
        assert "Expired" in page
        assert "pay.example.com" not in page
        expire_payments()
        assert "The payment has expired." in shopper.see(path)
        assert shopper.get(shopper.at(path + "pay/")).status_code == 200
    assert ear.names == ["order_created", "payment_expired"]


@pytest.mark.long
@pytest.mark.usefixtures("tasks_run_at_once")
def test_buyer_is_mailed_the_order_and_its_link(
    shop, bread, shopper, mailoutbox, django_capture_on_commit_callbacks
):
    shop.name = "Harbour\nBakery"
    shop.save()
    with django_capture_on_commit_callbacks(execute=True):
        page = shopper.place(note="Words of the buyer")["Location"]
    (mail,) = mailoutbox
    key = page.rstrip("/").rpartition("/")[2]
    assert mail.to == ["kim@example.com"]
    assert mail.subject.endswith(" at Harbour Bakery")
    assert mail.from_email.startswith("Harbour Bakery via Extension Platform <")
    link = next(line for line in mail.body.splitlines() if line.startswith(store_url(shop.slug, "orders")))
    assert key not in link, "a link of its own: who has it reads the mails of this address"
    assert Order.objects.get().number in shopper.get(link).content.decode()
    assert "Total: $10.00" in mail.body
    assert "Words of the buyer" not in mail.body
    shown = shopper.get(page).content.decode()
    assert "We sent a confirmation with a link to this page to kim@example.com." in shown
    order = Order.objects.get()
    for status in ("CONFIRMED", "READY"):
        with django_capture_on_commit_callbacks(execute=True):
            change_order_status(order=order, status=status)
    assert [each.subject for each in mailoutbox[1:]] == [f"Order {order.number} is ready – Harbour Bakery"]
    assert "Ready for pickup" in shopper.get(page).content.decode()
    mailed = next(line for line in mailoutbox[1].body.splitlines() if "/orders/" in line)
    assert f'href="{mailed}"' in mailoutbox[1].alternatives[0][0]
    assert "Ready for pickup" in shopper.get(mailed).content.decode()


@pytest.mark.parametrize("change", ["signature", "order", "store", "app"])
def test_link_of_a_mail_opens_its_order_only(shop, bread, shopper, mira, change):
    shopper.place()
    order = Order.objects.get()
    key = order_key(order.pk)
    assert shopper.get(store_url(shop.slug, "orders", key)).status_code == 200
    if change == "signature":
        key = key[:-1] + ("A" if key[-1] != "A" else "B")
    elif change == "order":
        shopper.take(bread, 1)
        shopper.place()
        other = Order.objects.exclude(pk=order.pk).get()
        key = f"{other.pk}.{key.partition('.')[2]}"
    elif change == "store":
        shop = factories.business(mira)
    else:
        Order.objects.update(page_key_digest=None)  # as one that an app placed
    assert shopper.get(store_url(shop.slug, "orders", key)).status_code == 404


def test_sandbox_stores_and_orders_of_apps_send_no_mail(shop, shopper):
    order = factories.order(shop, customer_email="kim@example.com")
    change_order_status(order=order, status="READY")
    type(shop).objects.update(is_sandbox=True)
    shopper.place()
    assert not Mail.objects.exists()
    assert Order.objects.filter(page_key_digest__isnull=False).exists()
