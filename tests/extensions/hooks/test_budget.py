"""Time: what a call may take, and what all of them may take together."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.models import Business
from extensions.hooks import skipped
from extensions.hooks.calling import begin
from extensions.models import Breaker, HookCall
from installations.models import Installation
from installations.services.lifecycle import uninstall
from stores import hookpoints
from stores.models import Order, Product
from stores.services import checkout
from stores.services.checkout import place_order
from tests import factories
from tests.extensions.hooks import asking
from tests.factories import order_request
from tests.hooking import Hooking, says
from tests.receivers import Receiver
from tests.strangers import every_thread_taken, places_taken, visit

pytestmark = pytest.mark.timed

SHIPPING = "checkout.shipping_rates"
VALIDATE = "order.validate"
DISCOUNTS = "order.calculate_discounts"
HANGS = says({}, delay=30.0)
FAILURE = "Contract 6 Hooks"


@pytest.mark.long
@pytest.mark.spec(FAILURE, "Each call gets the smaller of its timeout and what is left of the budget")
def test_call_ends_with_the_budget(shop: Business, hooking: Hooking) -> None:
    app = hooking(SHIPPING, HANGS, timeout=10_000)
    began = time.monotonic()

    assert asking.fee(shop, flow=hookpoints.Flow.start(0.3)) == 350
    assert 0.29 < time.monotonic() - began < 0.6
    assert app.call.outcome == "TIMEOUT"


@pytest.mark.spec(FAILURE, "With nothing left a call counts as failed without being made")
def test_nothing_left_is_a_failure_without_a_call(shop: Business, hooking: Hooking) -> None:
    hooking(SHIPPING, HANGS, priority=1)
    later = [hooking(SHIPPING, {"fee": 1}, priority=2) for _ in range(2)]

    assert asking.fee(shop, flow=hookpoints.Flow.start(0.2)) == 350
    for each in later:
        assert (each.call.outcome, each.call.duration_ms) == ("NO_TIME_LEFT", 0)
        assert each.call.fallback == "The store's own fee was kept."
        assert not each.receiver.requests


@pytest.mark.long
def test_hook_that_got_no_fair_share_of_time_is_not_blamed(shop: Business, hooking: Hooking) -> None:
    hooking(SHIPPING, says({"fee": 7}, delay=0.1), priority=1)
    hurried = hooking(SHIPPING, HANGS, priority=2)

    assert asking.fee(shop, flow=hookpoints.Flow.start(0.3)) == 7
    assert hurried.call.outcome == "TIMEOUT"
    assert not Breaker.objects.exists()


@pytest.mark.long
@pytest.mark.spec(FAILURE, "The three points before an order is saved share one budget")
def test_points_before_the_order_share_one_budget(
    shop: Business, hooking: Hooking, bread: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = hookpoints.Flow.start
    monkeypatch.setattr(checkout.Flow, "start", lambda **options: start(0.5, **options))
    hooking(VALIDATE, HANGS, timeout=300)
    hooking(DISCOUNTS, HANGS)
    unasked = hooking(SHIPPING, {"fee": 1})

    order = place_order(business=shop, request=order_request((bread, 1)))

    assert (order.amount, order.validation) == (1000, "NOT_VALIDATED")
    assert unasked.call.outcome == "NO_TIME_LEFT"


@pytest.mark.slow
@pytest.mark.spec(FAILURE, "Apps that hang hold an order up by at most ten seconds")
def test_order_is_saved_within_ten_and_a_half_seconds(
    shop: Business, hooking: Hooking, bread: Product
) -> None:
    for point in (VALIDATE, VALIDATE, DISCOUNTS, SHIPPING, SHIPPING):
        hooking(point, HANGS, priority=HookCall.objects.count() + 1, timeout=6000)
        hooking(point, HANGS, priority=500, timeout=6000)
    began = time.monotonic()

    order = place_order(business=shop, request=order_request((bread, 1)))

    assert 9.9 < time.monotonic() - began < 10.5
    assert order.validation == "NOT_VALIDATED"
    skipped.flush()
    assert HookCall.objects.count() == 10
    assert set(HookCall.objects.values_list("outcome", flat=True)) == {"TIMEOUT", "NO_TIME_LEFT"}


def test_call_that_is_waited_for_no_longer_says_how_long_it_was(
    shop: Business, hooking: Hooking, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = hooking(SHIPPING, HANGS)
    monkeypatch.setattr("extensions.hooks.asking.monotonic", iter([100.0, 102.5]).__next__)

    with places_taken():
        assert visit(lambda: asking.fee(shop)) == 350
    assert (app.call.outcome, app.call.duration_ms) == ("NO_TIME_LEFT", 2500)
    assert not Breaker.objects.exists(), "the hook isn't to blame"


def test_hooks_without_a_place_are_not_called(
    shop: Business, hooking: Hooking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While every thread is taken, a request waits without one for a moment only, which the first hook used up."""
    first = hooking(SHIPPING, HANGS, priority=1)
    later = [hooking(SHIPPING, {"fee": 1}, priority=2) for _ in range(2)]
    begun: list[str] = []

    def watched(point: str, url: str, *arguments: Any, **options: Any) -> Any:
        begun.append(url)
        return begin(point, url, *arguments, **options)

    monkeypatch.setattr("extensions.hooks.calling.begin", watched)
    with every_thread_taken():
        assert visit(lambda: asking.fee(shop)) == 350
    assert [app.call.outcome for app in (first, *later)] == ["NO_TIME_LEFT"] * 3
    assert [url.startswith(first.receiver.url) for url in begun] == [True]


def test_hooks_are_read_once_until_an_app_was_asked(shop: Business, hooking: Hooking) -> None:
    verdict = hooking(VALIDATE, {"valid": True})
    flow = hookpoints.Flow.start()

    def statements(ask: Callable[[], object]) -> int:
        with CaptureQueriesContext(connection) as captured:
            ask()
        return sum("extensions_livedefinition" in each["sql"] for each in captured)

    assert statements(lambda: asking.fee(shop, flow=flow)) == 1
    assert statements(lambda: asking.verdict(shop, flow=flow)) == 0
    uninstall(installation=Installation.objects.get(app=verdict.app))
    assert asking.verdict(shop, flow=flow).valid
    assert len(verdict.receiver.requests) == 1, "its app was uninstalled after that call"


@pytest.mark.spec(FAILURE, "A hook call never happens inside a database transaction")
@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_an_app_is_asked(
    shop: Business, hooking: Hooking, bread: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside: list[bool] = []

    def watched(*args: Any, **options: Any) -> Any:
        inside.append(connection.in_atomic_block)
        return begin(*args, **options)

    monkeypatch.setattr("extensions.hooks.calling.begin", watched)
    hooking(VALIDATE, {"valid": True})
    hooking(DISCOUNTS, {"discount": 1})
    hooking(SHIPPING, {"fee": 2})
    with Receiver() as payments:
        wallet = hooking("checkout.payment_methods", {"methods": [{"id": "a", "name": "A"}]})
        factories.hook(wallet.app, "checkout.create_payment")
        wallet.receiver.respond_with(says({"methods": [{"id": "a", "name": "A"}]}), says({}))
        request = order_request((bread, 1), payment_method=f"{wallet.app.slug}:a")
        order = place_order(business=shop, request=request)
        assert not payments.requests

    assert inside == [False] * 5
    assert order.payment.status == "PENDING"


@pytest.mark.django_db(transaction=True)
def test_asking_inside_a_transaction_is_refused(shop: Business, hooking: Hooking) -> None:
    app = hooking(SHIPPING, {"fee": 1})

    with transaction.atomic(), pytest.raises(RuntimeError, match="must not run inside a transaction"):
        asking.fee(shop)
    assert not app.receiver.requests


@pytest.mark.spec(FAILURE, "It never breaks the flow")
def test_ledger_that_fails_costs_nobody_the_order(
    shop: Business, hooking: Hooking, bread: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise OSError("The disk is full.")

    monkeypatch.setattr("extensions.hooks.ledger.record", broken)
    hooking(DISCOUNTS, {"discount": 100})

    assert place_order(business=shop, request=order_request((bread, 1))).discount == 100
    assert Order.objects.exists()


def tables_asked(shop: Business, **asked: Any) -> list[str]:
    """The statements of one question that read or write rows, by their first word."""
    with CaptureQueriesContext(connection) as captured:
        asking.fee(shop, **asked)
    words = [query["sql"].split()[0] for query in captured]
    return [word for word in words if word in ("SELECT", "INSERT", "UPDATE", "DELETE")]


def test_statements_of_a_point_do_not_grow_with_its_apps(shop: Business, hooking: Hooking) -> None:
    assert tables_asked(shop) == ["SELECT"], "Who is asked."
    hooking(SHIPPING, {"fee": 1})
    assert tables_asked(shop) == ["SELECT", "SELECT", "INSERT"], (
        "The state of their breakers, and the ledger."
    )
    hooking(SHIPPING, {"fee": 1})
    hooking(SHIPPING, {"fee": 1})
    assert tables_asked(shop) == ["SELECT", "SELECT", "INSERT"]


def test_failure_costs_one_statement_more(shop: Business, hooking: Hooking) -> None:
    hooking(SHIPPING, 500)
    asking.fee(shop)
    assert tables_asked(shop) == ["SELECT", "SELECT", "UPDATE", "INSERT"]


def test_call_that_got_no_fair_share_of_time_costs_its_breaker_no_statement(
    shop: Business, hooking: Hooking
) -> None:
    hooking(SHIPPING, HANGS)
    assert tables_asked(shop, flow=hookpoints.Flow.start(0.1)) == ["SELECT", "SELECT", "INSERT"]
