"""Writing down each hook call, after it and outside any transaction.

The calls before an order is saved learn its id once it is: they are remembered until then by the budget that they
shared, in a variable of the thread that places the order.
"""

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.dispatch import receiver

from common.ids import parse_id
from extensions.hooks.calling import Call
from extensions.models import HookCall
from stores.hookpoints import Budget, HookPoint, Question
from stores.models import Order
from stores.signals import order_created

EXCERPT: Final = 2000  # characters
BEFORE_THE_ORDER: Final = (HookPoint.VALIDATE, HookPoint.DISCOUNTS, HookPoint.SHIPPING_RATES)


@dataclass(slots=True)
class _Flow:
    """What was asked over one budget for one business."""

    budget: Budget
    business_id: UUID
    calls: list[UUID] = field(default_factory=list)


_flow: ContextVar[_Flow | None] = ContextVar("flow_of_hook_calls", default=None)


def record(question: Question, calls: Sequence[Call]) -> None:
    """In a transaction of its own, whose end does not wait for the disk: a buyer waits, and a crash of the database
    at this very moment costs a line of a log."""
    rows = [_row(question, call) for call in calls]
    if question.point in BEFORE_THE_ORDER:
        _remember(question, rows)
    if not rows:
        return
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL synchronous_commit TO off")
        HookCall.objects.bulk_create(rows)


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
        order_id=parse_id(question.data.get("orderId")),
    )


def excerpt(body: bytes) -> str:
    """The beginning of an answer as text that fits a column."""
    text = body[: 4 * EXCERPT].decode("utf-8", "replace")
    return text[:EXCERPT].replace("\x00", "\N{REPLACEMENT CHARACTER}")


def shortened(problem: str) -> str:
    return problem[:300].replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _remember(question: Question, rows: Sequence[HookCall]) -> None:
    flow = _flow.get()
    if flow is None or flow.budget is not question.budget:
        flow = _Flow(question.budget, question.business.pk)
        _flow.set(flow)
    flow.calls += [row.pk for row in rows]


@receiver(order_created)
def on_order_created(order: Order, **_: Any) -> None:
    """Every order is preceded by `order.validate`, so that what is remembered is of this one or empty."""
    flow = _flow.get()
    _flow.set(None)
    if flow and flow.calls and flow.business_id == order.business_id:
        transaction.on_commit(partial(_name_order, flow.calls, order.pk), robust=True)


def _name_order(calls: Sequence[UUID], order_id: UUID) -> None:
    HookCall.objects.filter(pk__in=calls).update(order_id=order_id)
