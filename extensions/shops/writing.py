"""What apps write to a store's orders: here, or asked of the shop that keeps them (contract, section 17, "Commands")."""

from collections.abc import Callable, Mapping

from django.db import transaction

from extensions.shops import commands
from installations.models import Installation
from stores.buyers.shoppers import Buyer
from stores.buyers.writing import change_attributes
from stores.models import Order
from stores.services.checkout import check_request, place_order
from stores.services.history import Actor
from stores.services.orders import change_order_status
from stores.services.pricing import OrderRequest

OnSaved = Callable[[Order], None]


def place(
    *,
    installation: Installation,
    request: OrderRequest,
    attributes: Mapping[str, str],
    by: Actor,
    key: str,
    on_saved: OnSaved,
) -> Order:
    """As `place_order` does it and raises, or `commands.create_order`. `attributes` are the app's own, which the shop doesn't get. `key`
    is the app's `Idempotency-Key`, or empty.

    `on_saved` is called in the transaction that saves the order here. One that the shop has placed needs none: repeated, the command
    has the same answer.
    """
    business = installation.business
    if business.capabilities.app_orders:
        buyer = Buyer(attributes={str(installation.app_id): attributes})
        return place_order(business=business, request=request, buyer=buyer, by=by, on_saved=on_saved)
    check_request(business, request)
    placed = commands.create_order(installation=installation, request=request, key=key)
    if not attributes:
        return placed
    return change_attributes(order=placed, owner=str(installation.app_id), changes=attributes)


def change_status(
    *, installation: Installation, order: Order, status: str, by: Actor, key: str, on_saved: OnSaved
) -> Order:
    """As `change_order_status` does it and raises, or `commands.set_status`. The current status changes nothing."""
    if not order.business.capabilities.app_orders and order.status != status:
        return commands.set_status(installation=installation, order=order, status=status, key=key)
    with transaction.atomic():
        changed = change_order_status(order=order, status=status, by=by)
        on_saved(changed)
    return changed
