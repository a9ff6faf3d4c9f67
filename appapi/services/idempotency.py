"""Answers a repeated request with the first response, and carries it out only once (contract, sections 4 and 9).

The first response is kept, whether it is the order or an error (out of stock, refused by an app). Exceptions are our
own failures (5xx), and errors found before the key is checked, such as an invalid body or a missing scope.

`answer_once` takes these steps:

1. `begin` claims the key for `LEASE`, or returns the stored response. It raises `Conflict` while the first request is
   in progress, or if the key was used for another request.
2. `save` stores the response in the transaction of the order, so a crash can't separate them. If another try has taken
   over in the meantime, it raises, which rolls the order back: no order is ever placed twice.
3. `finish` stores the final response and ends the claim. After a failure of ours `release` ends it instead, and the
   key counts as unused if no response was saved.

If the process dies, the lease expires. The next try then gets the response that `save` stored, or takes over.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import orjson
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from appapi.models import IdempotencyKey
from common.db.leases import held, take
from common.errors import Conflict, Invalid, ServiceError, Unavailable, error_body
from installations.limits import MAX_KEY, RESPONSES_KEPT
from installations.models import Installation
from stores.copies import Copies
from stores.serializers import without_customer

# Longer than an order takes when every hook uses its whole budget. A slower try is overtaken, and its order rolled back.
LEASE = timedelta(seconds=60)
BATCH = 1000


@dataclass(frozen=True, slots=True)
class StoredResponse:
    status: int
    body: bytes  # JSON
    code: str = ""  # of an error
    replayed: bool = False  # stored by an earlier request


Save = Callable[[StoredResponse], None]


def answer_once(
    *,
    installation: Installation,
    key: str,
    request: bytes,
    work: Callable[[Save], StoredResponse],
    now: datetime | None = None,
) -> StoredResponse:
    """Do `work` for the first request with `key`, and return its response for each repeated one.

    `request` is canonical: equivalent requests have the same bytes. `work` must call the `Save` it receives inside the
    transaction of its change. Service errors become responses, except `Unavailable`, which frees the key.

    Raises `Unavailable`, `Invalid` for a key that can't be stored, and `Conflict` as `begin` does.
    """
    check_key(key)
    begun = begin(installation=installation, key=key, request=request, now=now)
    if isinstance(begun, StoredResponse):
        return begun
    try:
        answer = work(partial(save, begun))
    except Unavailable:  # nothing was done, and the request may be retried
        release(begun)
        raise
    except ServiceError as error:
        body = error_body(error.status, error.wire_message, error.details)
        answer = StoredResponse(error.status, orjson.dumps(body), error.code)
    except BaseException:
        release(begun)
        raise
    finish(begun, answer)
    return answer


def check_key(key: str) -> None:
    """Raises `Invalid` for a key that can't be stored."""
    if not 1 <= len(key) <= MAX_KEY or not key.isprintable():
        raise Invalid.field("Idempotency-Key", f"Must be 1 to {MAX_KEY} printable characters.")


@transaction.atomic
def begin(
    *, installation: Installation, key: str, request: bytes, now: datetime | None = None
) -> IdempotencyKey | StoredResponse:
    """Claim `key` for a canonical request, or return the stored response.

    Raises `Conflict` while another try is in progress, or if the key was used for another request.
    """
    now = now or timezone.now()
    digest = hashlib.sha256(request).hexdigest()
    fresh: dict[str, Any] = {"request_digest": digest, "created_at": now, "expires_at": now + RESPONSES_KEPT}
    row, created = IdempotencyKey.objects.select_for_update().get_or_create(
        installation=installation, key=key, defaults=fresh | {"lease_until": now + LEASE}
    )
    if created:
        return row
    is_old = row.expires_at <= now
    if row.request_digest != digest and not is_old:
        raise Conflict("This Idempotency-Key was used with another request.", code="idempotency_key_reused")
    if row.lease_until is not None and row.lease_until > now:
        raise Conflict(
            "The first request with this Idempotency-Key is still in progress.",
            code="idempotency_key_in_progress",
        )
    if row.status is not None and not is_old:
        return StoredResponse(row.status, row.body.encode(), row.error_code, replayed=True)
    changes = fresh | {"status": None, "body": "", "error_code": ""} if is_old else {}
    row.lease_until = take(IdempotencyKey.objects.filter(pk=row.pk), lasts=LEASE, now=now, **changes)
    return row


def save(claim: IdempotencyKey, answer: StoredResponse) -> None:
    """Store the response, in the transaction of the change. The request still counts as in progress.

    Raises `Conflict` if another try has taken over, to roll back the caller's transaction.
    """
    if not _mine(claim).filter(status=None).update(status=answer.status, body=answer.body.decode()):
        raise Conflict(
            "This request took too long, and another one with its Idempotency-Key took over.",
            code="idempotency_key_taken_over",
        )


def finish(claim: IdempotencyKey, answer: StoredResponse) -> None:
    """Store the final response and end the claim. Does nothing if another try has taken over."""
    _mine(claim).update(
        status=answer.status, body=answer.body.decode(), error_code=answer.code, lease_until=None
    )


@transaction.atomic
def release(claim: IdempotencyKey) -> None:
    """End the claim after a failure of ours, so that the request can be retried at once."""
    _mine(claim).filter(status=None).delete()
    _mine(claim).update(lease_until=None)


def delete_expired(*, now: datetime | None = None) -> int:
    """Delete expired keys in small batches. Returns how many."""
    expired = IdempotencyKey.objects.filter(expires_at__lte=now or timezone.now())
    removed = 0
    while ids := list(expired.values_list("pk", flat=True)[:BATCH]):
        # Filtered by the expiry again: a listed key may have been reused in the meantime.
        count, _ = expired.filter(pk__in=ids).delete()
        removed += count
        if not count:
            break
    return removed


def erase_customer(copies: Copies) -> None:
    """Blank the answers that hold a customer who is erased. Their keys go on refusing a second order."""
    kept = IdempotencyKey.objects.filter(installation__business=copies.business).exclude(body="")
    for row in kept.iterator(chunk_size=BATCH):
        if body := _without_customer(copies, row):
            # The key may have been claimed for another request in the meantime.
            IdempotencyKey.objects.filter(pk=row.pk, body=row.body).update(body=orjson.dumps(body).decode())


def _without_customer(copies: Copies, row: IdempotencyKey) -> dict[str, Any] | None:
    """None if the answer has nothing of the customer. An order is known by its id, a refusal by the person's words."""
    if row.status is not None and row.status >= 400:
        is_theirs = copies.name(row.body)
        return error_body(row.status, "The answer was erased with its customer.") if is_theirs else None
    if not copies.are_of_records(row.body):
        return None
    order = without_customer(orjson.loads(row.body))
    payment = order["payment"]
    if payment and copies.words.are_in(payment["invoiceId"] or ""):
        payment["invoiceId"] = None
    return order


def _mine(claim: IdempotencyKey) -> QuerySet[IdempotencyKey]:
    """Empty once another try has taken over."""
    return held(IdempotencyKey.objects.filter(pk=claim.pk), claim.lease_until)
