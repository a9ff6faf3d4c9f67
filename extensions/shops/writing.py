"""What apps write to a store's orders: here, or asked of the shop that keeps them (contract, section 17, "Commands")."""

from collections.abc import Callable

from django.db import transaction

from extensions.shops import commands
from installations.models import Installation
from stores.models import Order
from stores.services.checkout import check_request, place_order
from stores.services.history import Actor
from stores.services.orders import change_order_status
from stores.services.pricing import OrderRequest

OnSaved = Callable[[Order], None]


def place(
    *, installation: Installation, request: OrderRequest, by: Actor, key: str, on_saved: OnSaved
) -> Order:
    """As `place_order` does it and raises, or `commands.create_order`. `key` is the app's `Idempotency-Key`, or empty.

    `on_saved` is called in the transaction that saves the order here. One that the shop has placed needs none: repeated, the command
    has the same answer.
    """
    business = installation.business
    if business.capabilities.app_orders:
        return place_order(business=business, request=request, by=by, on_saved=on_saved)
    check_request(business, request)
    return commands.create_order(installation=installation, request=request, key=key)


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
