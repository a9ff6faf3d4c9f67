"""The same request twice gives one order and one answer (contract sections 4 and 9, "Idempotency").

The first answer is remembered whatever it was: the order, or why there is none (no stock, refused by an app).
Only a failure of ours (5xx) is not, and what was refused before the key was looked at: a bad body, a missing scope.

The life of a key, as `answer_once` walks it:

* `begin` claims it for `LEASE`, or gives the answer of before. Where the first try is still under way, or
  the key came with another request, it raises `Conflict`.
* `save` writes the answer inside the transaction of the order, so that no crash parts the two. A try that
  lost its claim meanwhile raises there, which undoes its order: nothing is ever placed twice.
* `finish` lets go of the key once all is done, with the answer as it was given in the end.
* `release` lets go after a crash: without an answer the key is as if never used.

When the process dies none of the last two happens; then the lease ends, and the next try gets the answer that
`save` wrote, or takes over.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import orjson
from django.db import transaction
from django.utils import timezone

from appapi.models import IdempotencyKey
from common.errors import Conflict, Invalid, ServiceError, error_body
from installations.models import Installation

KEPT = timedelta(hours=24)
# Longer than an order takes with every hook at its budget; a try that exceeds it is overtaken, not doubled.
LEASE = timedelta(seconds=60)
MAX_KEY = 255  # characters
BATCH = 1000


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes  # JSON
    replayed: bool = False  # it was given before


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to carry out the request, until `lease_until`."""

    row_id: int
    lease_until: datetime


Save = Callable[[Answer], None]


def answer_once(
    *,
    installation: Installation,
    key: str,
    request: bytes,
    work: Callable[[Save], Answer],
    now: datetime | None = None,
) -> Answer:
    """Do `work` for the first request with `key`, and give each further one the answer of the first.

    `request` is canonical: the same bytes for what means the same. `work` must call the `Save` that it is
    handed inside the transaction of its change. Errors of services become answers. Raises as `begin` does,
    and `Invalid` for a key that can't be kept.
    """
    check_key(key)
    begun = begin(installation=installation, key=key, request=request, now=now)
    if isinstance(begun, Answer):
        return begun
    try:
        answer = work(partial(save, begun))
    except ServiceError as error:
        body = error_body(error.status, error.message, error.details)
        answer = Answer(error.status, orjson.dumps(body))
    except BaseException:
        release(begun)
        raise
    finish(begun, answer)
    return answer


def check_key(key: str) -> None:
    """Raises `Invalid` for a key that can't be kept."""
    if not 1 <= len(key) <= MAX_KEY or not key.isprintable():
        raise Invalid.field("Idempotency-Key", f"Must be 1 to {MAX_KEY} printable characters.")


@transaction.atomic
def begin(
    *, installation: Installation, key: str, request: bytes, now: datetime | None = None
) -> Claim | Answer:
    """Claim `key` for a canonical request, or find the answer that it had.

    Raises `Conflict` while another try of the request is under way, and when the key stands for another
    request.
    """
    now = now or timezone.now()
    digest = hashlib.sha256(request).hexdigest()
    lease_until = now + LEASE
    fresh: dict[str, Any] = {"request_digest": digest, "created_at": now, "expires_at": now + KEPT}
    row, created = IdempotencyKey.objects.select_for_update().get_or_create(
        installation=installation, key=key, defaults=fresh | {"lease_until": lease_until}
    )
    if created:
        return Claim(row.pk, lease_until)
    if row.expires_at <= now:
        return _claim(row, lease_until, status=None, body="", **fresh)
    if row.request_digest != digest:
        raise Conflict("This Idempotency-Key was used with another request.")
    if row.lease_until is not None and row.lease_until > now:
        raise Conflict("The first request with this Idempotency-Key is still being carried out.")
    if row.status is not None:
        return Answer(row.status, row.body.encode(), replayed=True)
    return _claim(row, lease_until)


def save(claim: Claim, answer: Answer) -> None:
    """Keep the answer, inside the transaction of what it tells of. The request still counts as under way.

    Raises `Conflict` where another try has taken over, so that the caller's transaction is undone.
    """
    held = IdempotencyKey.objects.filter(pk=claim.row_id, lease_until=claim.lease_until, status=None)
    if not held.update(status=answer.status, body=answer.body.decode()):
        raise Conflict("This request took too long, and another one with its Idempotency-Key took over.")


def finish(claim: Claim, answer: Answer) -> None:
    """Keep what was answered, and let go of the key. Does nothing where another try has taken over."""
    held = IdempotencyKey.objects.filter(pk=claim.row_id, lease_until=claim.lease_until)
    held.update(status=answer.status, body=answer.body.decode(), lease_until=None)


@transaction.atomic
def release(claim: Claim) -> None:
    """Let go of the key after a failure of ours: the request may be sent again at once."""
    held = IdempotencyKey.objects.filter(pk=claim.row_id, lease_until=claim.lease_until)
    held.filter(status=None).delete()
    held.update(lease_until=None)


def delete_expired(*, now: datetime | None = None) -> int:
    """Remove the keys whose 24 hours are over, in batches that lock little; answers how many."""
    expired = IdempotencyKey.objects.filter(expires_at__lte=now or timezone.now())
    removed = 0
    while ids := list(expired.values_list("pk", flat=True)[:BATCH]):
        # Asked again: a key may have been claimed anew since it was listed.
        count, _ = expired.filter(pk__in=ids).delete()
        removed += count
        if not count:
            break
    return removed


def _claim(row: IdempotencyKey, lease_until: datetime, **fields: Any) -> Claim:
    IdempotencyKey.objects.filter(pk=row.pk).update(lease_until=lease_until, **fields)
    return Claim(row.pk, lease_until)
