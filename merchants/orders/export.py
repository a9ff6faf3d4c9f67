"""A merchant's orders as CSV, for spreadsheets."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.db.models import QuerySet

from common.money import decimals
from common.web.csv_files import CsvLines
from merchants.orders.descriptions import payment_method
from stores.models import Order
from stores.standing import is_paid

BATCH: Final = 500
COLUMNS: Final = (
    "Order", "Placed", "Status", "Customer", "E-mail", "Phone", "Delivery method", "Address", "Items", "Subtotal",
    "Discount", "Discount reason", "Delivery fee", "Total", "Currency", "Paid", "Payment method", "Payment status", "Note",
)  # fmt: skip


def lines(rows: QuerySet[Order], timezone: str) -> Iterator[str]:
    """The lines of the file, newest order first, read in batches. `rows` come newest first, with payment and items."""
    file = CsvLines()
    zone = ZoneInfo(timezone)  # the response is sent after the request's time zone has ended
    yield "\ufeff"  # by which spreadsheets recognize UTF-8
    yield file.line(COLUMNS)
    batch = list(rows[:BATCH])
    while batch:
        for order in batch:
            yield file.line(_values(order, zone))
        batch = list(rows.filter(pk__lt=batch[-1].pk)[:BATCH])


def _values(order: Order, zone: ZoneInfo) -> list[Any]:
    payment = getattr(order, "payment", None)
    places = decimals(order.currency)

    def major(minor: int) -> Decimal:
        return Decimal(minor).scaleb(-places)

    return [
        order.number,
        order.created_at.astimezone(zone).isoformat(sep=" ", timespec="seconds"),
        order.get_status_display(),
        order.customer_name,
        order.customer_email,
        order.customer_phone,
        order.get_delivery_method_display(),
        order.address,
        "; ".join(f"{item.quantity} × {item.name}" for item in order.items.all()),
        major(order.subtotal),
        major(order.discount),
        order.discount_reason,
        major(order.delivery_fee),
        major(order.amount),
        order.currency,
        "Paid" if is_paid(order) else "Unpaid",
        payment_method(order),
        payment.get_status_display() if payment else "",
        order.note,
    ]
