"""The figures of hooks, by the calls that were recorded."""

from datetime import datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Business
from common.errors import NotFound
from extensions.enums import CallOutcome, ExtensionType
from extensions.hooks import health
from extensions.models import Breaker, ExtensionState, HookCall
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
    found = health.healths_in_all_stores([each.definition for each in hooks], now=timezone.now())
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
    assert (found.asked, found.failed, found.skipped, found.share_failed) == (6, 3, 2, 0.5)
    assert (found.p50, found.p95, found.worst) == (200, 5000, 5000)
    assert (found.last, found.times[0], len(found.times)) == (last, last, 6)
    assert (none.asked, none.share_failed, none.p50, none.last) == (0, 0, None, None)


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
    for minutes in (2, 3):
        recorded(first, ago=timedelta(minutes=minutes))
    recorded(second)

    assert [each.pk for each in health.newest_calls(first.definition)] == [
        each.pk for each in first.calls[::-1]
    ]
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
    factories.definition(hook.app, ExtensionType.BLOCK, "order.calculate_discounts", {})
    other = hooking("order.calculate_discounts")

    assert health.hooks_of(hook.app) == [validating, hook.definition]
    assert health.own_hook(hook.app, SHIPPING) == left
    assert health.own_hook(other.app, "order.calculate_discounts") == other.definition
    with pytest.raises(NotFound):
        health.own_hook(hook.app, "order.calculate_discounts")


def test_stores_that_switched_a_hook_off_are_those_with_the_app(shop: Business, hooking: Hooking) -> None:
    hook, other = hooking(SHIPPING), hooking(SHIPPING)
    on = factories.installation(hook.app, factories.business(factories.merchant("noor@example.com")))
    for installation, each, is_on in (
        (hook.installation, hook, False),
        (other.installation, other, False),
        (on, hook, True),
    ):
        ExtensionState.objects.create(installation=installation, definition=each.definition, is_on=is_on)

    assert health.stores_that_switched_off([hook.definition]) == {hook.definition.pk: 1}


def test_refusal_of_unchecked_orders_is_of_one_installation(hooking: Hooking) -> None:
    strict, other = hooking("order.validate"), hooking("order.validate")
    health.prefer_refusal(installation=strict.installation, refuse=True)
    health.prefer_refusal(installation=other.installation, refuse=False)

    assert health.refuses_unvalidated(strict.installation)
    assert not health.refuses_unvalidated(other.installation)


def test_hooks_in_trouble_are_those_whose_last_call_failed(hooking: Hooking) -> None:
    hook, other = hooking(SHIPPING), hooking(SHIPPING)
    now = timezone.now()

    def failed(
        failures: int, *, open_until: datetime | None = None, ended: datetime | None = None
    ) -> Breaker:
        store = factories.business(factories.merchant(f"m{Breaker.objects.count()}@example.com"))
        installation = factories.installation(hook.app, store, uninstalled_at=ended)
        return Breaker.objects.create(
            installation=installation, definition=hook.definition, failures=failures, open_until=open_until
        )

    failing, opened = failed(1), failed(5, open_until=now)
    failed(0)
    failed(5, ended=now)
    Breaker.objects.create(installation=other.installation, definition=other.definition, failures=1)
    assert health.troubled([hook.definition]) == [opened, failing]


def test_hook_is_paused_until_its_trial_is_due() -> None:
    now = timezone.now()
    later = Breaker(open_until=now + timedelta(minutes=1))
    assert health.is_paused(later, now)
    assert health.is_paused(later)
    assert not health.is_paused(Breaker(open_until=now), now)
    assert not health.is_paused(Breaker(), now)
