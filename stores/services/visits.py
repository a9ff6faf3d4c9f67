"""Counts the visits of a store, for its merchant's home page."""

from datetime import datetime
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import Business
from stores.models import StoreVisits


@transaction.atomic
def count_visit(*, business: Business, now: datetime | None = None) -> None:
    """One more visit today, by the store's time zone."""
    day = (now or timezone.now()).astimezone(ZoneInfo(business.timezone)).date()
    row, _ = StoreVisits.objects.get_or_create(business=business, day=day)
    StoreVisits.objects.filter(pk=row.pk).update(visits=F("visits") + 1)
