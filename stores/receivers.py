"""Reactions of stores to changes in lower-level apps."""

from datetime import datetime
from typing import Any

from django.dispatch import receiver

from accounts.models import Business
from accounts.signals import business_created
from stores.models import StoreTotals
from stores.sandbox import fill_store


@receiver(business_created)
def open_store(sender: Any, *, business: Business, now: datetime, **kwargs: Any) -> None:
    """Every business has a store from the start; a sandbox store gets sample data."""
    StoreTotals.objects.create(business=business)
    if business.is_sandbox:
        fill_store(business=business, now=now)
