"""Bell Pay: from the hook call to the payment that the shopper made, or not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import requests

from .driver import SampleApp
from .stores import Store


@pytest.mark.spec("Events/Hook calls", "checkout.create_payment: paymentUrl, qrCode, invoiceId, expiresAt")
def test_invoice_is_payable_for_fifteen_minutes(store: Store) -> None:
    invoice = store.invoice()
    assert invoice["paymentUrl"] == invoice["qrCode"] == f"{store.app.url}/pay/{invoice['invoiceId']}"
    left = datetime.fromisoformat(invoice["expiresAt"]) - datetime.now(UTC)
    assert timedelta(minutes=14, seconds=50) < left <= timedelta(minutes=15)
    page = requests.get(invoice["paymentUrl"], timeout=5)
    for text in (
        "24.50 EUR",
        "Order 1042 at Harbour Bakery",
        "No real money moves",
        "/store/harbour-bakery/",
    ):
        assert text in page.text
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert store.invoice(amount="1250", currency="JPY")["invoiceId"] != invoice["invoiceId"]


@pytest.mark.spec("Contract 4 App API", "PATCH /app-api/orders/:id/payment ends a payment of the app")
@pytest.mark.parametrize(("status", "said"), [("COMPLETED", "Paid"), ("FAILED", "choose another way to pay")])
def test_shopper_presses_a_button(store: Store, status: str, said: str) -> None:
    invoice = store.invoice()
    answer = store.press(invoice["paymentUrl"], status)
    assert answer.status_code == 200
    assert said in answer.text
    assert "<form" not in answer.text
    told = {"orderId": "o-1", "status": status, "reference": invoice["invoiceId"]}
    assert store.platform.payments == [told]
    again = store.press(invoice["paymentUrl"], "COMPLETED")
    assert (again.status_code, "ended already" in again.text) == (409, True)
    assert store.platform.payments == [told]


def test_payment_waits_while_the_platform_is_away(store: Store) -> None:
    url = store.invoice()["paymentUrl"]
    store.platform.broken = True
    answer = store.press(url, "COMPLETED")
    assert answer.status_code == 502
    assert "The platform says: The database is away." in answer.text
    store.platform.broken = False
    assert "Paid" in store.press(url, "COMPLETED").text
    assert len(store.platform.payments) == 1


def test_payment_that_expired_at_the_platform_says_so(store: Store) -> None:
    answer = store.press(store.invoice(orderId="gone")["paymentUrl"], "COMPLETED")
    assert answer.status_code == 409
    assert "The store says: The payment has expired" in answer.text


def test_choosing_again_ends_the_first_payment(store: Store) -> None:
    first, second = store.invoice(), store.invoice()
    assert "There is a newer payment" in requests.get(first["paymentUrl"], timeout=5).text
    assert store.press(first["paymentUrl"], "FAILED").status_code == 409
    assert "Paid" in store.press(second["paymentUrl"], "COMPLETED").text


def test_button_of_another_site_pays_nothing(store: Store) -> None:
    url = store.invoice()["paymentUrl"]
    assert store.press(url, "COMPLETED", Origin="https://evil.example").status_code == 403
    assert store.press(url, "COMPLETED", **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert store.press(url, "MAYBE").status_code == 403
    assert store.platform.payments == []


def test_unknown_payment_is_not_found(store: Store) -> None:
    assert store.get("/pay/bell-guess").status_code == 404
    assert store.press(f"{store.app.url}/pay/bell-guess", "COMPLETED").status_code == 404


def test_method_that_was_not_offered_makes_no_invoice(store: Store) -> None:
    data = {"paymentMethodId": "gold", "orderId": "o", "amount": "1", "currency": "EUR", "description": ""}
    answer = store.platform.call_hook(store.app.url, store.token, "checkout.create_payment", data)
    assert answer.status_code == 500
    assert "invoice" not in answer.text


def test_payment_outlives_a_restart_of_the_app(
    store: Store, start_oauth_app: Callable[..., SampleApp]
) -> None:
    invoice = store.invoice()
    store.app.stop()
    again = Store(start_oauth_app(), store.platform, store.token)
    assert "Paid" in again.press(f"{again.app.url}/pay/{invoice['invoiceId']}", "COMPLETED").text
    assert store.platform.payments[0]["orderId"] == "o-1"


@pytest.mark.spec("Events/Data erasure", "The receiving app must delete all stored data and answer 2xx")
def test_erasure_takes_payments_rings_and_sessions(store: Store) -> None:
    invoice = store.invoice()
    session = store.session()
    assert store.ring().json() == {"heard": True}
    webhook = store.platform.webhook_of(store.token)
    assert store.platform.deliver(webhook, "business.data_erasure", {}).status_code == 200
    assert requests.get(invoice["paymentUrl"], timeout=5).status_code == 404
    assert store.overview(session).status_code == 401
    assert store.let_in(store.platform.session_token(store.token)).status_code == 401
    assert store.get(f"/block/recent-orders.json?businessId={store.business_id}").status_code == 404
