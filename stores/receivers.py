"""Reactions of stores to changes in lower-level apps."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.template.defaultfilters import pluralize

from accounts.models import Business, User
from accounts.services.deletion import Obstacle
from accounts.signals import account_deleted, account_deletion_asked, business_created
from common.processes.background import enqueue_after_commit
from stores.enums import OPEN
from stores.models import Order, ProductPicture, StoredPicture, StorePicture, StoreTotals
from stores.samples.store import fill_store
from stores.services.catalogue.pictures import delete_files, is_shared


@receiver(business_created)
def open_store(
    sender: Any, *, business: Business, now: datetime, with_samples: bool = True, **kwargs: Any
) -> None:
    """Every business has a store from the start; a sandbox store gets sample data."""
    StoreTotals.objects.create(business=business)
    if business.is_sandbox and with_samples and business.capabilities.samples:
        fill_store(business=business, now=now)


@receiver(account_deletion_asked)
def keep_stores_with_open_orders(
    sender: Any, *, user: User, locking: bool, **kwargs: Any
) -> Sequence[Obstacle]:
    """Customers wait for these; those of a sandbox store don't count. A store that is locked gets no orders."""
    owned = Business.objects.owned_by(user).order_by("pk")
    obstacles = []
    for store in owned.select_for_update() if locking else owned:
        is_kept = store.capabilities.open_orders_wait and not store.is_sandbox
        waiting = Order.objects.filter(business=store, status__in=OPEN).count() if is_kept else 0
        if waiting:
            title = f"{store.name} has {waiting:,} open order{pluralize(waiting)}"
            advice = "Deliver or cancel each of them first."
            obstacles.append(Obstacle(title, advice, path="/merchant/orders/"))
    return obstacles


@receiver(account_deleted)
def remove_records(sender: Any, **kwargs: Any) -> None:
    """By a worker, since a store may have many. The scheduler repeats a lost message within the hour."""
    enqueue_after_commit("stores.tasks.remove_records_of_deleted_stores", expires=3600.0)


@receiver(post_delete, sender=ProductPicture)
@receiver(post_delete, sender=StorePicture)
def remove_files(sender: Any, *, instance: StoredPicture, **kwargs: Any) -> None:
    """Also where rows are deleted with their product."""
    if not is_shared(instance):
        transaction.on_commit(partial(delete_files, instance))
