"""Deletes from the log: by age, and for an erasure."""

from datetime import datetime, timedelta
from typing import Final

from django.db.models import F, Q, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from activity.models import ApiCall, DeprecatedUse, LogGap, ScopeUse, StoreScopeUse
from common.db.partitions import remove_before
from installations.models import Installation
from stores.copies import Copies

KEPT: Final = timedelta(days=7)
USE_KEPT: Final = timedelta(days=30)
USE_IN_STORE_KEPT: Final = timedelta(days=400)


def remove_old(*, now: datetime | None = None) -> int:
    """Deletes whole days of calls. Returns how many calls were deleted one by one, outside of partitions."""
    now = now or timezone.now()
    LogGap.objects.filter(until__lt=now - KEPT).delete()
    ScopeUse.objects.filter(day__lt=(now - USE_KEPT).date()).delete()
    StoreScopeUse.objects.filter(last_day__lt=(now - USE_IN_STORE_KEPT).date()).delete()
    DeprecatedUse.objects.filter(last_at__lt=now - USE_KEPT).delete()
    return remove_before(ApiCall, now - KEPT)


def erase(installation: Installation) -> int:
    """Delete all calls of an installation. Returns how many."""
    DeprecatedUse.objects.filter(installation=installation).delete()
    StoreScopeUse.objects.filter(installation=installation).delete()
    removed, _ = ApiCall.objects.filter(installation=installation).delete()
    return removed


def erase_customer(copies: Copies) -> None:
    """Blank what calls say about a customer who is erased. That they were made stays."""
    ids = list(Installation.objects.filter(business=copies.business).values_list("pk", flat=True))
    calls = ApiCall.objects.filter(installation__in=ids, at__gte=copies.copied_since)
    has_body = ~Q(request_body="") | ~Q(response_body="")
    bodies = calls.filter(has_body).filter(copies.in_records("request_body", "response_body", "path"))
    bodies.update(request_body="", response_body="")
    calls.filter(copies.in_words("path")).update(path=F("route"))
    calls.exclude(message="").filter(copies.in_words("message")).update(message="")
    calls.exclude(idempotency_key="").filter(copies.in_words("idempotency_key")).update(idempotency_key="")
    detailed = calls.exclude(details=None).alias(said=Cast("details", TextField()))
    detailed.filter(copies.in_words("said")).update(details=None)
