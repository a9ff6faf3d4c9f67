"""`/developer/apps/:appId/listener`: deliveries and hook calls of the sandbox for the developer's own machine."""

import base64
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from accounts.services.developer_tokens import create_developer_token, revoke_developer_token
from common.processes import wakeups
from developers.api import listening
from extensions.hooks.asking import HookCalls
from extensions.models import HookCall, RelayedCall
from installations import services
from installations.models import Installation
from marketplace.models import App
from stores.hookpoints import Flow, HookPoint, HookRequest
from tests import factories
from tests.clients import Api
from tests.pages import signed_in, text_of
from tests.receivers import Receiver
from tests.webhooks import helpers
from tests.webhooks.helpers import drain, is_signed, published, wait_until
from tests.webhooks.registered import receiver as receiver
from tests.webhooks.registered import webhook as webhook
from webhooks.engine import claims
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, DispatcherSlot, Webhook

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _fresh_waiters(settings: Any) -> Iterator[None]:
    """Nothing of another test wakes this one, and threads are counted by this test's settings."""
    wakeups.shared.cache_clear()
    listening.threads.cache_clear()
    yield
    wakeups.shared.cache_clear()
    listening.threads.cache_clear()


class Listener:
    """Its heartbeat lasts until `lose`, however slow the machine is."""

    def __init__(self, api: Api, app: App) -> None:
        self._api, self.path = api, f"/developer/apps/{app.id}/listener"
        self.attach()

    def attach(self, **body: Any) -> Any:
        answer = self._api("post", self.path, body)
        assert answer.status_code == 201, answer.json()
        self.record = answer.json()
        self.id = self.record["listenerId"]
        self._live()
        return self.record

    def _live(self) -> None:
        DispatcherSlot.objects.filter(pk=self.id).update(seen_at=Now() + timedelta(hours=1))

    def ask(self, **body: Any) -> Any:
        answer = self._api("post", f"{self.path}/{self.id}/work", {"wait": 0} | body)
        self._live()
        return answer

    def work(self, **body: Any) -> Any:
        answer = self.ask(**body)
        assert answer.status_code == 200, answer.json()
        return answer.json()

    def answer(self, **body: Any) -> int:
        answer = self._api("post", f"{self.path}/{self.id}/answers", body)
        assert answer.status_code == 200, answer.json()
        self._live()
        recorded: int = answer.json()["recorded"]
        return recorded


@pytest.fixture
def listener(api: Api, app: App, installation: Installation) -> Listener:
    return Listener(api, app)


def ok(lease: str, **changes: Any) -> dict[str, Any]:
    body = base64.b64encode(b"thanks").decode()
    return {"lease": lease, "httpStatus": 200, "durationMs": 12, "body": body} | changes


def lose(slot: str) -> None:
    """Its process was killed a while ago."""
    DispatcherSlot.objects.filter(pk=slot).update(seen_at=Now() - timedelta(seconds=10))


def test_delivery_goes_to_the_listener_and_its_answer_is_an_attempt(
    listener: Listener, webhook: Webhook, sandbox: Business, receiver: Receiver
) -> None:
    delivery = published(sandbox)
    drain()
    (handed,) = listener.work()["deliveries"]
    assert (handed["id"], handed["event"], handed["url"]) == (str(delivery.pk), "order.created", receiver.url)
    assert handed["headers"]["X-Service-Event-Id"] == str(delivery.pk)
    delivery.refresh_from_db()
    assert delivery.lease_until, "It stays leased."

    assert listener.answer(deliveries=[ok(handed["lease"])]) == 1
    delivery.refresh_from_db()
    attempt = delivery.attempts.get()
    assert (delivery.status, delivery.lease_until) == (DeliveryStatus.SUCCEEDED, None)
    assert (attempt.http_status, attempt.duration_ms, attempt.response_excerpt) == (200, 12, "thanks")
    assert attempt.by_listener
    assert listener.work()["deliveries"] == receiver.requests == []


@pytest.mark.parametrize("body", ["thanks", "dGh hbmtz", "dGhhbmté"])
def test_answer_whose_body_is_no_base64_is_refused(
    api: Api, listener: Listener, webhook: Webhook, sandbox: Business, body: str
) -> None:
    published(sandbox)
    drain()
    (handed,) = listener.work()["deliveries"]
    answers = {"deliveries": [ok(handed["lease"], body=body)], "hookCalls": []}
    refused = api("post", f"{listener.path}/{listener.id}/answers", answers)
    assert refused.status_code == 400
    assert refused.json()["details"] == [{"field": "deliveries[0].body", "message": "Must be base64."}]


def test_failure_is_retried_by_the_usual_schedule(
    listener: Listener, webhook: Webhook, sandbox: Business
) -> None:
    delivery = published(sandbox)
    drain()
    (handed,) = listener.work()["deliveries"]
    failure = ok(handed["lease"], httpStatus=None, error="refused", body="")
    assert listener.answer(deliveries=[failure, failure]) == 1
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts_made) == (DeliveryStatus.RETRYING, 1)
    assert delivery.due_at is not None
    assert timedelta(seconds=25) < delivery.due_at - timezone.now() < timedelta(seconds=35)
    assert Attempt.objects.get().error_class == "refused"


@pytest.mark.long
def test_what_the_listener_is_busy_with_is_not_handed_out_and_what_was_lost_is(
    listener: Listener, webhook: Webhook, sandbox: Business
) -> None:
    for _ in range(3):
        published(sandbox)
    drain()
    first, second = listener.work(room=2)["deliveries"]
    (third,) = listener.work(busy=[first["lease"], second["lease"]])["deliveries"]
    assert len({first["id"], second["id"], third["id"]}) == 3
    (again,) = listener.work(busy=[first["lease"], third["lease"]])["deliveries"]
    assert again["id"] == second["id"]
    assert listener.work(room=0)["deliveries"] == []


def test_listener_that_died_loses_its_deliveries_to_the_url(
    listener: Listener,
    webhook: Webhook,
    sandbox: Business,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(claims, "CONFIRMED_AFTER", 0.05)
    delivery = published(sandbox)
    drain()
    (handed,) = listener.work()["deliveries"]
    lose(listener.id)
    lost = claims.LostLeases()
    assert lost.free(timezone.now()) == 0
    time.sleep(0.1)
    assert lost.free(timezone.now()) == 1
    assert listener.answer(deliveries=[ok(handed["lease"])]) == 0
    lose(listener.id)
    drain()
    (request,) = receiver.wait_for(1)
    assert request.headers["x-service-event-id"] == str(delivery.pk)
    assert not Attempt.objects.get().by_listener


def test_listener_that_stops_gives_its_deliveries_back_at_once(
    listener: Listener, webhook: Webhook, sandbox: Business, receiver: Receiver, api: Api
) -> None:
    published(sandbox)
    drain()
    assert listener.work()["deliveries"]
    assert api("delete", f"{listener.path}/{listener.id}").status_code == 204
    drain()
    receiver.wait_for(1)
    assert api("delete", f"{listener.path}/{listener.id}").status_code == 404
    assert listener.ask().status_code == 404


@pytest.mark.long
def test_second_listener_takes_over_and_the_late_answer_of_the_first_does_not_count(
    listener: Listener, webhook: Webhook, sandbox: Business, api: Api, app: App
) -> None:
    published(sandbox)
    drain()
    (handed,) = listener.work()["deliveries"]
    second = Listener(api, app)
    refused = listener.ask()
    assert (refused.status_code, refused.json()["message"]) == (409, listening.REPLACED)
    (again,) = second.work()["deliveries"]
    assert again["id"] == handed["id"]
    assert again["lease"] != handed["lease"]
    assert second.answer(deliveries=[ok(handed["lease"])]) == 0
    assert second.answer(deliveries=[ok(again["lease"])]) == 1


@pytest.mark.spec("Contract 11 Members", "An app has one listener at a time, over all its members")
def test_listener_of_another_member_replaces_the_first(
    listener: Listener, webhook: Webhook, sandbox: Business, sams_api: Api, app: App, sam: User
) -> None:
    """It gets only what is for its own member's sandbox."""
    factories.member(app, sam)
    services.test_install(app=app, developer=sam)
    second = Listener(sams_api, app)
    refused = listener.ask()
    assert (refused.status_code, refused.json()["message"]) == (409, listening.REPLACED)
    published(sandbox)
    drain()
    assert second.work()["deliveries"] == []
    assert Delivery.objects.get().status != DeliveryStatus.CANCELLED


def test_stores_of_merchants_are_never_reached(
    listener: Listener,
    app: App,
    installation: Installation,
    shop: Business,
    sandbox: Business,
    receiver: Receiver,
) -> None:
    """Mira has Dana's app, too: her events and checkouts go to the URL, and Dana can't answer for it."""
    factories.approve(app)
    merchants = factories.installation(app, shop)
    helpers.webhook(merchants, receiver.url, ["order.created"])
    delivery = published(shop)
    claimed = helpers.claim(10, timezone.now())
    Delivery.objects.filter(pk=delivery.pk).update(leased_by=int(listener.id))
    forged = f"{delivery.pk}:{claimed[0].fence}"
    assert listener.answer(deliveries=[ok(forged)]) == 0
    assert not Attempt.objects.exists()
    Delivery.objects.filter(pk=delivery.pk).update(lease_until=None, leased_by=None)
    drain()
    receiver.wait_for(1)
    assert listener.work() == {"deliveries": [], "hookCalls": [], "pauseMs": 0}
    delivery.refresh_from_db()
    assert delivery.endpoint != helpers.webhook(installation, receiver.url, []).endpoint, (
        "Deliveries that a listener holds leave those to stores their room."
    )


@pytest.mark.long
def test_listener_of_another_app_is_not_found(
    listener: Listener, api: Api, dana: User, sandbox: Business
) -> None:
    other = factories.app(dana, slug="other", name="Other")
    assert api("post", f"/developer/apps/{other.id}/listener", {}).status_code == 409
    factories.installation(other, sandbox)
    for unknown in (listener.id, "0", "x", "9" * 40):
        path = f"/developer/apps/{other.id}/listener/{unknown}"
        assert api("post", f"{path}/work", {"wait": 0}).status_code == 404
        assert api("delete", path).status_code == 404


def test_record_has_what_the_command_shows(listener: Listener, installation: Installation, app: App) -> None:
    assert listener.record == {
        "listenerId": listener.id,
        "installationId": str(installation.pk),
        "webhookUrl": app.webhook_url or None,
        "webhookSecret": installation.webhook_secret,
        "resent": 0,
    }


def test_since_resends_what_has_not_been_delivered(
    listener: Listener, webhook: Webhook, sandbox: Business
) -> None:
    failed, done, retrying = (published(sandbox) for _ in range(3))
    Delivery.objects.filter(pk=failed.pk).update(status=DeliveryStatus.EXHAUSTED, due_at=None)
    Delivery.objects.filter(pk=done.pk).update(status=DeliveryStatus.SUCCEEDED, due_at=None)
    later = timezone.now() + timedelta(hours=1)
    Delivery.objects.filter(pk=retrying.pk).update(status=DeliveryStatus.RETRYING, due_at=later)
    since = (timezone.now() - timedelta(minutes=5)).isoformat()
    assert listener.attach(since=since)["resent"] == 2
    drain()
    assert {each["id"] for each in listener.work()["deliveries"]} == {str(failed.pk), str(retrying.pk)}


def test_number_of_listeners_is_bounded(
    listener: Listener, api: Api, dana: User, sandbox: Business, settings: Any
) -> None:
    settings.LISTENERS = 1
    other = factories.app(dana, slug="other", name="Other")
    factories.installation(other, sandbox)
    refused = api("post", f"/developer/apps/{other.id}/listener", {})
    assert (refused.status_code, refused["Retry-After"]) == (429, "60")
    listener.attach()
    lose(listener.id)
    assert api("post", f"/developer/apps/{other.id}/listener", {}).status_code == 201


@contextmanager
def elsewhere(act: Callable[[], Any]) -> Iterator[list[Any]]:
    """Do it in another thread meanwhile; its result is there afterwards."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(act())
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield results
    finally:
        thread.join(15)
    assert not thread.is_alive()


@pytest.mark.long
@pytest.mark.timed
def test_waiting_listener_gets_a_delivery_at_once(
    listener: Listener, webhook: Webhook, sandbox: Business
) -> None:
    with elsewhere(lambda: (listener.work(wait=10), time.monotonic())) as results:
        time.sleep(0.3)
        published(sandbox)
        drain()
        handed_over = time.monotonic()
    work, came = results[0]
    assert len(work["deliveries"]) == 1
    assert came - handed_over < 0.9


def free_thread() -> bool:
    granted = listening.threads().acquire(blocking=False)
    if granted:
        listening.threads().release()
    return granted


@pytest.mark.long
@pytest.mark.timed
def test_listener_without_a_free_thread_comes_back_in_a_second(
    listener: Listener, webhook: Webhook, sandbox: Business, settings: Any
) -> None:
    settings.LISTENER_THREADS = 1
    with elsewhere(lambda: listener.work(wait=1)):
        wait_until(lambda: not free_thread())
        began = time.monotonic()
        assert listener.work(wait=10)["pauseMs"] == 1000
        assert time.monotonic() - began < 0.9


@pytest.mark.long
@pytest.mark.timed
def test_revoked_token_gets_nothing_more(
    app: App, installation: Installation, dana: User, webhook: Webhook, sandbox: Business, receiver: Receiver
) -> None:
    issued = create_developer_token(user=dana, name="laptop", lifetime=timedelta(days=1))
    client = Client(headers={"authorization": f"Bearer {issued.text}"})
    path = f"/developer/apps/{app.id}/listener"
    slot = client.post(path, {}, content_type="application/json").json()["listenerId"]

    def ask() -> Any:
        return client.post(f"{path}/{slot}/work", {"wait": 10}, content_type="application/json")

    with elsewhere(ask) as results:
        time.sleep(0.3)
        revoke_developer_token(user=dana, token_id=str(issued.token.pk))
        time.sleep(1.2)
        published(sandbox)
    assert results[0].status_code == 401
    assert ask().status_code == 401


# Hook calls


def with_hook(app: App, **content: Any) -> None:
    App.objects.filter(pk=app.pk).update(webhook_url="https://93.184.216.34/hooks")
    factories.hook(app, "checkout.shipping_rates", **content)


def rates(sandbox: Business) -> HookRequest:
    data = {"deliveryMethod": "DELIVERY", "locality": "Almaty", "subtotal": 2500, "builtInFee": 350}
    return HookRequest(HookPoint.SHIPPING_RATES, sandbox, data, Flow.start())


@pytest.mark.timed
def test_hook_call_waits_for_the_listener_and_uses_its_answer(
    listener: Listener, app: App, sandbox: Business, installation: Installation
) -> None:
    with_hook(app, timeout=5000)
    with elsewhere(lambda: listener.work(wait=10)) as results:

        def checkout() -> Any:
            with HookCalls(rates(sandbox)) as hook_calls:
                return [call for calls in hook_calls.groups() for call in calls]

        with elsewhere(checkout) as made:
            wait_until(lambda: results)
            (call,) = results[0]["hookCalls"]
            fee = base64.b64encode(b'{"fee": 120}').decode()
            body = {"id": call["id"], "httpStatus": 200, "durationMs": 3, "body": fee}
            assert listener.answer(hookCalls=[body]) == 1
            assert listener.answer(hookCalls=[body]) == 0
    assert made[0][0].answer == {"fee": 120}
    assert HookCall.objects.get().by_listener
    assert not RelayedCall.objects.exists()
    assert 3000 < call["timeoutMs"] <= 5000
    assert call["headers"]["X-Webhook-Business-Id"] == str(sandbox.pk)
    assert listener.work()["hookCalls"] == []


@pytest.mark.long
@pytest.mark.timed
def test_hook_tried_on_its_page_is_called_by_the_listener(
    listener: Listener, app: App, dana: User, installation: Installation
) -> None:
    with_hook(app, timeout=5000)
    page, path = signed_in(dana), f"/portal/apps/{app.slug}/hooks/checkout.shipping_rates/try/"
    with elsewhere(lambda: page.post(path, {"request_data": "{}"})) as shown:
        (call,) = listener.work(wait=10)["hookCalls"]
        body = base64.b64encode(b'{"fee": 120}').decode()
        answer = {"id": call["id"], "httpStatus": 200, "durationMs": 3, "body": body}
        assert listener.answer(hookCalls=[answer]) == 1
    assert "120" in text_of(shown[0])


@pytest.mark.long
@pytest.mark.timed
def test_hook_call_that_no_listener_answers_ends_with_its_timeout(
    listener: Listener, app: App, sandbox: Business
) -> None:
    with_hook(app, timeout=300)
    began = time.monotonic()
    with HookCalls(rates(sandbox)) as hook_calls:
        ((call,),) = hook_calls.groups()
    assert 0.3 <= time.monotonic() - began < 1.0
    assert (call.outcome, call.problem) == ("TIMEOUT", "No answer within 300 ms.")
    assert listener.work()["hookCalls"] == [], "No checkout waits for it any more."


def test_hook_call_goes_to_the_url_without_a_listener_and_from_other_stores(
    listener: Listener, app: App, sandbox: Business, shop: Business, receiver: Receiver
) -> None:
    App.objects.filter(pk=app.pk).update(webhook_url=receiver.url)
    app.refresh_from_db()
    factories.approve(app)
    factories.installation(app, shop)
    factories.hook(app, "checkout.shipping_rates", timeout=1000)
    with HookCalls(rates(shop)) as hook_calls:
        list(hook_calls.groups())
    lose(listener.id)
    with HookCalls(rates(sandbox)) as hook_calls:
        list(hook_calls.groups())
    stores = [request.headers["x-webhook-business-id"] for request in receiver.requests]
    assert stores[-1] == str(sandbox.pk)
    assert not HookCall.objects.filter(by_listener=True).exists()
    assert is_signed(receiver.requests[-1], Installation.objects.get(business=sandbox).webhook_secret)


@pytest.mark.long
def test_pages_of_the_portal_say_that_a_listener_is_there_and_what_it_did(
    listener: Listener, app: App, dana: User, webhook: Webhook, sandbox: Business
) -> None:
    browser = Client()
    browser.force_login(dana)
    delivery = published(sandbox)
    drain()
    (handed,) = listener.work()["deliveries"]
    listener.answer(deliveries=[ok(handed["lease"])])
    assert "Listening" in browser.get(f"/portal/apps/{app.slug}/test/").content.decode()
    shown = browser.get(f"/portal/apps/{app.slug}/deliveries/{delivery.pk}/").content.decode()
    assert "on your machine" in shown
    lose(listener.id)
    assert "Listening" not in browser.get(f"/portal/apps/{app.slug}/test/").content.decode()
