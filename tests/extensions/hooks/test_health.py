"""The figures of hooks, by the calls that were recorded."""

from datetime import datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Business
from extensions.enums import CallOutcome
from extensions.hooks import health
from extensions.models import HookCall
from stores.hookpoints import HookPoint
from tests import factories
from tests.hooking import Hooked, Hooking

SHIPPING = "checkout.shipping_rates"


def recorded(
    hooked: Hooked,
    *,
    ago: timedelta = timedelta(minutes=1),
    ms: int = 100,
    outcome: CallOutcome = CallOutcome.ANSWERED,
) -> datetime:
    called_at = timezone.now() - ago
    HookCall.objects.create(
        installation=hooked.installation,
        definition=hooked.definition,
        hook_point=hooked.definition.key,
        called_at=called_at,
        duration_ms=ms,
        outcome=outcome,
    )
    return called_at


def figures(*hooks: Hooked) -> list[health.Health]:
    found = health.healths_of(HookCall.objects.all(), [each.definition for each in hooks], now=timezone.now())
    return [found[each.definition.pk] for each in hooks]


def test_figures_tell_calls_that_were_made_from_skipped_ones(hooking: Hooking) -> None:
    hook, without_calls, other = hooking(SHIPPING), hooking(SHIPPING), hooking(SHIPPING)
    for ms in (300, 100, 200):
        recorded(hook, ms=ms)
    recorded(hook, ms=5000, outcome=CallOutcome.TIMEOUT)
    recorded(hook, ms=0, outcome=CallOutcome.BREAKER_OPEN)
    last = recorded(hook, ms=0, outcome=CallOutcome.NO_TIME_LEFT, ago=timedelta(0))
    recorded(other)

    found, none = figures(hook, without_calls)
    assert (found.asked, found.failed, found.skipped) == (6, 3, 2)
    assert (found.p50, found.p95, found.worst) == (200, 5000, 5000)
    assert (found.last, found.times[0], len(found.times)) == (last, last, 6)
    assert (none.asked, none.p50, none.last) == (0, None, None)


def test_figures_are_of_each_hooks_newest_calls_of_seven_days(
    hooking: Hooking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "NEWEST", 2)
    busy, quiet = hooking(SHIPPING), hooking(SHIPPING)
    with time_machine.travel("2026-11-20T12:00:00Z", tick=False):
        times = [recorded(busy, ago=timedelta(minutes=minutes)) for minutes in (1, 2, 3)]
        once = recorded(quiet, ago=timedelta(days=7, microseconds=-1))
        for _ in range(2):
            recorded(quiet, ago=timedelta(days=7))

        assert [found.times for found in figures(busy, quiet)] == [times[:2], [once]]


def test_calls_of_a_hook_are_its_own(hooking: Hooking) -> None:
    first, second = hooking(SHIPPING), hooking(SHIPPING)
    recorded(first, ago=timedelta(minutes=3))
    recorded(first, ago=timedelta(minutes=2))
    recorded(second)

    assert health.newest_calls(first.definition) == first.calls[::-1]
    last = health.last_calls([first.definition, second.definition])
    assert last == {first.definition.pk: first.calls[-1], second.definition.pk: second.call}


def test_hooks_of_equal_priority_have_one_rank(shop: Business, hooking: Hooking) -> None:
    last = hooking(SHIPPING, priority=20, timeout=400)
    first, beside = hooking(SHIPPING, priority=10), hooking(SHIPPING, priority=10)
    hooking("order.validate", priority=5)

    order = health.running_order(shop, HookPoint.SHIPPING_RATES, first.app)
    assert [(each.rank, each.app_name, each.timeout_ms, each.is_own) for each in order] == [
        (1, first.app.name, 5000, True),
        (1, beside.app.name, 5000, False),
        (2, last.app.name, 400, False),
    ]


def test_hooks_come_in_the_order_of_a_checkout(hooking: Hooking) -> None:
    hook = hooking("checkout.create_payment")
    validating = factories.hook(hook.app, "order.validate")
    left = factories.hook(hook.app, SHIPPING)
    left.is_active = False
    left.save()

    assert health.hooks_of(hook.app) == [validating, hook.definition]
    assert health.own_hook(hook.app, SHIPPING) == left


def test_refusal_of_unchecked_orders_is_of_one_installation(hooking: Hooking) -> None:
    strict, other = hooking("order.validate"), hooking("order.validate")
    health.prefer_refusal(installation=strict.installation, refuse=True)
    health.prefer_refusal(installation=other.installation, refuse=False)

    assert health.refuses_unvalidated(strict.installation)
    assert not health.refuses_unvalidated(other.installation)
