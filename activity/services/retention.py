"""Deletes from the log: by age, and for an erasure."""

import json
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.utils import timezone

from activity.models import ApiCall, DeprecatedUse, LogGap, ScopeUse, StoreScopeUse
from common.db.partitions import remove_before
from installations.models import Installation
from stores.customers import Copies, blank

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
    """Blank what calls say about a customer who is erased, also those that were refused before there was any record. That they
    were made stays.
    """
    ids = list(Installation.objects.filter(business=copies.business).values_list("pk", flat=True))
    texts = ("path", "message", "details", "idempotency_key", "request_body", "response_body")
    calls = ApiCall.objects.filter(installation__in=ids).only("route", "status", *texts)
    blank(calls, partial(_without_customer, copies))


def _without_customer(copies: Copies, call: ApiCall) -> dict[str, Any]:
    found: dict[str, Any] = {}
    bodies = (call.request_body, call.response_body)
    if copies.are_of_records(call.path, *bodies) or (call.status >= 400 and copies.name(*bodies)):
        found |= {"request_body": "", "response_body": ""}
    if copies.words.are_in(call.path):
        found |= {"path": call.route, "request_body": "", "response_body": ""}
    for name in ("message", "idempotency_key"):
        if copies.words.are_in(getattr(call, name)):
            found[name] = ""
    if call.details is not None and copies.words.are_in(json.dumps(call.details)):
        found["details"] = None
    return found
