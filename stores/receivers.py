"""What the shop does when the floors below tell it something."""

from datetime import datetime
from typing import Any

from django.dispatch import receiver

from accounts.models import Business
from accounts.signals import business_created
from stores.models import StoreTotals
from stores.sandbox import fill_store


@receiver(business_created)
def open_store(sender: Any, *, business: Business, now: datetime, **kwargs: Any) -> None:
    """Every business has a store from its first moment; a sandbox has something in it."""
    StoreTotals.objects.create(business=business)
    if business.is_sandbox:
        fill_store(business=business, now=now)
