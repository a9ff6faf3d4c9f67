"""Bell Pay, a way to pay that moves no real money: from the hook call to the page where a shopper pays."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from extension_platform_sdk import ApiError, PlatformError
from extension_platform_sdk.types import CheckoutCreatePaymentAnswer, CheckoutCreatePaymentData
from flask import Blueprint, redirect, render_template, request
from flask.typing import ResponseReturnValue

from . import platform, stores
from .bell import bell
from .database import now_text, time_text
from .wording import explain

METHOD = "bell-pay"
PAYABLE_FOR = timedelta(minutes=15)

blueprint = Blueprint("bell_pay", __name__)


class NotPayable(Exception):
    """The payment can't be made any more; its text says why, for the shopper."""


def method() -> Any:
    """What ``checkout.payment_methods`` offers."""
    return {
        "id": METHOD,
        "name": "Bell Pay",
        "description": "Pay on a page of Order Bell. No real money moves.",
        "icon": f"{bell.public_url}/static/bell.svg",
    }


def begin(business_id: str, asked: CheckoutCreatePaymentData) -> CheckoutCreatePaymentAnswer:
    """Answer ``checkout.create_payment``. The shopper may choose again, which replaces the order's open invoice.

    An invoice's id lets anyone see and pay it, so it can't be guessed. Amounts are in minor units.
    """
    if asked["paymentMethodId"] != METHOD:
        raise ValueError(f"no payment method {asked['paymentMethodId']}")
    invoice_id, order_id = f"bell-{secrets.token_urlsafe(16)}", asked["orderId"]
    expires_at = time_text(datetime.now(UTC) + PAYABLE_FOR)
    with bell.database.transaction() as connection:
        connection.execute(
            "UPDATE invoices SET status = 'REPLACED' WHERE business_id = ? AND order_id = ? AND status = 'OPEN'",
            (business_id, order_id),
        )
        connection.execute(
            "INSERT INTO invoices (id, business_id, order_id, amount, currency, description, expires_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                invoice_id, business_id, order_id,
                int(asked["amount"]), asked["currency"], asked["description"], expires_at,
            ),
        )  # fmt: skip
    url = f"{bell.public_url}/pay/{invoice_id}"
    return {"paymentUrl": url, "qrCode": url, "invoiceId": invoice_id, "expiresAt": expires_at}


@blueprint.get("/pay/<invoice_id>")
def payment(invoice_id: str, problem: str = "", status: int = 200) -> ResponseReturnValue:
    invoice = _invoice(invoice_id)
    store = stores.of_business(invoice["business_id"]) if invoice else None
    page = render_template("payment.html", invoice=invoice, store=store, problem=problem, now=now_text())
    return page, status if invoice else 404


@blueprint.post("/pay/<invoice_id>")
def pay(invoice_id: str) -> ResponseReturnValue:
    """One of the page's two buttons, then back to the page."""
    status = request.form.get("status")
    if status not in {"COMPLETED", "FAILED"}:
        return payment(invoice_id, "Press one of the buttons on this page.", 403)
    try:
        _settle(invoice_id, status)
    except NotPayable as error:
        return payment(invoice_id, str(error), 409)
    except PlatformError as error:
        return payment(invoice_id, explain(error), 502)
    return redirect(request.path, 303)


def _settle(invoice_id: str, status: Any) -> None:
    """Tell the platform first, then write it down. After a crash in between, the platform takes the same status again."""
    invoice = _invoice(invoice_id)
    if invoice is None or invoice["status"] != "OPEN":
        raise NotPayable("This payment has ended already.")
    if invoice["expires_at"] <= now_text():
        raise NotPayable("The time for this payment is over.")
    store = stores.of_business(invoice["business_id"])
    if store is None:
        raise NotPayable("The store is not connected to Order Bell any more.")
    try:
        with platform.client(store.access_token) as asked:
            asked.settle_payment(invoice["order_id"], status, reference=invoice_id)
    except ApiError as error:
        if error.status_code not in {401, 403, 404, 409}:
            raise
        raise NotPayable(f"The store says: {error.message}") from error
    bell.database.run("UPDATE invoices SET status = ? WHERE id = ?", status, invoice_id)


def _invoice(invoice_id: str) -> Any:
    return next(iter(bell.database.run("SELECT * FROM invoices WHERE id = ?", invoice_id)), None)
