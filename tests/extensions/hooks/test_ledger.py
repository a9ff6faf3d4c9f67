"""What is written down of each call."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client import REGISTRY

from accounts.models import Business
from extensions.enums import CallOutcome
from extensions.hooks import ledger, skipped
from extensions.hooks.calling import Call
from extensions.hooks.live import hooks_at
from extensions.models import HookCall
from stores.hookpoints import Flow, HookPoint, HookRequest
from tests.hooking import Hooked, Hooking
from tests.waiting import wait_until

SHIPPING = "checkout.shipping_rates"
BREAKER_OPEN = CallOutcome.BREAKER_OPEN
NOT_WAITING = "SET LOCAL synchronous_commit TO off"


@pytest.fixture
def hooked(hooking: Hooking) -> Hooked:
    return hooking(SHIPPING)


def came_to(shop: Business, outcome: CallOutcome = CallOutcome.ANSWERED, **fields: Any) -> list[Call]:
    """A call of each of the store's hooks, which came to this."""
    return [
        Call(hook=hook, called_at=timezone.now(), outcome=outcome, **fields)
        for hook in hooks_at(shop, HookPoint.SHIPPING_RATES)
    ]


def record(shop: Business, calls: Sequence[Call]) -> None:
    ledger.record(HookRequest(HookPoint.SHIPPING_RATES, shop, {}, Flow.start()), calls)


def counted(outcome: CallOutcome) -> float:
    labels = {"point": SHIPPING, "outcome": outcome.lower()}
    return REGISTRY.get_sample_value("extension_platform_hook_calls_total", labels) or 0.0


def measured(name: str) -> float:
    return REGISTRY.get_sample_value(f"extension_platform_hook_seconds_{name}", {"point": SHIPPING}) or 0.0


def test_each_call_is_counted_and_those_that_were_made_are_timed(shop: Business, hooked: Hooked) -> None:
    calls = came_to(shop, duration_ms=1500) + came_to(shop, BREAKER_OPEN)
    before = [counted(CallOutcome.ANSWERED), counted(BREAKER_OPEN), measured("count"), measured("sum")]

    record(shop, calls)
    after = [counted(CallOutcome.ANSWERED), counted(BREAKER_OPEN), measured("count"), measured("sum")]
    assert [now - then for now, then in zip(after, before, strict=True)] == pytest.approx([1, 1, 1, 1.5])
    assert skipped.flush() == 1
    assert {call.outcome for call in hooked.calls} == {"ANSWERED", "BREAKER_OPEN"}


def test_answer_and_problem_are_kept_from_their_beginning(shop: Business, hooked: Hooked) -> None:
    record(shop, came_to(shop, body="🥐".encode() * 2001, problem="x" * 301))

    assert (hooked.call.answer_excerpt, hooked.call.problem) == ("🥐" * 2000, "x" * 300)


@pytest.mark.postgres
@pytest.mark.parametrize("outcome", [CallOutcome.ANSWERED, BREAKER_OPEN])
def test_no_call_waits_for_the_disk(shop: Business, hooked: Hooked, outcome: CallOutcome) -> None:
    calls = came_to(shop, outcome)
    with CaptureQueriesContext(connection) as queries:
        record(shop, calls)
        skipped.flush()

    sql = [each["sql"] for each in queries]
    assert next(each for each in sql if each == NOT_WAITING or each.startswith("INSERT")) == NOT_WAITING
    assert hooked.call.outcome == outcome


def test_skipped_calls_beyond_the_most_that_may_wait_are_left_out(
    shop: Business, hooked: Hooked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skipped, "MOST", 2)
    for _ in range(3):
        record(shop, came_to(shop, BREAKER_OPEN))

    assert len(hooked.calls) == 2


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_thread_of_the_process_writes_skipped_calls(
    shop: Business, hooked: Hooked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # threads start again
    monkeypatch.setattr("extensions.hooks.skipped._skipped", calls := skipped.SkippedCalls())
    record(shop, came_to(shop, BREAKER_OPEN))
    wait_until(HookCall.objects.exists)
    calls.stop()


@pytest.mark.django_db(transaction=True)
def test_skipped_call_of_a_removed_app_costs_the_others_nothing(shop: Business, hooking: Hooking) -> None:
    removed, kept = hooking(SHIPPING), hooking(SHIPPING)
    record(shop, came_to(shop, BREAKER_OPEN))
    removed.installation.delete()

    assert len(kept.calls) == 1
    assert HookCall.objects.count() == 1
