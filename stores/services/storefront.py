"""Writing from the storefront: an order from a checkout page, which may be submitted more than once, and visits."""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import Business
from common.errors import ServiceError
from common.secrets import digest
from stores import queries
from stores.hookpoints import PaymentMethod
from stores.models import Order, StoreVisits
from stores.services.checkout import place_order
from stores.services.order_mails import mail_placed
from stores.services.pricing import OrderRequest


def place_once(
    *,
    business: Business,
    key: str,
    request: OrderRequest,
    cart_digest: str = "",
    offered: Sequence[PaymentMethod] = (),
    now: datetime | None = None,
) -> Order:
    """The order of this checkout page: placed now, or by an earlier submit of the same page.

    `key` is the page's random key. Of two submits at once both may ask the hook points, but only one commits: the
    other's transaction fails on the unique column, or finds the stock gone, and both return the same order. Raises like
    `place_order`.
    """
    if placed := queries.order_by_page_key(business, key):
        return placed

    def mail(order: Order) -> None:
        mail_placed(order=order, page_key=key)

    try:
        return place_order(
            business=business,
            request=request,
            offered=offered,
            page_key_digest=digest(key),
            cart_digest=cart_digest,
            now=now,
            on_saved=mail,
        )
    except (IntegrityError, ServiceError):
        if placed := queries.order_by_page_key(business, key):
            return placed
        raise


@transaction.atomic
def count_visit(*, business: Business, now: datetime | None = None) -> None:
    """One more visit today, by the store's time zone."""
    day = (now or timezone.now()).astimezone(ZoneInfo(business.timezone)).date()
    row, _ = StoreVisits.objects.get_or_create(business=business, day=day)
    StoreVisits.objects.filter(pk=row.pk).update(visits=F("visits") + 1)
