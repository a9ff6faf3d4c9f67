"""Hooks of a version that rolls, asked beside those that stores run (contract, section 10)."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import orjson
import pytest
import time_machine
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Business, User
from common.processes.write_behind import WriteBehind
from common.web.limits import rate_limits
from extensions.hooks import shadow
from extensions.models import Breaker, Definition, ExtensionState, HookCall, ShadowCall
from extensions.releases.watch import look
from installations.models import Installation
from installations.services.lifecycle import uninstall
from installations.services.pause import pause
from marketplace.models import App
from marketplace.services import releases, reviews
from stores.hookpoints import HookPoint
from tests import factories
from tests.clients import Api
from tests.developers.api.releases.rolling import RELEASES, approve, change, path, save, seen, stores
from tests.extensions.hooks import asking
from tests.extensions.manifests import block, hook
from tests.hooking import says
from tests.ports import free_port
from tests.receivers import Receiver
from tests.waiting import wait_until
from webhooks.messages.signing import hook_signature_headers

Servers = tuple[Receiver, Receiver]


@pytest.fixture
def servers() -> Iterator[Servers]:
    """Of the version that stores run, which gives a discount of 100, and of the new one, which gives 900."""
    with Receiver() as old, Receiver() as new:
        old.respond_with(says({"discount": 100}))
        new.respond_with(says({"discount": 900}))
        yield old, new


@pytest.fixture
def hooked(api: Api, first: App, servers: Servers) -> App:
    """Version 1 asks the old server."""
    save(api, first, {"hooks": [hook(timeout=600)], "blocks": [block()]})
    return approve(change(first, webhook_url=f"{servers[0].url}v", version="1.5.0"), "ALL")


@pytest.fixture
def four(hooked: App) -> list[Installation]:
    return stores(hooked, 4)


@pytest.fixture
def shadowed(hooked: App, four: list[Installation], servers: Servers) -> App:
    """Version 2, which asks the new server, in one of four stores, and in the shadow of the others."""
    return approve(change(hooked, webhook_url=f"{servers[1].url}v", version="2.0.0"), shadow=True)


@pytest.fixture
def outside(shadowed: App, four: list[Installation]) -> Installation:
    return next(each for each in map(seen, four) if not each.is_in_release)


def ask_in_shadow() -> None:
    """What the thread of a process does, until every call is over."""
    calls = shadow.waiting()
    calls.flush()
    wait_until(lambda: all(each.pending.done() for each in calls.under_way))
    calls.flush()
    assert calls.under_way == []


def figures(api: Api, app: App) -> dict[str, Any] | None:
    found: dict[str, Any] | None = api("get", path(app)).json().get("shadow")
    return found


@pytest.mark.long
@pytest.mark.spec(
    RELEASES, "Shadow: the new version's hook is asked the same, signed and marked, and its answer not used"
)
def test_same_question(api: Api, shadowed: App, outside: Installation, servers: Servers) -> None:
    old, new = servers
    assert figures(api, shadowed) == {"asked": 0, "invalid": 0, "p95Ms": None}
    assert asking.discount(outside.business).amount == 100
    assert new.requests == [], "the shopper's request only left the question"
    ask_in_shadow()
    (used,), (asked,) = old.requests, new.requests
    assert "x-webhook-shadow" not in used.headers
    assert (asked.target, asked.headers["x-webhook-shadow"]) == ("/v/hooks/discounts", "true")
    assert asked.headers["x-webhook-business-id"] == str(outside.business_id)
    stamp = int(asked.headers["x-webhook-timestamp"])
    signed = hook_signature_headers(outside.webhook_secret, stamp, asked.body)
    assert asked.headers["x-webhook-signature"] == signed["X-Webhook-Signature"]
    first, second = orjson.loads(used.body), orjson.loads(asked.body)
    assert {**first, "timestamp": ""} == {**second, "timestamp": ""}
    call = ShadowCall.objects.get()
    assert (call.outcome, call.hook_point, call.version.version) == ("ANSWERED", HookPoint.DISCOUNTS, "2.0.0")
    assert figures(api, shadowed) == {"asked": 1, "invalid": 0, "p95Ms": call.duration_ms}


@pytest.mark.long
@pytest.mark.spec(RELEASES, "Shadow: a store that runs the new version asks once")
def test_store_of_the_step(shadowed: App, four: list[Installation], servers: Servers) -> None:
    inside = next(each for each in map(seen, four) if each.is_in_release)
    assert asking.discount(inside.business).amount == 900
    assert not shadow.waiting().has_work
    ask_in_shadow()
    assert ["x-webhook-shadow" in each.headers for each in servers[1].requests] == [False]


@pytest.mark.long
def test_sandbox_stores_ask_once(shadowed: App, sandbox: Business, sam: User) -> None:
    for store, is_test in ((sandbox, False), (Business.objects.sandbox_of(sam), True)):
        factories.installation(shadowed, store, is_test=is_test, agreed_version=shadowed.earlier_version)
        asking.discount(store)
        assert HookCall.objects.filter(installation__business=store).exists()
        assert not shadow.waiting().has_work


@pytest.mark.long
@pytest.mark.spec(
    RELEASES, "Shadow: counts in no figure, no breaker and not for the gate; invalid ones are listed"
)
def test_invalid_answers(
    api: Api, shadowed: App, outside: Installation, servers: Servers, client: Any, dana: User
) -> None:
    servers[1].respond_with(says({"discount": -1}))
    with time_machine.travel(timezone.now(), tick=False) as clock:
        for _ in range(3):
            for _ in range(8):
                assert asking.discount(outside.business).amount == 100
            ask_in_shadow()
            clock.shift(61)
        look()
        found = api("get", path(shadowed)).json()
    assert (found["state"], found["shadow"]["asked"], found["shadow"]["invalid"]) == ("ROLLING", 24, 24)
    assert (found["health"]["new"]["calls"], found["health"]["old"]["calls"]) == (0, 24)
    assert HookCall.objects.filter(outcome="ANSWERED").count() == HookCall.objects.count() == 24
    assert not Breaker.objects.exists()
    client.force_login(dana)
    for move in ("halt", "resume"):  # which the page needs more statements for
        api("post", path(shadowed, move), {})
    with CaptureQueriesContext(connection) as statements:
        page = client.get("/portal/apps/stars/release/").content.decode()
    assert len(statements) <= 20
    text = " ".join(page.split())
    assert "Asked</dt><dd>24</dd> <dt>Without a valid answer</dt><dd>24</dd>" in text
    assert text.count("discount: ") == shadow.SHOWN, ShadowCall.objects.latest("id").problem


@pytest.mark.long
@pytest.mark.spec(RELEASES, "Shadow: never for checkout.create_payment")
def test_no_payment_in_the_shadow(api: Api, hooked: App, servers: Servers) -> None:
    points = [HookPoint.PAYMENT_METHODS, HookPoint.CREATE_PAYMENT]
    save(api, change(hooked), {"hooks": [hook(hookPoint=each, url="/pay") for each in points]})
    app = approve(App.objects.get(pk=hooked.pk), "ALL")
    (store, other) = stores(app, 2)
    for each in servers:
        each.respond_with(says({"methods": [{"id": "bell", "name": "Bell Pay"}]}))
    approve(change(app, webhook_url=f"{servers[1].url}v", version="2.0.0"), shadow=True)
    outside = next(each for each in map(seen, (store, other)) if not each.is_in_release)
    assert [each.name for each in asking.methods(outside.business)] == ["Bell Pay"]
    ask_in_shadow()
    assert len(servers[1].requests) == 1
    servers[0].respond_with(says({"paymentUrl": "https://pay.example.com/1"}))
    order = factories.order(outside.business, payment_method=f"{app.slug}:bell")
    asking.hookpoints.ask_create_payment(order=order)
    ask_in_shadow()
    assert (len(servers[0].requests), len(servers[1].requests)) == (2, 1)


def _switch_off(app: App, each: Installation) -> None:
    ExtensionState.objects.create(
        installation=each, definition=Definition.objects.get(app=app, key=HookPoint.DISCOUNTS), is_on=False
    )


def _reach_all(app: App, each: Installation) -> None:
    releases.advance(app=app)
    Installation.objects.filter(pk=each.pk).update(
        followed_version=app.rolling_version, followed_at=timezone.now()
    )


def _suspend(app: App, each: Installation) -> None:
    reviews.suspend(app=app, reviewer=factories.reviewer("rob@example.com"), reason="It failed.")


ENDS: dict[str, Callable[[App, Installation], Any]] = {
    "uninstall": lambda app, each: uninstall(installation=each, by=each.business.owner),
    "pause": lambda app, each: pause(installation=each, user=each.business.owner),
    "switch": _switch_off,
    "halt": lambda app, each: releases.halt(app=app, reason="Wrong prices."),
    "taken back": lambda app, each: releases.take_back(app=app, by=app.developer),
    "its own step": _reach_all,
    "suspension": _suspend,
}


@pytest.mark.long
@pytest.mark.spec(
    RELEASES, "Shadow: ends at once with an uninstall, a pause, a switch, a halt, and the store's own step"
)
@pytest.mark.parametrize("end", ENDS)
def test_ends_at_once(
    shadowed: App,
    outside: Installation,
    servers: Servers,
    end: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also for what a shopper's request has left a moment before."""
    asking.discount(outside.business)
    ENDS[end](shadowed, outside)
    ask_in_shadow()
    assert servers[1].requests == []
    assert not ShadowCall.objects.exists()
    assert "in the shadow" not in caplog.text


@pytest.mark.long
def test_switches_of_others_end_nothing(
    shadowed: App, outside: Installation, four: list[Installation], servers: Servers
) -> None:
    own = Definition.objects.get(app=shadowed, key=HookPoint.DISCOUNTS)
    other = Definition.objects.exclude(pk=own.pk).get(app=shadowed)
    elsewhere = next(each for each in four if each.pk != outside.pk)
    for installation, definition, is_on in (
        (elsewhere, own, False), (outside, other, False), (outside, own, True),
    ):  # fmt: skip
        ExtensionState.objects.create(installation=installation, definition=definition, is_on=is_on)
    asking.discount(outside.business)
    ask_in_shadow()
    assert len(servers[1].requests) == 1


@pytest.mark.long
def test_version_without_a_webhook_url(shadowed: App, outside: Installation) -> None:
    assert shadowed.rolling_version
    shadowed.rolling_version.webhook_url = ""
    shadowed.rolling_version.save()
    asking.discount(outside.business)
    ask_in_shadow()
    assert not ShadowCall.objects.exists()


@pytest.mark.long
@pytest.mark.spec(RELEASES, "Shadow: only as submitted, and only hooks that both versions have")
def test_not_chosen(api: Api, hooked: App, four: list[Installation], servers: Servers) -> None:
    factories.submit(factories.app(hooked.developer), release="STEPS", shadow=True)
    app = approve(change(hooked, webhook_url=f"{servers[1].url}v", version="2.0.0"))
    store = next(each for each in map(seen, four) if not each.is_in_release)
    asking.discount(store.business)
    ask_in_shadow()
    assert figures(api, app) is None
    assert servers[1].requests == []


@pytest.mark.long
@pytest.mark.spec(RELEASES, "Shadow: only as submitted, and only hooks that both versions have")
def test_hook_that_the_version_drops(
    api: Api, hooked: App, four: list[Installation], servers: Servers, caplog: pytest.LogCaptureFixture
) -> None:
    App.objects.filter(pk=hooked.pk).update(live_saves=False)
    save(api, hooked, {"hooks": [hook(hookPoint=HookPoint.VALIDATE, url="/check")]})
    approve(change(hooked, webhook_url=f"{servers[1].url}v", version="2.0.0"), shadow=True)
    store = next(each for each in map(seen, four) if not each.is_in_release)
    assert asking.discount(store.business).amount == 100
    asking.verdict(store.business)
    ask_in_shadow()
    assert servers[1].requests == [], "the merchant hasn't agreed to the new one"
    assert "in the shadow" not in caplog.text


@pytest.mark.long
@pytest.mark.spec(RELEASES, "Shadow: at most 10 a minute for a store and 30 for the app")
def test_budget(
    shadowed: App, four: list[Installation], servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow, "LONGEST_WAIT", 600)  # on a slow machine
    outside = [each for each in map(seen, four) if not each.is_in_release]
    start = timezone.now()
    with time_machine.travel(start, tick=False) as clock:
        for _ in range(11):
            asking.discount(outside[0].business)
        ask_in_shadow()
        assert len(servers[1].requests) == shadow.FOR_STORE
        for each in outside[1:]:
            for _ in range(11):
                asking.discount(each.business)
        ask_in_shadow()
        assert len(servers[1].requests) == 3 * shadow.FOR_STORE == shadow.FOR_APP
        clock.shift(61)
        asking.discount(outside[0].business)
        ask_in_shadow()
    assert len(servers[1].requests) == shadow.FOR_APP + 1


@pytest.mark.long
@pytest.mark.spec(RELEASES, "Shadow: what is too much or too old is dropped")
def test_dropped(
    shadowed: App, outside: Installation, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow, "MOST_WAITING", 2)
    for _ in range(3):
        asking.discount(outside.business)
    ask_in_shadow()
    assert len(servers[1].requests) == 2
    asking.discount(outside.business)
    monkeypatch.setattr(shadow, "LONGEST_WAIT", 0)
    ask_in_shadow()
    assert len(servers[1].requests) == 2


@pytest.mark.long
@pytest.mark.spec(RELEASES, "Shadow: what is too much or too old is dropped")
@pytest.mark.parametrize(("waited", "asked"), [(5.0, 1), (5.001, 0)])
def test_question_waits_five_seconds(
    shadowed: App,
    outside: Installation,
    servers: Servers,
    monkeypatch: pytest.MonkeyPatch,
    waited: float,
    asked: int,
) -> None:
    with monkeypatch.context() as clock:
        clock.setattr(shadow, "monotonic", iter([100.0, 100.0 + waited]).__next__)
        asking.discount(outside.business)
        ask_in_shadow()
    assert len(servers[1].requests) == asked


@pytest.mark.long
@pytest.mark.spec(RELEASES, "Shadow: what is too much or too old is dropped")
def test_few_calls_at_once(
    shadowed: App, outside: Installation, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow, "MOST_UNDER_WAY", 2)
    servers[1].respond_with(says({"discount": 0}, delay=1))
    for _ in range(3):
        asking.discount(outside.business)
    ask_in_shadow()
    assert [each.problem for each in ShadowCall.objects.all()] == ["No answer within 600 ms."] * 2


@pytest.mark.long
def test_call_that_was_broken_off_costs_no_other(shadowed: App, outside: Installation) -> None:
    asking.discount(outside.business)
    calls, broken_off = shadow.waiting(), Future[Any]()
    broken_off.cancel()
    calls.write_batch()
    (asked,) = calls.under_way
    wait_until(asked.pending.done)
    calls.under_way.insert(0, replace(asked, pending=broken_off))
    ask_in_shadow()
    assert ShadowCall.objects.count() == 1


@pytest.mark.long
@pytest.mark.parametrize("step", ["_form_of", "_judged"])
def test_failure_costs_one_question_alone(
    shadowed: App, outside: Installation, servers: Servers, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: Any) -> None:
        raise OperationalError("away")

    with monkeypatch.context() as away:
        away.setattr(shadow, step, fail)
        asking.discount(outside.business)
        ask_in_shadow()
    asking.discount(outside.business)
    ask_in_shadow()
    assert ShadowCall.objects.count() == 1


@pytest.mark.long
def test_question_of_a_version_is_not_put_to_the_next_one(
    shadowed: App, outside: Installation, servers: Servers
) -> None:
    asking.discount(outside.business)
    releases.take_back(app=shadowed, by=shadowed.developer)
    approve(change(App.objects.get(pk=shadowed.pk), version="3.0.0"), shadow=True)
    ask_in_shadow()
    assert servers[1].requests == []


@pytest.mark.long
@pytest.mark.redis
def test_nothing_is_asked_that_cannot_be_counted(
    shadowed: App, outside: Installation, servers: Servers, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    asking.discount(outside.business)
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    rate_limits.counter.cache_clear()
    ask_in_shadow()
    assert servers[1].requests == []
    assert "could not be asked" not in caplog.text, "no traceback for each question of an outage"


@pytest.mark.long
def test_nothing_is_asked_at_the_end_of_the_process(
    shadowed: App, outside: Installation, servers: Servers
) -> None:
    asking.discount(outside.business)
    shadow.waiting().stop()
    ask_in_shadow()
    assert servers[1].requests == []


@pytest.mark.long
def test_figures_are_of_one_version(api: Api, shadowed: App, outside: Installation) -> None:
    def recorded(version: Any, outcome: str) -> ShadowCall:
        return ShadowCall.objects.create(
            version=version, installation=outside, hook_point=HookPoint.DISCOUNTS, called_at=timezone.now(),
            duration_ms=7, outcome=outcome,
        )  # fmt: skip

    failed, _ = (recorded(shadowed.rolling_version, each) for each in ("HTTP_ERROR", "ANSWERED"))
    recorded(shadowed.earlier_version, "HTTP_ERROR")
    assert figures(api, shadowed) == {"asked": 2, "invalid": 1, "p95Ms": 7}
    assert shadowed.rolling_version
    assert shadow.failures_of(shadowed.rolling_version.release) == [failed]


@pytest.mark.long
@pytest.mark.spec(RELEASES, "Shadow: costs the shopper's request no statement and no wait")
def test_costs_nothing(shadowed: App, outside: Installation, servers: Servers) -> None:
    servers[1].respond_with(says({"discount": 0}, delay=3))
    with CaptureQueriesContext(connection) as found:
        asking.discount(outside.business)
    releases.halt(app=shadowed, reason="Wrong prices.")
    with CaptureQueriesContext(connection) as without:
        asking.discount(outside.business)
    assert [each["sql"][:20] for each in found] == [each["sql"][:20] for each in without]
    assert servers[1].requests == []


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.spec(RELEASES, "Shadow: a thread of the process asks, whatever shoppers do")
def test_thread(
    shadowed: App, outside: Installation, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # threads start again
    monkeypatch.setattr("extensions.hooks.shadow._shadow", calls := shadow.ShadowCalls())
    assert WriteBehind.start.__name__ == "start"
    asking.discount(outside.business)
    servers[1].wait_for(1)
    wait_until(ShadowCall.objects.exists)
    calls.stop()
    assert calls.name not in {thread.name for thread in threading.enumerate()}


@pytest.mark.long
@pytest.mark.spec(RELEASES, "submit takes shadow, with a release in steps")
def test_submission(api: Api, first: App) -> None:
    change(first, version="2.0.0")
    where = f"/developer/apps/{first.pk}/submit"
    for wrong in ({"shadow": True}, *({"shadow": each, "release": "STEPS"} for each in ("yes", 1, None, []))):
        refused = api("post", where, wrong)
        assert refused.status_code == 400
        assert [each["field"] for each in refused.json()["details"]] == ["shadow"]
    made = api("post", where, {"shadow": True, "release": "STEPS"})
    assert (made.status_code, made.json().get("shadow")) == (201, True)
    newest, before = api("get", f"/developer/apps/{first.pk}/submissions").json()["data"]
    assert (newest["shadow"], "shadow" in before) == (True, False)
