"""Recording hook calls, after each call and outside any transaction. Skipped ones are left to `extensions.hooks.skipped`.

Calls before an order is saved get its id once it is: until then they are kept by their shared budget, in a
variable of the thread that places the order.
"""

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.dispatch import receiver

from common.ids import parse_id
from common.metrics import HOOK_CALLS, HOOK_SECONDS
from extensions.enums import SKIPPED
from extensions.hooks import skipped
from extensions.hooks.calling import Call
from extensions.hooks.skipped import OrderOfCalls
from extensions.models import HookCall
from stores.hookpoints import Budget, HookPoint, Question
from stores.models import Order
from stores.signals import order_created

EXCERPT: Final = 2000  # characters
REQUEST_EXCERPT: Final = 4096  # characters, of requests about sandbox stores
BEFORE_THE_ORDER: Final = (HookPoint.VALIDATE, HookPoint.DISCOUNTS, HookPoint.SHIPPING_RATES)


@dataclass(slots=True)
class _Flow:
    """The calls of one budget for one business."""

    budget: Budget
    business_id: UUID
    calls: list[UUID] = field(default_factory=list)
    skipped: list[UUID] = field(default_factory=list)


_flow: ContextVar[_Flow | None] = ContextVar("flow_of_hook_calls", default=None)


def record(question: Question, calls: Sequence[Call]) -> None:
    """In its own transaction, whose commit doesn't wait for the disk: a buyer is waiting."""
    for call in calls:
        HOOK_CALLS.labels(question.point, call.outcome.lower()).inc()
        if call.outcome not in SKIPPED:
            HOOK_SECONDS.labels(question.point).observe(call.duration_ms / 1000)
    rows = [_row(question, call) for call in calls]
    if question.point in BEFORE_THE_ORDER:
        _remember(question, rows)
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
        order_id=parse_id(question.data.get("orderId")),
        by_listener=call.by_listener,
    )


def excerpt(body: bytes) -> str:
    """The beginning of an answer, as text that the column can store."""
    text = body[: 4 * EXCERPT].decode("utf-8", "replace")
    return text[:EXCERPT].replace("\x00", "\N{REPLACEMENT CHARACTER}")


def shortened(problem: str) -> str:
    return problem[:300].replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _remember(question: Question, rows: Sequence[HookCall]) -> None:
    flow = _flow.get()
    if flow is None or flow.budget is not question.budget:
        flow = _Flow(question.budget, question.business.pk)
        _flow.set(flow)
    for row in rows:
        (flow.skipped if row.outcome in SKIPPED else flow.calls).append(row.pk)


@receiver(order_created)
def on_order_created(order: Order, **_: Any) -> None:
    """`order.validate` comes before every order, so what is kept belongs to this order or is empty."""
    flow = _flow.get()
    _flow.set(None)
    if flow and (flow.calls or flow.skipped) and flow.business_id == order.business_id:
        order_id = order.pk
        # A function: Django logs the name of a callback that fails, and a `partial` has none.
        transaction.on_commit(lambda: _name_order(flow, order_id), robust=True)


def _name_order(flow: _Flow, order_id: UUID) -> None:
    if flow.skipped:
        skipped.record([OrderOfCalls(flow.skipped, order_id)])
    if flow.calls:
        HookCall.objects.filter(pk__in=flow.calls).update(order_id=order_id)
