"""What the apps of a connected store read and show, so that its shop pushes and asks nothing in vain (contract, section 17)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db.models import UUIDField

from accounts.models import Business
from common.db.compiled import Compiled, Param
from extensions.enums import ExtensionType
from extensions.hooks.live import live_hooks
from extensions.in_store.embeds_and_blocks import embeds_on
from extensions.queries import extensions_on
from installations.models import Installation
from stores.connected.wanted import WantedRows
from stores.enums import Resource

BEFORE_THE_INSTALL: Final = timedelta(days=90)  # how far back an app may read orders
_OF_ORDERS: Final = {"read_orders", "write_orders", "read_analytics"}
_ASKED_FOR: Final = {Resource.ORDERS, Resource.REVIEWS}
_ALWAYS: Final = WantedRows(orders=False, reviews=False, orders_since=None)  # products and pages alone

# AskedOfApps for each row of an order or a review.
_INSTALLED: Final = Compiled(
    lambda: (
        Installation.objects.active()
        .filter(business=Param("business", UUIDField()))
        .with_app()
        .defer("webhook_secret")
        .order_by("installed_at")
    ),
    prepared_as="wanted_of",
)


@dataclass(frozen=True, slots=True)
class AskedOfApps:
    """What running apps answer and show. Paused apps and those that were switched off don't."""

    hook_points: list[str]
    placements: bool


def wanted_of(business: Business) -> WantedRows:
    """By the apps that are installed. One that is paused, suspended or switched off reads again some day, and then expects all rows."""
    granted = [(each, set(each.effective_scopes)) for each in _INSTALLED.rows(business=business.pk)]
    readers = [each for each, scopes in granted if scopes & _OF_ORDERS]
    return WantedRows(
        orders=bool(readers),
        reviews=any("read_reviews" in scopes for _, scopes in granted),
        orders_since=readers[0].installed_at - BEFORE_THE_INSTALL if readers else None,
    )


def wanted_among(resources: Iterable[Resource], business: Business) -> WantedRows:
    """The same where there are only rows of these kinds. Products and pages are wanted by all, so no app is asked about them."""
    return _ALWAYS if _ASKED_FOR.isdisjoint(resources) else wanted_of(business)


def asked_of(business: Business) -> AskedOfApps:
    points = sorted({hook.point for hook in live_hooks(business)})
    placements = any(each.is_shown for each in embeds_on(business))
    return AskedOfApps(points, placements or bool(extensions_on(business, ExtensionType.BLOCK)))
