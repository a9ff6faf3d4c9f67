"""Bell Pay, a way to pay that moves no real money: from the hook call to the end of the payment."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from extension_platform_sdk import ApiError

from .connections import ConnectionStore
from .invoices import Invoice, InvoiceStore
from .platform import Platform
from .times import time_text

METHOD = "bell-pay"
PAYABLE_FOR = timedelta(minutes=15)


class NotPayableError(Exception):
    """The payment can't be made any more; its text says why, for the shopper."""


class BellPay:
    """Payments of this app, paid on its own page at ``<public_url>/pay/<invoice>``."""

    def __init__(
        self, public_url: str, connections: ConnectionStore, platform: Platform, invoices: InvoiceStore
    ) -> None:
        self._public_url = public_url
        self._connections = connections
        self._platform = platform
        self._invoices = invoices
        self._lock = threading.Lock()

    def method(self) -> dict[str, str]:
        """What ``checkout.payment_methods`` offers."""
        return {
            "id": METHOD,
            "name": "Bell Pay",
            "description": "Pay on a page of Order Bell. No real money moves.",
            "icon": f"{self._public_url}/static/bell.svg",
        }

    def begin(self, business_id: str, asked: Mapping[str, str]) -> dict[str, str]:
        """Answer ``checkout.create_payment``. The shopper may choose again, so an order may have several invoices.

        Raises ``ValueError`` for what was never offered.
        """
        if asked["paymentMethodId"] != METHOD:
            raise ValueError(f"no payment method {asked['paymentMethodId']}")
        invoice = Invoice(
            id=f"bell-{secrets.token_urlsafe(16)}",
            business_id=business_id,
            order_id=asked["orderId"],
            amount=int(asked["amount"]),
            currency=asked["currency"],
            description=asked["description"],
            expires_at=time_text(datetime.now(UTC) + PAYABLE_FOR),
        )
        self._invoices.add(invoice)
        url = f"{self._public_url}/pay/{invoice.id}"
        return {
            "paymentUrl": url,
            "qrCode": url,
            "invoiceId": invoice.id,
            "expiresAt": invoice.expires_at,
        }

    def settle(self, invoice_id: str, status: str) -> None:
        """Tell the platform how the payment ended, then write it down.

        A crash in between leaves the invoice open, and pressing again is harmless: the platform takes the same status
        twice. Raises ``NotPayableError``, and the SDK's ``PlatformError`` where the platform gave no answer.
        """
        with self._lock:
            invoice = self._payable(invoice_id)
            connection = self._connections.of_business(invoice.business_id)
            if connection is None:
                raise NotPayableError("The store is not connected to Order Bell any more.")
            try:
                self._platform.settle_payment(connection, invoice.order_id, status, invoice.id)
            except ApiError as error:
                if error.status_code not in {401, 403, 404, 409}:
                    raise
                raise NotPayableError(f"The store says: {error.message}") from error
            self._invoices.settle(invoice.id, status)

    def _payable(self, invoice_id: str) -> Invoice:
        invoice = self._invoices.get(invoice_id)
        if invoice is None or invoice.status != "OPEN":
            raise NotPayableError("This payment has ended already.")
        if invoice.is_over(datetime.now(UTC)):
            raise NotPayableError("The time for this payment is over.")
        return invoice
