"""Deliveries over real HTTP: what arrives, when it arrives again, and what it leaves behind."""

import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
import standardwebhooks
import time_machine
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from accounts.models import Business
from common.http import transport
from common.times import iso
from installations.models import Installation
from installations.signals import installation_removed
from marketplace.models import App
from tests.receivers import Answer, ReceivedRequest, Receiver
from tests.webhooks import helpers
from tests.webhooks.helpers import add_copies, drain, is_signed, publish, published
from webhooks import catalogue
from webhooks.engine import claims, dispatcher, preparation, recording, slots
from webhooks.engine.claim_selection import COUNTED, HOST_ATTEMPTS, LEASE, MOST_LEASES
from webhooks.engine.claims import LostLeases
from webhooks.engine.dispatcher import Dispatcher
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, Event, Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]

T0 = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SCHEDULE = [timedelta(seconds=seconds) for seconds in (30, 120, 480, 1920, 7200)]
MOMENT = timedelta(seconds=1)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(T0, tick=False) as traveller:
        yield traveller


def ids(requests: list[ReceivedRequest]) -> list[str]:
    return [request.headers["x-service-event-id"] for request in requests]


# What arrives


@pytest.mark.spec(
    "Events/Delivery format", "A POST with the body fields event, timestamp, webhookId, businessId, data"
)
def test_delivery_has_the_specified_body(
    webhook: Webhook, receiver: Receiver, sandbox: Business, clock: time_machine.Traveller
) -> None:
    publish(sandbox)
    assert drain() == 1
    (request,) = receiver.wait_for(1)
    assert request.method == "POST"
    assert orjson.loads(request.body) == {
        "event": "order.created",
        "timestamp": iso(T0),
        "webhookId": str(webhook.id),
        "businessId": str(sandbox.id),
        "data": catalogue.EVENTS["order.created"].example,
    }


@pytest.mark.spec("Events/Delivery format", "Deliveries carry the specified headers")
def test_delivery_has_the_specified_headers(
    webhook: Webhook, receiver: Receiver, sandbox: Business, clock: time_machine.Traveller
) -> None:
    delivery = published(sandbox)
    drain()
    (request,) = receiver.wait_for(1)
    expected = {
        "content-type": "application/json",
        "user-agent": "Service-Webhooks/1.0",
        "x-webhook-id": str(webhook.id),
        "x-webhook-event": "order.created",
        "x-webhook-timestamp": str(int(T0.timestamp())),
        "x-service-event-id": str(delivery.id),
        "webhook-id": str(delivery.id),
        "webhook-timestamp": str(int(T0.timestamp())),
    }
    assert expected.items() <= request.headers.items()


@pytest.mark.spec("Events/Signature", "HMAC-SHA256 over timestamp.rawBody, keyed with the whole secret")
@pytest.mark.spec("Contract 5 Webhooks", "The libraries of Standard Webhooks verify a delivery")
def test_delivery_is_signed_in_both_schemes(webhook: Webhook, receiver: Receiver, sandbox: Business) -> None:
    publish(sandbox)
    drain()
    (request,) = receiver.wait_for(1)
    assert is_signed(request, webhook.secret)
    library = standardwebhooks.Webhook("whsec_" + webhook.secret.rpartition("_")[2])
    assert library.verify(request.body, dict(request.headers))["event"] == "order.created"


def test_delivery_is_recorded_with_the_answer(
    webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    receiver.respond_with(Answer(body=b"\xff\x00" + "né".encode() + b"x" * 20_000))
    delivery = published(sandbox)
    drain()
    delivery.refresh_from_db()
    assert (delivery.status, delivery.due_at, delivery.lease_until) == ("SUCCEEDED", None, None)
    assert delivery.finished_at is not None
    attempt = delivery.attempts.get()
    assert (attempt.number, attempt.http_status, attempt.error_class) == (1, 200, "")
    assert attempt.response_excerpt.startswith("\ufffdnéxxx")
    assert len(attempt.response_excerpt) < 4096


# When it arrives again


@pytest.mark.long
@pytest.mark.spec(
    "Events/Retry policy", "Retries after 30 s, 2 min, 8 min, 32 min, 2 h; the fifth is the final one"
)
@pytest.mark.spec("Contract 5 Webhooks", "Retries are never early; up to 5 % late on purpose")
@pytest.mark.spec("Events/Delivery format", "X-Service-Event-Id is the same over all retries")
def test_failing_delivery_is_tried_six_times_on_schedule(
    webhook: Webhook, receiver: Receiver, sandbox: Business, clock: time_machine.Traveller
) -> None:
    receiver.respond_with(500)
    delivery = published(sandbox)
    assert drain() == 1
    failed_at = T0
    for wait in SCHEDULE:
        clock.move_to(failed_at + wait - MOMENT, tick=False)
        assert drain() == 0, "A retry came early."
        failed_at += wait * 1.05 + MOMENT
        clock.move_to(failed_at, tick=False)
        assert drain() == 1, "A retry came late."
    clock.move_to(failed_at + timedelta(days=2), tick=False)
    assert drain() == 0

    assert len(receiver.requests) == 6
    assert set(ids(receiver.requests)) == {str(delivery.id)}
    assert len({request.body for request in receiver.requests}) == 1
    assert len({request.headers["x-webhook-timestamp"] for request in receiver.requests}) == 6
    assert len({request.headers["x-webhook-signature"] for request in receiver.requests}) == 6
    assert all(is_signed(request, webhook.secret) for request in receiver.requests)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.due_at) == (DeliveryStatus.EXHAUSTED, None)
    assert list(delivery.attempts.order_by("number").values_list("number", "http_status", "error_class")) == [
        (number, 500, "http_5xx") for number in range(1, 7)
    ]


@pytest.mark.parametrize("kind", ["own", "review"])
def test_wait_begins_with_the_end_of_an_attempt_that_was_late(
    webhook: Webhook, receiver: Receiver, sandbox: Business, clock: time_machine.Traveller, kind: str
) -> None:
    """Only a test store has a clock of its own, by which its attempts are never late."""
    Installation.objects.update(is_own=kind == "own", is_review=kind == "review")
    receiver.respond_with(500)
    delivery = published(sandbox)
    clock.shift(3600)
    assert drain() == 1
    delivery.refresh_from_db()
    assert delivery.due_at is not None
    assert delivery.due_at >= T0 + timedelta(hours=1) + SCHEDULE[0]


def test_retries_stop_with_the_first_success(
    webhook: Webhook, receiver: Receiver, sandbox: Business, delivering: Any
) -> None:
    delivering.WEBHOOK_RETRY_DELAYS = (0, 0, 0, 0, 0)
    receiver.respond_with(500, 404, 200)
    delivery = published(sandbox)
    assert drain() == 3
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts_made, delivery.attempt_count) == ("SUCCEEDED", 3, 3)
    assert [attempt.error_class for attempt in delivery.attempts.order_by("number")] == [
        "http_5xx",
        "http_4xx",
        "",
    ]


@pytest.mark.spec(
    "Contract 5 Webhooks", "Retry-After of a 429 or 503 lengthens the wait, to twice the step at most"
)
def test_retry_after_lengthens_the_wait(
    webhook: Webhook, receiver: Receiver, sandbox: Business, clock: time_machine.Traveller
) -> None:
    receiver.respond_with(Answer(status=503, headers={"Retry-After": "45"}))
    delivery = published(sandbox)
    drain()
    delivery.refresh_from_db()
    assert delivery.due_at is not None
    assert timedelta(seconds=45) <= delivery.due_at - T0 <= timedelta(seconds=60)


@pytest.mark.spec("Contract 5 Webhooks", "A URL changed between attempts is used from the next attempt")
def test_retry_goes_to_the_url_as_it_is_then(
    webhook: Webhook, receiver: Receiver, sandbox: Business, clock: time_machine.Traveller
) -> None:
    receiver.respond_with(500)
    publish(sandbox)
    drain()
    with Receiver() as moved:
        Webhook.objects.update(url=moved.url)
        clock.shift(60)
        drain()
        assert ids(moved.requests) == ids(receiver.requests)
        assert moved.requests[0].body == receiver.requests[0].body


# What is not sent any more


@pytest.mark.spec("Contract 5 Webhooks", "Nothing is ever sent for a deleted webhook")
@pytest.mark.parametrize("field", ["deleted_at", "is_active"])
def test_delivery_to_a_webhook_that_is_gone_is_cancelled(
    field: str, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    delivery = published(sandbox)
    Webhook.objects.update(**{field: False if field == "is_active" else timezone.now()})
    drain()
    assert_cancelled(delivery, receiver)


@pytest.mark.parametrize("model", [Webhook, Event])
def test_delivery_without_its_webhook_or_event_is_cancelled(
    model: type[Webhook | Event], webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    """No constraint from a delivery prevents it."""
    delivery = published(sandbox)
    model.objects.all()._raw_delete("default")  # noqa: SLF001
    drain()
    assert_cancelled(delivery, receiver)


@pytest.mark.parametrize("field", ["suspended_at", "deleted_at"])
def test_delivery_to_an_app_that_is_suspended_or_deleted_is_cancelled(
    field: str, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    delivery = published(sandbox)
    App.objects.update(**{field: timezone.now()})
    drain()
    assert_cancelled(delivery, receiver)


@pytest.mark.spec("Authorization", "Events are delivered only for scopes the app holds")
def test_delivery_whose_scope_was_lost_is_cancelled(
    webhook: Webhook, receiver: Receiver, sandbox: Business, app: App
) -> None:
    delivery = published(sandbox)
    App.objects.update(scopes=["read_products"])
    drain()
    assert_cancelled(delivery, receiver)


def test_retry_after_the_uninstall_is_not_sent(
    webhook: Webhook,
    receiver: Receiver,
    sandbox: Business,
    installation: Installation,
    clock: time_machine.Traveller,
) -> None:
    receiver.respond_with(500)
    delivery = published(sandbox)
    drain()
    installation.uninstalled_at = timezone.now()
    installation.save()
    with transaction.atomic():
        installation_removed.send(sender=Installation, installation=installation, now=timezone.now())
    clock.shift(3600)
    drain()
    assert len(receiver.requests) == 1
    delivery.refresh_from_db()
    assert delivery.status == DeliveryStatus.CANCELLED


def assert_cancelled(delivery: Delivery, receiver: Receiver) -> None:
    delivery.refresh_from_db()
    assert (delivery.status, delivery.due_at, delivery.lease_until) == ("CANCELLED", None, None)
    assert receiver.requests == []
    assert not Attempt.objects.exists()


# Leases and fences


@pytest.mark.spec("Contract 5 Webhooks", "A commit is never lost, whatever process dies when")
def test_delivery_whose_dispatcher_died_is_sent_when_its_lease_runs_out(
    webhook: Webhook, receiver: Receiver, sandbox: Business, clock: time_machine.Traveller
) -> None:
    delivery = published(sandbox)
    (lost,) = helpers.claim(10, timezone.now())
    assert drain() == 0
    clock.shift(claims.LEASE.total_seconds() - 1)
    assert drain() == 0
    clock.shift(1)
    assert drain() == 1
    assert ids(receiver.requests) == [str(delivery.id)]
    delivery.refresh_from_db()
    assert delivery.fence > lost.fence


def a_result(claim: claims.Claim, **fields: Any) -> recording.AttemptResult:
    now = timezone.now()
    values = {
        "status": DeliveryStatus.RETRYING,
        "due_at": now + timedelta(seconds=30),
        "finished_at": None,
        "attempted_at": now,
        "http_status": 500,
        "duration_ms": 12,
        "error_class": "http_5xx",
        "response_excerpt": "",
    }
    return recording.AttemptResult(claim=claim, **(values | fields))


def test_late_result_of_a_lost_lease_changes_nothing(
    webhook: Webhook, sandbox: Business, clock: time_machine.Traveller, caplog: pytest.LogCaptureFixture
) -> None:
    delivery = published(sandbox)
    (paused,) = helpers.claim(10, timezone.now())
    clock.shift(61)
    assert drain() == 1
    before = Delivery.objects.values().get(id=delivery.id)
    assert recording.record([a_result(paused)]) == 0
    assert Delivery.objects.values().get(id=delivery.id) == before
    assert Attempt.objects.count() == 1
    assert "came too late" in caplog.text


def test_late_result_is_taken_while_nobody_has_claimed_again(
    webhook: Webhook, sandbox: Business, clock: time_machine.Traveller
) -> None:
    delivery = published(sandbox)
    (paused,) = helpers.claim(10, timezone.now())
    clock.shift(61)
    assert LostLeases().free(timezone.now()) == 1
    assert recording.record([a_result(paused, status=DeliveryStatus.SUCCEEDED, due_at=None)]) == 1
    delivery.refresh_from_db()
    assert delivery.status == DeliveryStatus.SUCCEEDED
    assert drain() == 0


def test_result_that_is_recorded_twice_counts_once(webhook: Webhook, sandbox: Business) -> None:
    delivery = published(sandbox)
    (claim,) = helpers.claim(10, timezone.now())
    assert recording.record([a_result(claim)]) == 1
    assert recording.record([a_result(claim)]) == 0
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts_made, delivery.attempts.count()) == ("RETRYING", 1, 1)


def test_result_of_an_earlier_claim_in_the_same_batch_changes_nothing(
    webhook: Webhook, sandbox: Business, caplog: pytest.LogCaptureFixture
) -> None:
    """Switched off and on again during an attempt, the delivery was claimed once more. Both were answered at once."""
    delivery, other = published(sandbox), published(sandbox)
    first, of_other = sorted(helpers.claim(10, timezone.now()), key=lambda each: each.delivery_id == other.id)
    claims.release([first])
    (second,) = helpers.claim(10, timezone.now())
    success = a_result(second, status=DeliveryStatus.SUCCEEDED, due_at=None, http_status=200, error_class="")
    assert recording.record([a_result(first), success, a_result(of_other)]) == 2
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts.get().http_status) == ("SUCCEEDED", 200)
    assert caplog.text.count("came too late") == 1


def test_result_after_a_cancellation_changes_nothing(webhook: Webhook, sandbox: Business) -> None:
    delivery = published(sandbox)
    (claim,) = helpers.claim(10, timezone.now())
    claims.cancel([claim], timezone.now())
    assert recording.record([a_result(claim, status=DeliveryStatus.SUCCEEDED, due_at=None)]) == 0
    delivery.refresh_from_db()
    assert delivery.status == DeliveryStatus.CANCELLED


def test_claim_takes_the_longest_due_first_and_no_more_than_asked(
    webhook: Webhook, sandbox: Business
) -> None:
    now = timezone.now()
    oldest, middle, newest = (
        published(sandbox, now=now - timedelta(minutes=minutes)).id for minutes in (3, 2, 1)
    )
    publish(sandbox, now=now + timedelta(minutes=1))
    first = helpers.claim(2, now)
    assert {claim.delivery_id for claim in first} == {oldest, middle}
    assert [claim.delivery_id for claim in helpers.claim(10, now)] == [newest]
    assert helpers.claim(10, now) == []


@pytest.mark.long
@pytest.mark.postgres
def test_claims_at_the_same_moment_share_the_rows(
    installation: Installation, receiver: Receiver, sandbox: Business
) -> None:
    for number in range(10):
        helpers.prove(helpers.webhook(installation, f"{receiver.url}{number}", ["order.created"]))
    for _ in range(4):
        publish(sandbox)
    taken: list[claims.Claim] = []
    barrier = threading.Barrier(4)
    # One moment for all: a lease that has grown old on a busy machine would hold back its endpoint's other rows.
    now = timezone.now()

    def claim() -> None:
        barrier.wait()
        for _ in range(40):
            taken.extend(claims.claim(3, now, slot=0))
        connection.close()

    threads = [threading.Thread(target=claim) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({claim.delivery_id for claim in taken}) == len(taken) == 40


def test_timers_leave_room_for_one_another() -> None:
    """As `webhooks/engine/README.md` lists it."""
    second = timedelta(seconds=1)
    attempt, pause = transport.TIMEOUT * second, dispatcher.OUTAGE_PAUSE * second
    assert attempt < COUNTED < LEASE, (
        "A lease ends, and stops to count, only once no attempt can have it any more."
    )
    assert attempt < dispatcher.GRACE * second
    assert pause + slots.BEAT_EVERY * second < slots.ALIVE_FOR, "A dispatcher that lives seems never dead."
    assert pause + slots.BEAT_EVERY * second < slots.HOLD_FOR
    looks = dispatcher.FREE_LOST_EVERY
    assert looks > claims.CONFIRMED_AFTER, "Two looks in a row are enough,"
    assert slots.ALIVE_FOR + 2 * looks * second < 5 * second, (
        "so the leases of a dead one are free in five seconds."
    )


# The loop


@pytest.mark.long
def test_slow_endpoint_holds_nobody_up(
    installation: Installation, sandbox: Business, receiver: Receiver
) -> None:
    with Receiver() as slow:
        slow.respond_with(Answer(delay=4))
        for _ in range(5):
            helpers.webhook(installation, slow.url, ["order.created"])
        helpers.webhook(installation, receiver.url, ["order.created"])
        publish(sandbox)
        worker = threading.Thread(target=_drain_in_thread)
        worker.start()
        receiver.wait_for(1, timeout=3.5)
        worker.join()
        assert len(slow.requests) == 5
    assert Delivery.objects.filter(status="SUCCEEDED").count() == 6


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.postgres
@pytest.mark.spec(
    "Contract 15 Doors", "Endpoints of one host that are not proven have 16 attempts at once together"
)
def test_host_with_many_urls_gets_few_attempts_at_once_and_slows_no_other(
    installation: Installation, sandbox: Business, receiver: Receiver
) -> None:
    delay = 0.4  # quick, but an error proves nothing
    with Receiver() as crowd:
        crowd.respond_with(Answer(status=503, delay=delay))
        for number in range(20):
            helpers.webhook(installation, f"{crowd.url}{number}", ["order.created"])
        publish(sandbox)
        publish(sandbox)
        helpers.webhook(installation, receiver.url, ["order.created"])
        publish(sandbox)
        workers = [threading.Thread(target=_drain_in_thread) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        began = sorted(request.at for request in crowd.requests)
        (sound,) = receiver.requests
    assert len(began) == 60
    at_once = [sum(at <= other < at + delay - 0.05 for other in began) for at in began]
    assert max(at_once) <= HOST_ATTEMPTS
    assert max(at_once) > HOST_ATTEMPTS / 2, "They did overlap."
    assert sound.at < began[0] + 2 * delay


def _drain_in_thread() -> None:
    try:
        Dispatcher().run(idle=0.5)
    finally:
        connection.close()


@pytest.mark.long
def test_dispatcher_that_is_stopped_finishes_what_is_in_flight(
    webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    receiver.respond_with(Answer(delay=0.5))
    first = published(sandbox)
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    assert Dispatcher(stop=stop).run() == 1
    first.refresh_from_db()
    assert first.status == DeliveryStatus.SUCCEEDED
    publish(sandbox)
    assert Dispatcher(stop=stop).run() == 0


@pytest.mark.long
def test_dispatcher_that_is_stopped_leaves_what_takes_too_long_to_others(
    webhook: Webhook, receiver: Receiver, sandbox: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "GRACE", 0.2)
    receiver.respond_with(Answer(delay=1.5), 200)
    delivery = published(sandbox)
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    assert Dispatcher(stop=stop).run() == 0
    delivery.refresh_from_db()
    assert (delivery.status, delivery.lease_until) == ("PENDING", None)
    assert drain() == 1
    assert ids(receiver.requests) == [str(delivery.id)] * 2


def test_dispatcher_that_stood_still_does_not_send_what_others_have_freed(
    webhook: Webhook, receiver: Receiver, sandbox: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was stopped between its claim and its attempt, and seemed dead."""
    prepare = preparation.prepare

    def stand_still(claimed: list[claims.Claim]) -> Any:
        monkeypatch.setattr(preparation, "prepare", prepare)
        assert claims.free_unknown(Delivery.objects.get().leased_by, known=()) == 1
        return prepare(claimed)

    monkeypatch.setattr(dispatcher, "ALIVE_FOR", timedelta(0))
    monkeypatch.setattr(preparation, "prepare", stand_still)
    delivery = published(sandbox)
    assert drain() == 1
    assert ids(receiver.requests) == [str(delivery.id)]


def test_dispatcher_never_sends_inside_a_transaction(
    webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    publish(sandbox)
    with transaction.atomic(), pytest.raises(RuntimeError):
        drain()
    assert receiver.requests == []


def lose_the_key(delivery: Delivery) -> None:
    """The secret was encrypted with a key that is gone: an operator's mistake, which may be mended."""
    webhook_id = delivery.webhook_id if connection.vendor == "postgresql" else delivery.webhook_id.hex
    with connection.cursor() as cursor:
        cursor.execute("UPDATE webhooks_webhook SET secret = 'unreadable' WHERE id = %s", [webhook_id])


def forget_the_event_type(delivery: Delivery) -> None:
    """Written by a version of the service that knew more events."""
    Event.objects.filter(id=delivery.event_id).update(type="order.vanished")


@pytest.mark.parametrize("spoil", [lose_the_key, forget_the_event_type])
def test_delivery_that_cannot_be_sent_holds_up_no_other(
    spoil: Any, webhook: Webhook, receiver: Receiver, installation: Installation, sandbox: Business
) -> None:
    helpers.webhook(installation, receiver.url, ["review.created"])
    spoiled, sound = published(sandbox, "review.created"), published(sandbox)
    spoil(spoiled)
    assert drain() == 1
    assert ids(receiver.requests) == [str(sound.id)]
    spoiled.refresh_from_db()
    assert (spoiled.status, spoiled.attempts_made, spoiled.lease_until) == ("PENDING", 0, None)
    assert spoiled.due_at > timezone.now() + timedelta(seconds=50)


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.parametrize("spoil", [lose_the_key, forget_the_event_type])
def test_deliveries_that_cannot_be_sent_hold_up_no_later_one_of_their_endpoint(
    spoil: Any,
    receiver: Receiver,
    installation: Installation,
    sandbox: Business,
    clock: time_machine.Traveller,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A second webhook with the same URL, and so the same endpoint, can still be sent to."""
    helpers.webhook(installation, receiver.url, ["review.created"])
    spoiled = published(sandbox, "review.created")
    add_copies(spoiled, MOST_LEASES)
    spoil(spoiled)
    drain()
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert 0 < len(errors) < MOST_LEASES / 4, "A traceback takes milliseconds, so not each delivery has one."
    helpers.webhook(installation, receiver.url, ["order.created"])
    clock.shift(1)
    sound = published(sandbox)
    drain()
    assert ids(receiver.requests) == [str(sound.id)]


def test_results_outlive_an_outage_of_the_database(
    webhook: Webhook, receiver: Receiver, sandbox: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "OUTAGE_PAUSE", 0.01)
    delivery = published(sandbox)
    record, outages = recording.record, iter([True, True, False])

    def failing(results: Any) -> int:
        if next(outages, False):
            raise OperationalError("the connection is gone")
        return record(results)

    monkeypatch.setattr(recording, "record", failing)
    assert drain() == 1
    delivery.refresh_from_db()
    assert (delivery.status, len(receiver.requests)) == ("SUCCEEDED", 1)


@pytest.mark.postgres
def test_results_outlive_a_primary_that_becomes_a_standby(
    webhook: Webhook, receiver: Receiver, sandbox: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "OUTAGE_PAUSE", 0.01)
    delivery = published(sandbox)
    record, refused = recording.record, []

    def refusing(results: Any) -> int:
        if not refused:
            with connection.cursor() as cursor:
                cursor.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
            refused.append(True)
        return record(results)

    monkeypatch.setattr(recording, "record", refusing)
    assert drain() == 1
    delivery.refresh_from_db()
    assert (delivery.status, len(receiver.requests), refused) == ("SUCCEEDED", 1, [True])


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.parametrize("step", ["prepare", "claim"])
def test_claim_outlives_a_session_that_ends_before_its_attempt(
    step: str, webhook: Webhook, receiver: Receiver, sandbox: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At its preparation, or before the dispatcher knows what it has claimed."""
    monkeypatch.setattr(dispatcher, "OUTAGE_PAUSE", 0.01)
    delivery = published(sandbox)
    module = {"prepare": dispatcher.preparation, "claim": claims}[step]
    usual, ended = getattr(module, step), []

    def ending(*arguments: Any, **options: Any) -> Any:
        done = usual(*arguments, **options)
        if not ended and (step == "prepare" or done):
            ended.append(True)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return done

    monkeypatch.setattr(module, step, ending)
    assert Dispatcher().run(idle=0.5) == 1
    assert ended
    assert ids(receiver.requests) == [str(delivery.id)]


@pytest.mark.long
@pytest.mark.postgres
def test_claim_whose_session_ends_while_its_dispatcher_stops_is_free_for_others(
    webhook: Webhook, receiver: Receiver, sandbox: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "OUTAGE_PAUSE", 0.01)
    receiver.respond_with(Answer(delay=1), 200)
    slow, stop = published(sandbox), threading.Event()
    prepare, lost = dispatcher.preparation.prepare, []

    def ending(claimed: Any, **options: Any) -> Any:
        if claimed[0].delivery_id != slow.id:
            stop.set()
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        prepared = prepare(claimed, **options)
        lost.append(published(sandbox))
        return prepared

    monkeypatch.setattr(dispatcher.preparation, "prepare", ending)
    assert Dispatcher(stop=stop).run() == 1
    (delivery,) = lost
    delivery.refresh_from_db()
    assert (delivery.status, delivery.fence, delivery.lease_until) == ("PENDING", 1, None)
    assert ids(receiver.requests) == [str(slow.id)]


@pytest.mark.long
@pytest.mark.spec("Contract 5 Webhooks", "An event reaches each of many webhooks exactly once")
def test_fan_out_reaches_each_webhook_once_in_few_statements(
    installation: Installation, sandbox: Business, receiver: Receiver, django_assert_max_num_queries: Any
) -> None:
    addresses = [f"{receiver.url}{number}" for number in range(200)]
    helpers.prove(*(helpers.webhook(installation, address, ["order.created"]) for address in addresses))
    publish(sandbox)
    with django_assert_max_num_queries(80):
        assert drain() == 200
    assert len({request.headers["x-webhook-id"] for request in receiver.requests}) == 200
    assert len(set(ids(receiver.requests))) == len(receiver.requests) == 200
