"""Reactions to changes in lower-level apps. Connected by `AppApiConfig`."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import F
from django.dispatch import receiver

from accounts.models import Business
from appapi.models import IdempotencyKey
from appapi.services import exports, idempotency
from stores.copies import Copies
from stores.signals import copies_to_erase, customer_erased
from teststores.signals import clock_advanced


@receiver(clock_advanced)
def bring_forward(business: Business, by: timedelta, **_: Any) -> None:
    """Of a test store, keys expire by its own clock."""
    kept = IdempotencyKey.objects.filter(installation__business=business)
    kept.update(expires_at=F("expires_at") - by)


@receiver(copies_to_erase)
def on_copies_to_erase(copies: Copies, now: datetime, **_: Any) -> None:
    idempotency.erase_customer(copies)
    exports.erase_late(copies, now=now)


@receiver(customer_erased)
def on_customer_erased(copies: Copies, now: datetime, **_: Any) -> None:
    exports.erase_customer(copies, now=now)
