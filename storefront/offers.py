"""The payment methods that a checkout page showed, carried by the page itself.

A method of an app counts as offered if this shopper's page showed it (contract, section 9). So the page contains the signed
list of its methods: placing the order needs no second call to the apps, and nothing is stored for abandoned pages.
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
    """The methods in the page's list. Calls the apps again if the list is invalid or too old."""
    shown = shown_on_page(business, sealed)
    return hookpoints.ask_payment_methods(business=business) if shown is None else shown


def shown_on_page(business: Business, sealed: str) -> Sequence[PaymentMethod] | None:
    """The methods in the page's list, without calling apps. None if the list is invalid or too old."""
    try:
        found = signing.loads(sealed, salt=_salt(business), max_age=MAX_AGE)
        return [PaymentMethod(**method) for method in found]
    except (signing.BadSignature, TypeError, ValueError):
        return None


def _salt(business: Business) -> str:
    return f"storefront.offers:{business.pk}"
