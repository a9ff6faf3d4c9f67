"""Whose Idempotency-Keys an app's calls have, and what was kept for them before contract 1.0.

`common.rest.idempotency` does the work. The model `IdempotencyKey` goes with the release after 1.0, and so does its use here: until then
processes of 0.2.0 may keep answers of POST `/app-api/orders` there.
"""

from datetime import datetime, timedelta
from typing import Final

import orjson
from django.db.models import F
from django.http import HttpResponse
from django.utils import timezone

from accounts.models import Business
from appapi.models import IdempotencyKey
from common.errors import ERROR_CODE_HEADER, error_body
from common.rest import idempotency
from common.rest.idempotency import owner_of
from installations.models import Installation
from stores.customers import Copies

ERASED: Final = "The answer was erased with its customer."


def bring_forward(business: Business, by: timedelta) -> None:
    """Of a test store, keys expire by its own clock."""
    idempotency.kept_for(_owners(business)).update(expires_at=F("expires_at") - by)


def erase_customer(copies: Copies) -> None:
    """Empty the answers that hold a customer who is erased. Their keys go on refusing a second order."""
    idempotency.erase(idempotency.kept_for(_owners(copies.business)), copies.are_of_records)
    for row in IdempotencyKey.objects.filter(installation__business=copies.business).exclude(status=410):
        if copies.name(row.body):
            IdempotencyKey.objects.filter(pk=row.pk, body=row.body).update(
                status=410, body=orjson.dumps(error_body(410, ERASED)).decode(), error_code="answer_erased"
            )


def delete_expired(*, now: datetime | None = None) -> int:
    now = now or timezone.now()
    IdempotencyKey.objects.filter(expires_at__lte=now).delete()
    return idempotency.delete_expired(now=now)


def earlier_answer(installation: Installation, key: str) -> HttpResponse | None:
    """What a process of 0.2.0 has answered to an order with this key. Raises `Conflict` while it still runs."""
    now = timezone.now()
    kept = IdempotencyKey.objects.filter(installation=installation, key=key, expires_at__gt=now).first()
    if kept is None:
        return None
    if kept.status is None:
        if kept.lease_until is None or kept.lease_until <= now:
            return None
        raise idempotency.in_progress()
    answer = HttpResponse(kept.body.encode(), status=kept.status, content_type="application/json")
    if kept.error_code:
        answer[ERROR_CODE_HEADER] = kept.error_code
    return answer


def _owners(business: Business) -> list[str]:
    ids = Installation.objects.filter(business=business).values_list("pk", flat=True)
    return [owner_of("installation", each) for each in ids]
