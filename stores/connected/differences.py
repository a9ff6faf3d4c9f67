"""What rows of orders have otherwise than the apps that were asked before them (contract, section 17, "Hooks")."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import OuterRef, Subquery

from accounts.models import Business
from stores.models import Order, Quote, ShopPayment

MOST: Final = 20
PAYMENT: Final = "payment"


@dataclass(frozen=True, slots=True)
class AmountDifference:
    """`amount` is `subtotal`, `discount`, `deliveryFee` or `payment`. Both numbers are in minor units of the store's currency."""

    order_number: str
    amount: str
    of_apps: int
    of_row: int
    at: datetime


def differences_in(business: Business, since: datetime) -> list[AmountDifference]:
    """Newest first, of at most `MOST` orders and as many payments. Two statements."""
    found = [*_of_quotes(business, since), *_of_payments(business, since)]
    return sorted(found, key=lambda each: each.at, reverse=True)


def _of_quotes(business: Business, since: datetime) -> Iterator[AmountDifference]:
    rows = Quote.objects.filter(business=business, differs__isnull=False, asked_at__gte=since)
    newest = rows.order_by("-asked_at").values_list("order__number", "differs", "asked_at")[:MOST]
    for number, differs, at in newest:
        for amount, (of_apps, of_row) in (differs or {}).items():
            yield AmountDifference(number or "", amount, of_apps, of_row, at)


def _of_payments(business: Business, since: datetime) -> Iterator[AmountDifference]:
    number = Order.objects.filter(pk=OuterRef("order_id"), business=business).values("number")
    rows = ShopPayment.objects.filter(business=business, row_amount__isnull=False, opened_at__gte=since)
    for payment in rows.annotate(number=Subquery(number)).order_by("-opened_at")[:MOST]:
        yield AmountDifference(
            payment.number, PAYMENT, payment.amount, payment.row_amount or 0, payment.opened_at
        )
