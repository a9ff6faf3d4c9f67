"""Reactions to changes in lower-level apps. Connected by `AppApiConfig`."""

from datetime import timedelta
from typing import Any

from django.db.models import F
from django.dispatch import receiver

from accounts.models import Business
from appapi.models import IdempotencyKey
from teststores.signals import clock_advanced


@receiver(clock_advanced)
def bring_forward(business: Business, by: timedelta, **_: Any) -> None:
    """Of a test store, keys expire by its own clock."""
    kept = IdempotencyKey.objects.filter(installation__business=business)
    kept.update(expires_at=F("expires_at") - by)
