"""The portal's pages about hooks, which Dana sees and Sam doesn't."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import orjson
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Business, User
from common.http.exchanges import Exchange
from common.web import limits
from extensions.hooks import simulator
from extensions.models import Breaker, Definition, ExtensionState, HookCall
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.extensions.hooks import asking
from tests.pages import text_of, words_of
from tests.receivers import Answer, Receiver
from tests.strangers import every_thread_taken
from tests.webhooks.helpers import is_signed

SHIPPING = "checkout.shipping_rates"


@pytest.fixture
def receiver() -> Any:
    with Receiver() as running:
        yield running


@pytest.fixture
def hook(app: App, installation: Installation, receiver: Receiver) -> Definition:
    """Asks `receiver` for a fee, on Dana's sandbox store."""
    app.webhook_url = receiver.url
    app.save()
    return factories.hook(app, SHIPPING, timeout=600, url="rates")


@pytest.fixture
def page(dana: User) -> Client:
    client = Client()
    client.force_login(dana)
    return client


def url(name: str, app: App, *more: Any) -> str:
    return reverse(f"portal:{name}", args=[app.slug, *more])


def fail(sandbox: Business, receiver: Receiver, times: int) -> None:
    receiver.respond_with(500)
    for _ in range(times):
        asking.fee(sandbox)


def test_app_without_hooks_shows_what_hooks_are(page: Client, app: App) -> None:
    assert "No hook yet" in text_of(page.get(url("hooks", app)))


@pytest.mark.spec(
    "Contract 6 Hooks", "Every call is recorded with its time, outcome and what the shop did instead"
)
def test_hook_shows_its_health(
    page: Client, app: App, hook: Definition, sandbox: Business, receiver: Receiver
) -> None:
    receiver.respond_with(Answer(body=b'{"fee": 90}'))
    asking.fee(sandbox)
    fail(sandbox, receiver, 1)

    overview = text_of(page.get(url("hooks", app)))
    assert f"{receiver.url}rates" in overview
    assert "600 ms" in overview
    assert "1 of 2" in overview
    assert "Failing" in overview
    calls = text_of(page.get(url("hook", app, SHIPPING)))
    assert "Answered" in calls
    assert "own fee was kept." in calls
    failed = HookCall.objects.get(outcome="HTTP_ERROR")
    detail = text_of(page.get(url("hook_call", app, SHIPPING, failed.pk)))
    assert "It answered 500." in detail


@pytest.mark.long
def test_hook_that_works_again_says_since_when(
    page: Client, app: App, hook: Definition, sandbox: Business, receiver: Receiver
) -> None:
    """Beside failures of days ago, which it counts, too."""
    fail(sandbox, receiver, 2)
    receiver.respond_with(Answer(body=b'{"fee": 90}'))
    now = timezone.now()
    for days in (5, 4, 3, 2):
        HookCall.objects.filter(called_at__gt=now - timedelta(days=1)).update(
            called_at=now - timedelta(days=days)
        )
        asking.fee(sandbox)
    shown = words_of(page.get(url("hooks", app)))
    assert f"Working since {now - timedelta(days=4):%-d %b}" in shown
    assert "2 of 6 None of the last 4" in shown
    assert f"Working since {now - timedelta(days=4):%-d %b}" in words_of(page.get(url("hook", app, SHIPPING)))
    HookCall.objects.exclude(outcome="ANSWERED").delete()
    shown = words_of(page.get(url("hooks", app)))
    assert ("Working since" in shown, "0 of 4" in shown) == (False, True)


@pytest.mark.long
@pytest.mark.spec("Contract 6 Circuit breaker", "It is shown to the developer, who can reset it")
def test_developer_sees_and_resets_a_breaker(
    page: Client,
    app: App,
    hook: Definition,
    sandbox: Business,
    receiver: Receiver,
    installation: Installation,
) -> None:
    fail(sandbox, receiver, 5)
    assert "Skipped in some stores" in text_of(page.get(url("hooks", app)))
    assert sandbox.name.replace("'", "&#x27;") in text_of(page.get(url("hook", app, SHIPPING)))

    answer = page.post(url("hook_reset", app, SHIPPING, installation.pk), follow=True)

    assert "calls the hook again" in text_of(answer)
    assert not Breaker.objects.exists()
    fail(sandbox, receiver, 1)
    assert len(receiver.requests) == 6


def test_call_keeps_the_request_of_a_sandbox_store_only(
    page: Client, app: App, hook: Definition, sandbox: Business, receiver: Receiver, shop: Business
) -> None:
    receiver.respond_with(Answer(body=b'{"fee": 90}'))
    asking.fee(sandbox)
    call = HookCall.objects.get()
    assert call.request_body == receiver.requests[0].body.decode()
    shown = page.get(url("hook_call", app, SHIPPING, call.pk))
    assert "&quot;hookPoint&quot;" in text_of(shown)
    assert "{\n  &quot;fee&quot;: 90\n}" in shown.content.decode()

    factories.approve(app)
    factories.installation(app, shop)
    asking.fee(shop)
    call = HookCall.objects.get(installation__business=shop)
    assert call.outcome == "ANSWERED"
    assert call.request_body == ""
    assert "Not kept" in text_of(page.get(url("hook_call", app, SHIPPING, call.pk)))


def test_call_shows_its_order_unless_that_was_refused(
    page: Client, app: App, hook: Definition, sandbox: Business, receiver: Receiver
) -> None:
    receiver.respond_with(Answer(body=b'{"fee": 90}'))
    for order_id in (factories.order(sandbox).pk, uuid4()):
        asking.fee(sandbox, order_id=order_id)
    placed, refused = HookCall.objects.order_by("id")

    for call, is_shown in ((placed, True), (refused, False)):
        shown = text_of(page.get(url("hook_call", app, SHIPPING, call.pk)))
        assert (str(call.order_id) in shown) is is_shown


@pytest.mark.parametrize("answered", [b"<script>alert(1)</script>", b"\xff\xfe"])
def test_response_of_an_app_is_shown_as_text(
    page: Client, app: App, hook: Definition, sandbox: Business, receiver: Receiver, answered: bytes
) -> None:
    receiver.respond_with(Answer(body=answered))
    asking.fee(sandbox)

    shown = text_of(page.get(url("hook_call", app, SHIPPING, HookCall.objects.get().pk)))
    assert "<script>alert" not in shown


def test_running_order_shows_other_apps_hooks_by_priority(
    page: Client, app: App, hook: Definition, sandbox: Business, sam: User
) -> None:
    other = factories.app(sam, name="Other Rates", webhook_url="https://other.example.com/")
    factories.approve(other)
    factories.hook(other, SHIPPING, priority=20)
    factories.installation(other, sandbox)
    shown = (
        text_of(page.get(url("hook", app, SHIPPING))).partition("Running order")[2].partition("Last 25")[0]
    )
    assert shown.index("Other Rates") < shown.index(app.name)
    assert "This app" in shown
    Installation.objects.filter(app=app).update(uninstalled_at=timezone.now())
    shown = text_of(page.get(url("hook", app, SHIPPING)))
    assert "hook doesn&#x27;t run there now" in shown or "hook doesn't run there now" in shown


def test_stores_that_switched_a_hook_off_are_counted(
    page: Client, app: App, hook: Definition, installation: Installation, shop: Business
) -> None:
    assert "Switched off</dt>" not in text_of(page.get(url("hook", app, SHIPPING)))
    factories.approve(app)
    ended = factories.installation(app, shop, uninstalled_at=timezone.now())
    for each in (installation, ended):
        ExtensionState.objects.create(installation=each, definition=hook, is_on=False)
    assert "by 1 store" in text_of(page.get(url("hooks", app)))
    assert "By 1 store" in text_of(page.get(url("hook", app, SHIPPING)))


# --- Trying -----------------------------------------------------------------------------------------


def attempt(page: Client, app: App, data: str) -> Any:
    return page.post(url("hook_try", app, SHIPPING), {"request_data": data})


def test_form_begins_with_the_example(
    page: Client, app: App, hook: Definition, installation: Installation
) -> None:
    shown = text_of(page.get(url("hook_try", app, SHIPPING)))
    assert "Almaty" in shown
    assert "businessId" not in shown
    factories.hook(app, "checkout.payment_methods")
    methods = text_of(page.get(url("hook_try", app, "checkout.payment_methods")))
    assert str(installation.business_id) in methods


def test_hook_is_called_as_checkout_would(
    page: Client, app: App, hook: Definition, receiver: Receiver, installation: Installation
) -> None:
    receiver.respond_with(Answer(body=b'{"fee": 90, "more": 1}'))

    shown = text_of(attempt(page, app, '{"subtotal": 5}'))

    assert "Checkout would use this response" in shown
    (request,) = receiver.requests
    assert request.target == "/rates"
    assert is_signed(request, installation.webhook_secret)
    sent = orjson.loads(request.body)
    assert (sent["hookPoint"], sent["data"]) == (SHIPPING, {"subtotal": 5})
    assert sent["businessId"] == str(installation.business_id)
    assert installation.webhook_secret not in shown
    assert not HookCall.objects.exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(body=b"{}"), "It is missing."),
        (Answer(body=b'{"fee": "9"}'), "is not of type"),
        (Answer(body=b"[]"), "is not of type"),
        (Answer(body=b"nothing"), "The answer is not JSON"),
        (Answer(body=b'{"fee": 9, "x": ' + b"[" * 900 + b"]" * 900 + b"}"), "more than 64 levels deep"),
        (Answer(status=503), "It answered 503."),
        (Answer(body=b'{"fee": 9}', delay=2), "No answer within 600 ms."),
    ],
)
def test_wrong_response_is_explained_field_by_field(
    page: Client, app: App, hook: Definition, receiver: Receiver, answer: Answer, message: str
) -> None:
    receiver.respond_with(answer)

    shown = text_of(attempt(page, app, "{}"))

    assert "Checkout would count this as a failure" in shown
    assert message in shown
    assert not Breaker.objects.exists()


def test_fields_of_each_method_are_checked(
    page: Client, app: App, hook: Definition, receiver: Receiver
) -> None:
    factories.hook(app, "checkout.payment_methods")
    methods = [{"id": "a", "name": "A", "icon": "http://x.example/i.png"}, {"id": "b"}]
    receiver.respond_with(Answer(body=orjson.dumps({"methods": methods})))

    answer = page.post(url("hook_try", app, "checkout.payment_methods"), {"request_data": "{}"})

    trial = answer.context["trial"]
    assert [(each.path, bool(each.problem)) for each in trial.fields] == [
        ("methods", False),
        ("methods[0].id", False), ("methods[0].name", False),
        ("methods[0].description", False), ("methods[0].icon", True),
        ("methods[1].id", False), ("methods[1].name", True),
        ("methods[1].description", False), ("methods[1].icon", False),
    ]  # fmt: skip
    assert trial.failure == "methods[1].name: It is missing."


@pytest.mark.parametrize(
    ("point", "answer", "fields"),
    [
        (SHIPPING, {"fee": 5}, [("fee", "whole number, 0 or more", True, "5")]),
        (
            "order.validate",
            {"valid": True, "reason": None},
            [("valid", "true or false", True, "true"), ("reason", "text", False, "null")],
        ),
        (
            "checkout.create_payment",
            {"invoiceId": "7"},
            [
                ("paymentUrl", "HTTPS address", False, None),
                ("qrCode", "text", False, None),
                ("invoiceId", "text", False, '"7"'),
                ("expiresAt", "ISO 8601 time", False, None),
            ],
        ),
    ],
)
def test_fields_say_what_is_expected(
    page: Client, app: App, hook: Definition, receiver: Receiver, point: str, answer: Any, fields: list[Any]
) -> None:
    if point != SHIPPING:
        factories.hook(app, point)
    receiver.respond_with(Answer(body=orjson.dumps(answer)))

    trial = page.post(url("hook_try", app, point), {"request_data": "{}"}).context["trial"]

    assert [(each.path, each.expected, each.required, each.given) for each in trial.fields] == fields
    assert trial.failure == ""


@pytest.mark.parametrize(("length", "given"), [(118, f'"{"x" * 118}"'), (119, f'"{"x" * 118}…')])
def test_long_value_is_shown_by_its_beginning(
    page: Client, app: App, hook: Definition, receiver: Receiver, length: int, given: str
) -> None:
    receiver.respond_with(Answer(body=orjson.dumps({"fee": "x" * length})))

    (field,) = attempt(page, app, "{}").context["trial"].fields
    assert field.given == given


@pytest.mark.parametrize(("took_ms", "percent"), [(450, 75), (700, 100)])
def test_call_says_its_share_of_the_timeout(took_ms: int, percent: int) -> None:
    exchange = Exchange(200, {}, b"", False, took_ms, None)
    trial = simulator.SimulatedCall("", "", {}, exchange, timeout_ms=600)

    assert trial.share_of_timeout == percent


@pytest.mark.parametrize(
    ("point", "answer", "problems"),
    [
        ("checkout.payment_methods", {"methods": 5}, 1),
        ("checkout.payment_methods", {"methods": [5, {"id": "a", "name": "A", "icon": 5}]}, 2),
        ("checkout.payment_methods", {"methods": [], "paymentUrl": "no"}, 0),
        ("checkout.payment_methods", [5], 1),
        ("checkout.create_payment", {"paymentUrl": 5, "expiresAt": 5}, 2),
        ("checkout.create_payment", [], 1),
        ("checkout.create_payment", {"qrCode": [{"id": 5}]}, 1),
        (SHIPPING, {"fee": 5, "paymentUrl": "no", "expiresAt": "soon"}, 0),
        (SHIPPING, {"fee": 5, "methods": [{"id": "a", "name": "A", "icon": "no"}]}, 0),
    ],
)
def test_wrong_types_and_fields_of_other_points(
    page: Client, app: App, hook: Definition, receiver: Receiver, point: str, answer: Any, problems: int
) -> None:
    """Each wrong field is a problem once. A field that only another hook point knows is ignored."""
    if point != SHIPPING:
        factories.hook(app, point)
    receiver.respond_with(Answer(body=orjson.dumps(answer)))

    trial = page.post(url("hook_try", app, point), {"request_data": "{}"}).context["trial"]

    assert sum(bool(each.problem) for each in trial.fields) + len(trial.problems) == problems


@pytest.mark.parametrize("data", ["", "{", "[]", '"text"', "NaN", '{"a": ' * 300 + "1" + "}" * 300])
def test_request_that_is_no_object_is_not_sent(
    page: Client, app: App, hook: Definition, receiver: Receiver, data: str
) -> None:
    shown = text_of(attempt(page, app, data), 422)

    assert "Enter" in shown or "required" in shown
    assert not receiver.requests


def test_trying_needs_a_test_install(page: Client, app: App) -> None:
    factories.hook(app, SHIPPING)
    factories.hook(app, "checkout.payment_methods")

    for point in (SHIPPING, "checkout.payment_methods"):
        shown = text_of(page.get(url("hook_try", app, point)))
        assert "Install the app on your sandbox store first" in shown
    assert attempt(page, app, "{}").status_code == 422


def test_trying_needs_a_webhook_url(page: Client, app: App, hook: Definition) -> None:
    App.objects.filter(pk=app.pk).update(webhook_url="")
    assert "The app has no Webhook URL to call." in text_of(attempt(page, app, "{}"), 409)


def test_trying_needs_a_place_at_once_while_every_thread_is_taken(
    page: Client, app: App, hook: Definition, receiver: Receiver
) -> None:
    with every_thread_taken():
        assert attempt(page, app, "{}").status_code == 503
    assert not receiver.requests
    assert attempt(page, app, "{}").status_code == 200


def test_trying_obeys_the_address_policy(
    page: Client, app: App, hook: Definition, receiver: Receiver, settings: Any
) -> None:
    settings.ALLOW_LOCAL_DESTINATIONS = False

    assert "not on the public internet" in text_of(attempt(page, app, "{}"))
    assert not receiver.connections


def test_trying_is_limited(
    page: Client,
    app: App,
    hook: Definition,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    stopped_clock: None,
) -> None:
    monkeypatch.setattr("extensions.hooks.simulator.PER_MINUTE", 2)
    limits.counter.cache_clear()
    for _ in range(2):
        assert attempt(page, app, "{}").status_code == 200

    assert "Try again in" in text_of(attempt(page, app, "{}"), 429)
    assert len(receiver.requests) == 2


# --- Access --------------------------------------------------------------------------------------


@pytest.mark.long
def test_pages_are_the_developers_own(
    app: App, hook: Definition, sandbox: Business, receiver: Receiver, sam: User, installation: Installation
) -> None:
    fail(sandbox, receiver, 5)
    stranger = Client()
    stranger.force_login(sam)
    call = HookCall.objects.first()
    assert call

    assert stranger.get(url("hooks", app)).status_code == 404
    assert stranger.get(url("hook", app, SHIPPING)).status_code == 404
    assert stranger.get(url("hook_call", app, SHIPPING, call.pk)).status_code == 404
    assert stranger.post(url("hook_try", app, SHIPPING), {"request_data": "{}"}).status_code == 404
    assert stranger.post(url("hook_reset", app, SHIPPING, installation.pk)).status_code == 404
    assert Breaker.objects.exists()
    own = factories.app(sam)
    factories.hook(own, SHIPPING)
    assert stranger.get(url("hook_call", own, SHIPPING, call.pk)).status_code == 404
    assert stranger.post(url("hook_reset", own, SHIPPING, installation.pk)).status_code == 404
    assert Breaker.objects.exists()


def test_unknown_hook_is_not_found(page: Client, app: App) -> None:
    assert page.get(url("hook", app, "checkout.nothing")).status_code == 404
    assert page.get(url("hook", app, "a\0b")).status_code == 404
    assert page.get(url("hook_call", app, SHIPPING, "x")).status_code == 404
