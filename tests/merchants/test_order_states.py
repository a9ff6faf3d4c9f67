"""Every state of a payment beside every status of an order: no page or mail names one against the other."""

import re
from html import unescape
from itertools import product

import pytest

from accounts.services.sender import send_due
from common.secrets import digest
from merchants.store.overview import sales_of
from stores.enums import BuiltInPayment, DeliveryMethod, OrderStatus, PaymentStatus
from stores.models import Order
from stores.services.history import SYSTEM
from stores.services.order_mails import mail_placed, mail_status
from stores.services.orders import add_staff_note, record_refund
from tests import factories
from tests.pages import signed_in, text_of
from tests.storefront.shopping import Shopper

LIST = "/merchant/orders/"
PAYMENTS = [*PaymentStatus.values, *BuiltInPayment.values]  # of an app, or collected by the merchant

# What the buyer may read of the money, and of the goods. Whatever is not true must not be said.
MONEY = {
    "paid": r"[Yy]ou (have )?paid \$20\.00|\$20\.00 received",
    "due": r"not paid yet|still due|is due|Choose how to pay|Not paid|Pay for order|Waiting for your payment",
    "on receipt": r"[Yy]ou pay \$20\.00",
    "nothing": r"nothing to pay|Don’t pay",
}
GOODS = {
    "PENDING": "has received your order", "CONFIRMED": "has confirmed your order", "PREPARING": "is preparing your order",
    "READY": "order is ready", "IN_DELIVERY": "on its way to you", "DELIVERED": "was delivered|was picked up",
    "CANCELLED": "was cancelled",
}  # fmt: skip
MAILED = ("READY", "IN_DELIVERY", "CANCELLED")
# The step of the buyer's page that is the current one; of a pickup first.
STEPS = {
    "PENDING": ("Placed",) * 2, "CONFIRMED": ("Confirmed",) * 2, "PREPARING": ("Being prepared",) * 2,
    "READY": ("Ready for pickup", "Being prepared"), "IN_DELIVERY": ("On its way",) * 2,
    "DELIVERED": ("Picked up", "Delivered"),
}  # fmt: skip
ASKS_TO_PAY = r"Choose how to pay|Pay for order|Pay \$|One step is left"


def truth(payment, status):
    """What is true of the money, found without the product's own rule."""
    if payment == "COMPLETED" or (payment in BuiltInPayment and status == "DELIVERED"):
        return "paid"
    if status == "CANCELLED":
        return "nothing"
    return "on receipt" if payment in BuiltInPayment else "due"


def order_in(shop, payment, status, method="PICKUP"):
    """Placed in the storefront by a customer of its own, who has the key of its page."""
    key = f"{payment}{status}{method}".ljust(32, "x").replace("_", "-")[:32]
    made = factories.order(
        shop, status=status, page_key_digest=digest(key), delivery_method=method, customer_email=f"{key}@example.com",
        payment_method=payment if payment in BuiltInPayment else "pay:wallet",
    )  # fmt: skip
    if payment not in BuiltInPayment:
        factories.payment(made, status=payment, invoice_id="7")
    return made, key


def words_of(page):
    """The text of a page's main part, without tags."""
    main = page[page.index("<main") : page.index("</main>")]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", main)).split())


def said(text, about):
    return {name for name, words in about.items() if re.search(words, text)}


def buyers_texts(shop, order, key, mailoutbox):
    """The order's page, and the text of each mail that is sent in this state."""
    mailoutbox.clear()
    mail_placed(order=order, page_key=key)
    mail_status(order=order)
    send_due()
    mails = [mail.body for mail in mailoutbox]
    assert len(mails) == 1 + (order.status in MAILED)
    return [words_of(Shopper(shop).see(f"orders/{key}/")), *mails]


def current_step(shop, key):
    page = " ".join(Shopper(shop).see(f"orders/{key}/").split())
    found = re.search(r'aria-current="step">.*?<span class="name">([^<]+)', page)
    return found and found[1]


@pytest.mark.long
@pytest.mark.spec(
    "Contract 15 Doors", "The buyer's page and mails name both states, never one against the other"
)
@pytest.mark.parametrize("payment", PAYMENTS)
def test_buyer_reads_both_states_and_no_contradiction(shop, payment, mailoutbox):
    for status, method in product(OrderStatus.values, DeliveryMethod.values):
        order, key = order_in(shop, payment, status, method)
        for text in buyers_texts(shop, order, key, mailoutbox):
            assert said(text, MONEY) == {truth(payment, status)}, text
            assert said(text, GOODS) == {status}, text
            if truth(payment, status) != "due":
                assert not re.search(ASKS_TO_PAY, text), text
            if status == "CANCELLED":
                assert ("about a refund" in text) is (payment == "COMPLETED")
        assert current_step(shop, key) == (STEPS[status][method == "DELIVERY"] if status in STEPS else None)


def test_buyer_reads_refunds_and_no_note_of_the_staff(shop, mailoutbox):
    order, key = order_in(shop, "COMPLETED", "CANCELLED")
    add_staff_note(order=order, text="Difficult", by=SYSTEM)
    for amount, known, words in (
        (500, 0, "refunded $5.00. Ask the store about the rest."),
        (1500, 500, "refunded $20.00."),
    ):
        record_refund(order=order, amount=amount, reason="Sold out, sorry", known=known, by=SYSTEM)
        page, *mails = buyers_texts(shop, order, key, mailoutbox)
        for text in (page, *mails):
            assert f"You have paid $20.00. The store {words}" in text
            assert "Difficult" not in text
        assert "Sold out, sorry" in page
        assert "Sold out" not in "".join(mails), "a store's free words are not mailed"
    assert "about the rest" not in page


def pills_in(html):
    return set(re.findall(r'<span class="pill[^>]*>.*?</svg>(.*?)</span>', html, re.DOTALL))


@pytest.mark.long
@pytest.mark.spec("Contract 15 Doors", "The merchant's list, order, home and reports say Paid or Unpaid")
@pytest.mark.parametrize("payment", PAYMENTS)
def test_merchant_sees_both_states_and_counts_them_so(mira, shop, payment):
    browser = signed_in(mira)
    for status in OrderStatus.values:
        Order.objects.all().delete()
        order, _ = order_in(shop, payment, status)
        is_paid, counts = truth(payment, status) == "paid", status != "CANCELLED"
        both = {OrderStatus(status).label, "Paid" if is_paid else "Unpaid"}
        for path in (LIST, f"{LIST}{order.pk}/"):
            assert pills_in(text_of(browser.get(path))) == both
        for name, is_there in (("paid", is_paid), ("unpaid", not is_paid)):
            listed = text_of(browser.get(LIST, {"payment": name, "status": status}))
            assert (str(order.pk) in listed) is is_there
        home = text_of(browser.get("/merchant/"))
        assert both <= pills_in(home)
        assert ("1 order is unpaid online" in home) is (truth(payment, status) == "due")
        sums = sales_of(shop, days=7).now
        revenue = 2000 if counts else 0
        assert (sums.orders, sums.paid, sums.unpaid) == (1, revenue * is_paid, revenue * (not is_paid))
        row = browser.get(f"{LIST}export.csv").getvalue().decode()
        assert (',"Paid",' if is_paid else ',"Unpaid",') in row
