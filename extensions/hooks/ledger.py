"""The ledger of hook calls. They are recorded after each call and outside any transaction; `extensions.hooks.skipped` writes skipped ones.

A customer who is erased is blanked in it, and old days are deleted.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from common.db import partitions
from common.db.inserts import insert
from common.db.transactions import do_not_wait_for_the_disk
from common.observability.metrics import HOOK_CALLS, HOOK_SECONDS
from extensions.enums import SKIPPED
from extensions.hooks import skipped
from extensions.hooks.calling import Call
from extensions.models import HookCall, RelayedCall
from installations.models import Installation
from stores.customers import Copies, blank
from stores.hookpoints import HookRequest

KEPT: Final = timedelta(days=30)
EXCERPT: Final = 2000  # characters
REQUEST_EXCERPT: Final = 4096  # characters, of requests about sandbox stores


def record(request: HookRequest, calls: Sequence[Call]) -> None:
    """In its own transaction, whose commit doesn't wait for the disk: a buyer is waiting."""
    for call in calls:
        HOOK_CALLS.labels(request.point, call.outcome.lower()).inc()
        if call.outcome not in SKIPPED:
            HOOK_SECONDS.labels(request.point).observe(call.duration_ms / 1000)
    rows = [_row(request, call) for call in calls]
    made = [row for row in rows if row.outcome not in SKIPPED]
    if len(made) < len(rows):
        skipped.record([row for row in rows if row.outcome in SKIPPED])
    if made:
        with transaction.atomic():
            do_not_wait_for_the_disk()
            insert(*made)


def _row(request: HookRequest, call: Call) -> HookCall:
    return HookCall(
        id=call.id,
        installation_id=call.hook.installation_id,
        definition_id=call.hook.definition_id,
        hook_point=request.point,
        called_at=call.called_at,
        duration_ms=call.duration_ms,
        outcome=call.outcome,
        http_status=call.http_status,
        problem=shortened(call.problem),
        fallback=call.fallback,
        answer_excerpt=excerpt(call.body),
        request_body=call.request_body.decode()[:REQUEST_EXCERPT] if request.business.is_sandbox else "",
        order_id=request.order_id,
        by_listener=call.by_listener,
    )


def excerpt(body: bytes) -> str:
    """The beginning of an answer, as text that the column can store."""
    text = body[: 4 * EXCERPT].decode("utf-8", "replace")
    return text[:EXCERPT].replace("\x00", "\N{REPLACEMENT CHARACTER}")


def shortened(problem: str) -> str:
    return problem[:300].replace("\x00", "\N{REPLACEMENT CHARACTER}")


# Deleting hook calls older than 30 days.
#
# Whole days go, by dropping their partitions. On SQLite rows are deleted in batches, each a short statement,
# and a limited number per run; the next run continues.


def remove_old(*, now: datetime | None = None) -> None:
    partitions.remove_before(HookCall, (now or timezone.now()) - KEPT)


def of_order(calls: Sequence[UUID], order_id: UUID) -> None:
    """These calls were about this order, which was placed after them."""
    HookCall.objects.filter(pk__in=calls).update(order_id=order_id)


def erase_customer(copies: Copies, *, now: datetime) -> None:
    """That a hook was called, with what outcome, stays."""
    ids = list(Installation.objects.filter(business=copies.business).values_list("pk", flat=True))
    texts = ("problem", "request_body", "answer_excerpt")
    calls = HookCall.objects.filter(installation__in=ids).only("order_id", *texts)
    blank(calls, partial(_without_customer, copies))
    # One that is being answered goes with its call. These are of processes that were killed.
    RelayedCall.objects.filter(installation__in=ids, ends_at__lt=now).delete()


def _without_customer(copies: Copies, call: HookCall) -> dict[str, str]:
    found: dict[str, str] = {}
    if copies.name(str(call.order_id), call.request_body, call.answer_excerpt):
        found |= {"request_body": "", "answer_excerpt": ""}
    if copies.words.are_in(call.problem):
        found["problem"] = ""
    return found
