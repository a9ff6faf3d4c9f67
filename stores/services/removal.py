"""Removes the records of stores whose owner has deleted the account.

In batches, each in its own transaction. A store's row of totals goes last, so a store that has one isn't done yet, and the
next run continues one that was interrupted.
"""

from typing import Any, Final
from uuid import UUID

from django.apps import apps
from django.db import models

from common.db.rows import for_each
from stores.models import CustomerErasure, StoreTotals

BATCH: Final = 500


def remove_records_of_deleted_stores(*, batch: int = BATCH) -> int:
    """Returns the number of stores that are empty now."""
    unfinished = StoreTotals.objects.filter(business__owner__deleted_at__isnull=False)
    stores = list(unfinished.values_list("business_id", flat=True))
    return for_each(stores, lambda store: _empty(store, batch), task="remove_records_of_deleted_stores")


def _empty(store: UUID, batch: int) -> int:
    for model in _records():
        _remove(model, store, batch)
    StoreTotals.objects.filter(business=store).delete()
    return 1


def _records() -> list[type[models.Model]]:
    """The models with a store's rows. All other rows belong to these, and go with them.

    That customers were erased stays: apps may still be asked, and nothing in it is about them.
    """
    found = apps.get_app_config("stores").get_models()
    return [
        model
        for model in found
        if model not in (StoreTotals, CustomerErasure)
        and any(each.name == "business" for each in model._meta.fields)
    ]


def _remove(model: Any, store: UUID, batch: int) -> None:
    rows = model._base_manager.filter(business=store).order_by("pk").values_list("pk", flat=True)
    while ids := list(rows[:batch]):
        model._base_manager.filter(pk__in=ids).delete()
