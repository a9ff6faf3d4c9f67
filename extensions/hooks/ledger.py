"""Recording hook calls, after each call and outside any transaction. Skipped ones are left to `extensions.hooks.skipped`."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from common.db import partitions
from common.observability.metrics import HOOK_CALLS, HOOK_SECONDS
from extensions.enums import SKIPPED
from extensions.hooks import skipped
from extensions.hooks.calling import Call
from extensions.models import HookCall
from stores.hookpoints import Question

EXCERPT: Final = 2000  # characters
KEPT: Final = timedelta(days=30)
REQUEST_EXCERPT: Final = 4096  # characters, of requests about sandbox stores


def record(question: Question, calls: Sequence[Call]) -> None:
    """In its own transaction, whose commit doesn't wait for the disk: a buyer is waiting."""
    for call in calls:
        HOOK_CALLS.labels(question.point, call.outcome.lower()).inc()
        if call.outcome not in SKIPPED:
            HOOK_SECONDS.labels(question.point).observe(call.duration_ms / 1000)
    rows = [_row(question, call) for call in calls]
    made = [row for row in rows if row.outcome not in SKIPPED]
    if len(made) < len(rows):
        skipped.record([row for row in rows if row.outcome in SKIPPED])
    if made:
        with transaction.atomic():
            skipped.do_not_wait_for_the_disk()
            HookCall.objects.bulk_create(made)


def _row(question: Question, call: Call) -> HookCall:
    return HookCall(
        installation_id=call.hook.installation_id,
        definition_id=call.hook.definition_id,
        hook_point=question.point,
        called_at=call.called_at,
        duration_ms=call.duration_ms,
        outcome=call.outcome,
        http_status=call.http_status,
        problem=shortened(call.problem),
        fallback=call.fallback,
        answer_excerpt=excerpt(call.body),
        request_body=call.request_body.decode()[:REQUEST_EXCERPT] if question.business.is_sandbox else "",
        order_id=question.order_id,
        by_listener=call.by_listener,
    )


def excerpt(body: bytes) -> str:
    """The beginning of an answer, as text that the column can store."""
    text = body[: 4 * EXCERPT].decode("utf-8", "replace")
    return text[:EXCERPT].replace("\x00", "\N{REPLACEMENT CHARACTER}")


def shortened(problem: str) -> str:
    return problem[:300].replace("\x00", "\N{REPLACEMENT CHARACTER}")


def remove_old(*, now: datetime | None = None) -> None:
    """Whole days of calls, 30 days after their end."""
    partitions.remove_before(HookCall, (now or timezone.now()) - KEPT)
