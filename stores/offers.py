"""The payment methods that a checkout page showed, carried by the page itself.

An app's method counts as offered when it stood on this shopper's page (contract section 9, "Orders"), so the page
takes along what it was told, signed: the press of the button need not ask again, and nothing is kept for
pages that nobody sends.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta

from django.core import signing

from accounts.models import Business
from stores import hookpoints
from stores.hookpoints import PaymentMethod

MAX_AGE = timedelta(hours=24)


def seal(business: Business, methods: Sequence[PaymentMethod]) -> str:
    return signing.dumps([asdict(method) for method in methods], salt=_salt(business), compress=True)


def offered_on_page(business: Business, sealed: str) -> Sequence[PaymentMethod]:
    """The methods that a page has carried. They are asked for anew where it is none of ours, or too old."""
    shown = shown_on_page(business, sealed)
    return hookpoints.ask_payment_methods(business=business) if shown is None else shown


def shown_on_page(business: Business, sealed: str) -> Sequence[PaymentMethod] | None:
    """The methods that a page has carried; None where it is none of ours, or too old. Nobody is asked."""
    try:
        found = signing.loads(sealed, salt=_salt(business), max_age=MAX_AGE)
        return [PaymentMethod(**method) for method in found]
    except (signing.BadSignature, TypeError, ValueError):
        return None


def _salt(business: Business) -> str:
    return f"stores.offers:{business.pk}"
