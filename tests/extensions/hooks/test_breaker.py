"""The circuit breaker, by what an app's server sees of it."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
import time_machine
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import Business
from extensions.hooks import breaker, health, skipped
from extensions.hooks.breaker import FIRST_PAUSE
from extensions.models import Breaker, HookCall
from stores.enums import HookOutcome
from stores.hookpoints import Flow
from stores.models import Order
from stores.services.checkout import place_order
from tests import factories
from tests.extensions.hooks import asking
from tests.factories import order_request
from tests.hooking import Hooked, Hooking, says
from tests.receivers import Answer

SHIPPING = "checkout.shipping_rates"
RULE = "Contract 6 Circuit breaker"


@pytest.fixture
def clock() -> Iterator[Any]:
    with time_machine.travel("2026-11-20T12:00:00Z", tick=False) as travelling:
        yield travelling


@pytest.fixture
def broken(hooking: Hooking) -> Hooked:
    return hooking(SHIPPING, 500)


def reached(shop: Business, app: Hooked) -> bool:
    """Whether asking leads to a request at the app's server."""
    before = len(app.receiver.requests)
    asking.fee(shop)
    return len(app.receiver.requests) > before


def open_it(shop: Business, app: Hooked) -> None:
    for _ in range(5):
        assert reached(shop, app)


@pytest.mark.spec(RULE, "After 5 failures in a row a hook is skipped for 30 seconds, and counts as failed")
def test_hook_is_skipped_after_five_failures_in_a_row(shop: Business, broken: Hooked, clock: Any) -> None:
    open_it(shop, broken)

    assert not reached(shop, broken)
    skipped = broken.calls[-1]
    assert (skipped.outcome, skipped.duration_ms) == ("BREAKER_OPEN", 0)
    assert skipped.fallback == "The store's own fee was kept."
    clock.shift(29.9)
    assert not reached(shop, broken)
    clock.shift(0.2)
    assert reached(shop, broken)


def test_open_breaker_costs_the_question_no_statement(
    shop: Business, broken: Hooked, clock: Any, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """It is read with the hooks, and the skipped call is written behind the request."""
    open_it(shop, broken)
    recorded = HookCall.objects.count()

    with django_assert_num_queries(1):
        asking.fee(shop)

    assert HookCall.objects.count() == recorded
    assert len(broken.calls) == recorded + 1


@pytest.mark.django_db(transaction=True)
def test_skipped_calls_get_the_order_that_they_led_to(shop: Business, broken: Hooked, clock: Any) -> None:
    product = factories.product(shop, price=1000)
    open_it(shop, broken)
    place_order(business=shop, request=order_request((product, 1)))
    skipped.flush()  # between the row and its order
    second = place_order(business=shop, request=order_request((product, 1)))
    asking.fee(shop)

    *_, of_first, of_second, of_none = broken.calls
    first = Order.objects.exclude(pk=second.pk).get()
    assert [call.order_id for call in (of_first, of_second, of_none)] == [first.pk, second.pk, None]
    assert [each.hook_parts.get().outcome for each in (first, second)] == [HookOutcome.SKIPPED] * 2


def test_skipped_calls_wait_while_the_database_is_away(
    shop: Business, broken: Hooked, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("away")

    open_it(shop, broken)
    asking.fee(shop)
    with monkeypatch.context() as without:
        without.setattr(skipped, "_write", away)
        assert skipped.flush() == 0
    assert broken.calls[-1].outcome == "BREAKER_OPEN"


def test_success_between_starts_the_count_anew(shop: Business, hooking: Hooking, clock: Any) -> None:
    app = hooking(SHIPPING, *[500] * 4, {"fee": 1}, *[500] * 5)

    assert all(reached(shop, app) for _ in range(4))
    clock.shift(1)
    assert reached(shop, app)
    assert (app.breaker.failures, app.breaker.updated_at) == (0, timezone.now())
    clock.shift(1)
    assert all(reached(shop, app) for _ in range(5))
    assert app.breaker.updated_at == timezone.now()
    assert not reached(shop, app)


def test_success_after_successes_writes_no_breaker(shop: Business, hooking: Hooking) -> None:
    app = hooking(SHIPPING, 500, {"fee": 7})
    asking.fee(shop)
    asking.fee(shop)
    with CaptureQueriesContext(connection) as statements:
        assert asking.fee(shop) == 7
    assert app.breaker.failures == 0
    assert not any('"extensions_breaker" SET' in each["sql"] for each in statements)


@pytest.mark.spec(RULE, "One trial call closes the breaker")
def test_trial_that_succeeds_closes_it(shop: Business, hooking: Hooking, clock: Any) -> None:
    app = hooking(SHIPPING, *[500] * 5, {"fee": 7}, 500)
    open_it(shop, app)
    clock.shift(31)

    assert asking.fee(shop) == 7
    row = app.breaker
    assert (row.open_until, row.open_since, row.failures, row.opened_times) == (None, None, 0, 0)
    assert row.updated_at == timezone.now()
    assert all(reached(shop, app) for _ in range(5))
    assert not reached(shop, app)


@pytest.mark.spec(RULE, "Each failed trial doubles the pause, up to 10 minutes")
def test_trial_that_fails_doubles_the_pause(shop: Business, broken: Hooked, clock: Any) -> None:
    open_it(shop, broken)

    for pause in (30, 60, 120, 240, 480, 600, 600):
        clock.shift(pause - 0.1)
        assert not reached(shop, broken), pause
        clock.shift(0.2)
        assert reached(shop, broken), pause
        assert not reached(shop, broken), pause
        assert broken.breaker.updated_at == timezone.now()
    assert (broken.breaker.opened_times, broken.breaker.failures) == (8, 12)


def test_breaker_is_of_one_hook_on_one_installation(shop: Business, hooking: Hooking, clock: Any) -> None:
    broken, sound = hooking(SHIPPING, 500), hooking(SHIPPING, {"fee": 1})
    factories.hook(broken.app, "order.validate")
    asking.verdict(shop)
    open_it(shop, broken)

    assert not reached(shop, broken)
    assert reached(shop, sound)
    asking.verdict(shop)
    assert broken.receiver.requests[-1].target == "/base/order.validate"


def test_breaker_of_another_store_stays_closed(shop: Business, broken: Hooked, clock: Any) -> None:
    elsewhere = factories.business(factories.merchant("noor@example.com"))
    factories.installation(broken.app, elsewhere)
    assert reached(elsewhere, broken)
    open_it(shop, broken)

    assert reached(elsewhere, broken)
    assert not reached(shop, broken)


def test_each_hook_has_a_trial_of_its_own(shop: Business, hooking: Hooking, clock: Any) -> None:
    broken = [hooking(SHIPPING, 500), hooking(SHIPPING, 500)]
    for _ in range(5):
        asking.fee(shop)
    clock.shift(30)
    asking.fee(shop)

    assert [len(app.receiver.requests) for app in broken] == [6, 6]


def test_success_of_a_call_that_began_before_it_opened_does_not_close_it(
    shop: Business, broken: Hooked, clock: Any
) -> None:
    for _ in range(4):
        assert reached(shop, broken)
    row = broken.breaker
    slow = breaker.admit(row, timeout=5.0, now=row.updated_at)
    assert slow
    assert reached(shop, broken)

    breaker.succeeded((row.installation_id, row.definition_id), slow, now=row.updated_at)
    assert not reached(shop, broken)
    assert health.troubled([broken.definition]) == [broken.breaker]


def test_failure_of_a_call_that_began_before_it_opened_is_only_counted(
    shop: Business, broken: Hooked, clock: Any
) -> None:
    for _ in range(4):
        assert reached(shop, broken)
    row = broken.breaker
    slow = breaker.admit(row, timeout=5.0, now=timezone.now())
    assert slow
    assert reached(shop, broken)
    opened = broken.breaker

    clock.shift(3)
    breaker.failed((row.installation_id, row.definition_id), slow, now=timezone.now())
    found = broken.breaker
    assert (found.failures, found.open_until) == (6, opened.open_until)


def test_hook_is_skipped_once_another_order_opened_its_breaker(
    shop: Business, broken: Hooked, clock: Any, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """An order that is under way has read its hooks before."""
    under_way = Flow.start()
    asking.verdict(shop, flow=under_way)
    open_it(shop, broken)

    with django_assert_num_queries(1):
        asking.fee(shop, flow=under_way)
    assert len(broken.receiver.requests) == 5


def test_trial_that_another_has_made_is_not_made_again(shop: Business, broken: Hooked, clock: Any) -> None:
    open_it(shop, broken)
    clock.shift(31)
    row = broken.breaker
    assert reached(shop, broken)

    assert breaker.admit(row, timeout=5.0, now=timezone.now()) is None


def test_trial_without_a_fair_share_of_time_is_left_to_the_next_order(
    shop: Business, hooking: Hooking, clock: Any
) -> None:
    app = hooking(SHIPPING, *[500] * 5, says({"fee": 1}, delay=1.0), {"fee": 7})
    open_it(shop, app)
    clock.shift(31)

    assert asking.fee(shop, flow=Flow.start(0.2)) == 350
    assert asking.fee(shop) == 7


def test_failure_counts_however_little_time_the_call_had(shop: Business, broken: Hooked) -> None:
    asking.fee(shop, flow=Flow.start(0.9))

    assert broken.call.outcome == "HTTP_ERROR"
    assert broken.breaker.failures == 1


@pytest.mark.spec(RULE, "It can be reset")
def test_reset_has_the_hook_called_again_at_once(shop: Business, broken: Hooked, clock: Any) -> None:
    open_it(shop, broken)

    assert breaker.reset(installation=broken.installation, definition=broken.definition)
    open_it(shop, broken)
    assert not reached(shop, broken)


@pytest.mark.long
@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=302), Answer(body=b"no"), says({"fee": -1}), says({"fee": 1}, delay=1.0),
        Answer(script=lambda connection: connection.close()),
    ],
)  # fmt: skip
def test_every_kind_of_failure_opens_it(shop: Business, hooking: Hooking, clock: Any, answer: Answer) -> None:
    app = hooking(SHIPPING, answer, timeout=100)
    for _ in range(5):
        asking.fee(shop)

    assert not reached(shop, app)


def test_clock_of_a_test_store_brings_the_trial_forward(
    sandbox: Business, shop: Business, hooking: Hooking, clock: Any
) -> None:
    """At once, also just after the trial before."""
    app = hooking(SHIPPING, *[500] * 5, {"fee": 7}, 500, business=sandbox)
    elsewhere = hooking(SHIPPING, 500)
    open_it(sandbox, app)
    open_it(shop, elsewhere)

    breaker.bring_forward(business=sandbox, by=FIRST_PAUSE)
    assert asking.fee(sandbox) == 7
    open_it(sandbox, app)
    breaker.bring_forward(business=sandbox, by=FIRST_PAUSE)
    assert app.breaker.open_since == timezone.now() - FIRST_PAUSE
    assert reached(sandbox, app)
    assert not reached(sandbox, app)
    breaker.bring_forward(business=sandbox, by=2 * FIRST_PAUSE)
    assert reached(sandbox, app)
    assert not reached(shop, elsewhere)


# --- Several at once --------------------------------------------------------------------------------


def at_once(number: int, job: Any) -> None:
    barrier = threading.Barrier(number)

    def run() -> None:
        try:
            barrier.wait(timeout=10)
            job()
        finally:
            connection.close()

    with ThreadPoolExecutor(number) as threads:
        for future in [threads.submit(run) for _ in range(number)]:
            future.result()


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.spec(RULE, "Of those who come when the pause is over one makes the trial call")
def test_one_of_those_who_race_makes_the_trial(shop: Business, hooking: Hooking) -> None:
    app = hooking(SHIPPING, *[500] * 5, says({"fee": 1}, delay=0.5))
    with time_machine.travel("2026-11-20T12:00:00Z", tick=False):
        open_it(shop, app)
    with time_machine.travel("2026-11-20T12:01:00Z", tick=False):
        at_once(4, lambda: asking.fee(shop))

    assert len(app.receiver.requests) == 6
    assert [call.outcome for call in app.calls].count("BREAKER_OPEN") == 3
    assert app.breaker.open_until is None


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_failures_of_several_threads_are_all_counted_and_open_it_once(
    shop: Business, hooking: Hooking
) -> None:
    app = hooking(SHIPPING, Answer(status=500, delay=0.3))
    with time_machine.travel("2026-11-20T12:00:00Z", tick=False):
        at_once(4, lambda: asking.fee(shop))
        assert (app.breaker.failures, app.breaker.open_until) == (4, None)
        at_once(4, lambda: asking.fee(shop))

    assert (app.breaker.failures, app.breaker.opened_times) == (8, 1)


def test_breaker_that_another_process_creates_meanwhile_counts_both(
    shop: Business, hooking: Hooking, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = hooking(SHIPPING, 500)
    count = breaker._count  # noqa: SLF001

    def overtaken(key: breaker.HookKey, now: datetime) -> bool:
        counted = count(key, now)
        if not counted:
            Breaker.objects.create(installation_id=key[0], definition_id=key[1], failures=1, updated_at=now)
        return counted

    monkeypatch.setattr(breaker, "_count", overtaken)
    asking.fee(shop)
    assert app.breaker.failures == 2


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_reset_during_a_trial_is_not_undone_by_its_end(shop: Business, hooking: Hooking) -> None:
    app = hooking(SHIPPING, *[500] * 5, Answer(status=500, delay=0.5))
    with time_machine.travel("2026-11-20T12:00:00Z", tick=False):
        open_it(shop, app)

    def reset_when_asked() -> None:
        app.receiver.wait_for(6)
        breaker.reset(installation=app.installation, definition=app.definition)
        connection.close()

    with time_machine.travel("2026-11-20T12:01:00Z", tick=False), ThreadPoolExecutor(1) as thread:
        resetting = thread.submit(reset_when_asked)
        asking.fee(shop)
        resetting.result()
        assert reached(shop, app)


def test_trial_whose_caller_died_is_taken_over(
    shop: Business, broken: Hooked, clock: Any, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    open_it(shop, broken)
    clock.shift(31)
    row = broken.breaker
    late = breaker.admit(row, timeout=5.0, now=timezone.now())
    assert late
    assert breaker.admit(row, timeout=5.0, now=timezone.now()) is None, "as another process has read it"

    with django_assert_num_queries(2):  # who is asked, and the state of the breaker
        assert not reached(shop, broken)
    clock.shift(10)
    assert reached(shop, broken)
    breaker.succeeded((row.installation_id, row.definition_id), late, now=timezone.now())
    assert not reached(shop, broken)
