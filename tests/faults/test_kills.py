"""Processes that die, are paused, or are one too many (scenarios 1 to 4, 8 and 9)."""

import signal
import threading
import time
from collections import Counter

import pytest
import requests
from django.db import connection

from accounts.models import Business
from installations.models import Installation
from tests import factories
from tests.faults.deliveries import (
    FREED,
    START,
    Listen,
    all_delivered,
    answers_once,
    ids,
    order,
    wait_for_web,
)
from tests.faults.processes import Processes
from tests.faults.servers import Redis
from tests.ports import free_port
from tests.receivers import Answer, Receiver
from tests.webhooks.helpers import publish, published, wait_until
from webhooks.engine import slots
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, DispatcherSlot, Event, Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]


@pytest.mark.fault(1, "leases that end with the heartbeat")
def test_worker_killed_with_100_answers_unrecorded_sends_them_once_more(
    processes: Processes, listen: Listen, receiver: Receiver, sandbox: Business
) -> None:
    listen(receiver.url, 25)
    for _ in range(4):
        publish(sandbox)
    may_answer = threading.Event()
    receiver.respond_with(Answer(script=answers_once(may_answer)))
    doomed = processes.deliver(FAULT_DIE_AT="webhooks.engine.recording:record")
    in_flight = receiver.wait_for(100, timeout=30)
    receiver.respond_with(200)
    may_answer.set()
    assert doomed.wait_for_death() == -signal.SIGKILL
    assert not Attempt.objects.exists()

    processes.deliver()
    again = receiver.wait_for(200, timeout=START + FREED)[100:]
    wait_until(all_delivered)
    assert ids(again) == ids(in_flight)
    assert set(ids(again).values()) == {1}
    assert len(receiver.requests) == 200
    assert Attempt.objects.count() == 100


@pytest.mark.fault(2, "leases that end with the heartbeat")
def test_worker_killed_between_claim_and_send_has_everything_sent_once(
    processes: Processes, listen: Listen, receiver: Receiver, sandbox: Business
) -> None:
    listen(receiver.url, 25)
    for _ in range(4):
        publish(sandbox)
    doomed = processes.deliver(FAULT_DIE_AT="webhooks.engine.dispatcher:Dispatcher._send")
    assert doomed.wait_for_death() == -signal.SIGKILL
    assert Delivery.objects.filter(lease_until__isnull=False).exists()
    assert receiver.requests == []

    processes.deliver()
    sent = receiver.wait_for(100, timeout=START + FREED)
    wait_until(all_delivered)
    assert set(ids(sent).values()) == {1}
    assert len(receiver.requests) == 100


@pytest.mark.fault(3, "start by beat")
def test_web_process_killed_right_after_the_commit_has_its_event_delivered(
    own_redis: Redis,
    processes: Processes,
    webhook: Webhook,
    receiver: Receiver,
    installation: Installation,
    sandbox: Business,
) -> None:
    worker, _ = processes.worker(), processes.beat()
    port = free_port()
    web = processes.web(port, FAULT_DIE_AT="common.rest.views:JsonView.finalize_response")
    wait_for_web(port)
    product = factories.product(sandbox)
    published(sandbox)
    receiver.wait_for(1, timeout=START)  # beat has started a dispatcher

    with pytest.raises(requests.ConnectionError):
        order(f"http://127.0.0.1:{port}", installation, product)
    died = time.monotonic()
    web.wait_for_death()
    _, request = receiver.wait_for(2, timeout=5)
    assert request.at - died < 1.0
    assert worker.is_alive
    assert len(receiver.requests) == 2


@pytest.mark.fault(4, "outbox")
def test_event_of_a_transaction_that_fails_at_its_commit_is_never_sent(
    processes: Processes,
    webhook: Webhook,
    receiver: Receiver,
    installation: Installation,
    sandbox: Business,
) -> None:
    product = factories.product(sandbox)
    processes.deliver()
    port = free_port()
    processes.web(port)
    wait_for_web(port)
    with FailingCommits():
        answer = order(f"http://127.0.0.1:{port}", installation, product)
        assert answer.status_code == 500
        time.sleep(1)
    assert receiver.requests == []
    assert not Event.objects.exists()
    assert not Delivery.objects.exists()
    assert order(f"http://127.0.0.1:{port}", installation, product).status_code == 201
    receiver.wait_for(1)
    time.sleep(0.5)
    assert len(receiver.requests) == 1


class FailingCommits:
    """Meanwhile PostgreSQL refuses, at COMMIT, every transaction that wrote an event."""

    def __enter__(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN RAISE EXCEPTION 'refused at commit'; END $$;"
                "CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON webhooks_event"
                " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()"
            )

    def __exit__(self, *_: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION refuse CASCADE")


@pytest.mark.fault(8, "locks of a claim")
def test_two_workers_and_two_schedulers_send_10000_deliveries_once_each(
    own_redis: Redis, processes: Processes, listen: Listen, receiver: Receiver, sandbox: Business
) -> None:
    listen(receiver.url, 50)
    for _ in range(200):
        publish(sandbox)
    for start in (processes.worker, processes.beat) * 2:
        start()
    receiver.wait_for(10_000, timeout=100)
    wait_until(all_delivered, timeout=20)
    time.sleep(0.5)
    assert len(receiver.requests) == 10_000
    assert set(ids(receiver.requests).values()) == {1}


@pytest.mark.fault(9, "fence")
def test_worker_taken_for_dead_changes_nothing_when_it_goes_on(
    processes: Processes, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    delivery = published(sandbox)
    receiver.respond_with(Answer(status=500, delay=1.0), 503)
    paused = processes.deliver()
    receiver.wait_for(1, timeout=START)
    paused.signal(signal.SIGSTOP)
    processes.deliver()
    receiver.wait_for(2, timeout=START + FREED)
    wait_until(lambda: Attempt.objects.exists())
    second = Delivery.objects.values().get(id=delivery.id)

    paused.signal(signal.SIGCONT)
    paused.wait_for_output("came too late", timeout=15)
    assert Delivery.objects.values().get(id=delivery.id) == second
    assert (second["status"], second["attempt_count"]) == (DeliveryStatus.RETRYING, 1)
    assert Attempt.objects.get().http_status == 503
    assert len(receiver.requests) == 2


@pytest.mark.fault(9, "second look at what was claimed before a pause")
def test_worker_paused_between_claim_and_send_sends_nothing_that_another_has_sent(
    processes: Processes, listen: Listen, receiver: Receiver, sandbox: Business
) -> None:
    listen(receiver.url, 20)
    publish(sandbox)
    paused = processes.deliver(FAULT_STOP_AT="webhooks.engine.preparation:prepare")
    wait_until(lambda: Delivery.objects.filter(lease_until__isnull=False).count() == 20, timeout=START)
    processes.deliver()
    receiver.wait_for(20, timeout=START + FREED)
    wait_until(all_delivered)

    paused.signal(signal.SIGCONT)
    publish(sandbox)
    receiver.wait_for(40)
    paused.terminate()
    wait_until(all_delivered)
    assert set(ids(receiver.requests).values()) == {1}


@pytest.mark.fault(22, "leases that end with the heartbeat")
def test_worker_killed_with_the_only_lease_of_an_endpoint_holds_up_fresh_events_for_seconds(
    own_redis: Redis, processes: Processes, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    """The endpoint hangs, so it has one lease; the worker that holds it dies, and the endpoint is well again."""
    workers = [processes.worker(), processes.worker()]
    processes.beat()
    wait_until(lambda: slots.claiming().count() == 2, timeout=2 * START)
    receiver.respond_with(Answer(delay=30), 200)
    hanging = published(sandbox)
    receiver.wait_for(1, timeout=5)
    time.sleep(0.6)  # an attempt that takes this long leaves the endpoint one lease
    holder = DispatcherSlot.objects.get(pk=Delivery.objects.get(pk=hanging.pk).leased_by_id)
    (doomed,) = (worker for worker in workers if holder.process.endswith(f":{worker.pid}"))
    doomed.kill()
    died = time.monotonic()
    fresh = [published(sandbox) for _ in range(3)]
    sent = receiver.wait_for(5, timeout=20)[1:]
    assert sent[-1].at - died < 6
    assert set(ids(sent)) == {str(each.pk) for each in (hanging, *fresh)}
    wait_until(all_delivered)


@pytest.mark.fault(31, "leases that end with the heartbeat")
def test_one_of_eight_dispatchers_killed_leaves_its_share_to_the_others_within_seconds(
    processes: Processes, listen: Listen, receiver: Receiver, sandbox: Business
) -> None:
    """Each endpoint takes 0.3 s, so that all eight always have attempts in flight. Every endpoint keeps its share."""
    webhooks = listen(receiver.url, 40)
    receiver.respond_with(Answer(delay=0.3))
    eight = [processes.deliver() for _ in range(8)]
    wait_until(lambda: slots.claiming().count() == 8, timeout=3 * START)
    published_at: dict[str, float] = {}

    def publish_to_all() -> None:
        event = publish(sandbox)
        assert event is not None
        now = time.monotonic()
        published_at.update({str(id_): now for id_ in event.deliveries.values_list("id", flat=True)})

    def doomed_lease() -> DispatcherSlot | None:
        leased = Delivery.objects.filter(leased_by__isnull=False).values("leased_by")
        return slots.claiming().filter(pk__in=leased).first()

    for _ in range(10):
        publish_to_all()
        time.sleep(0.2)
    wait_until(lambda: doomed_lease() is not None, timeout=5)
    slot = doomed_lease()
    assert slot is not None
    (doomed,) = (process for process in eight if slot.process.endswith(f":{process.pid}"))
    doomed.signal(signal.SIGSTOP)  # so that what it holds can be counted
    held = {str(id_) for id_ in Delivery.objects.filter(leased_by=slot).values_list("id", flat=True)}
    doomed.kill()
    died = time.monotonic()
    for _ in range(30):
        publish_to_all()
        time.sleep(0.2)

    wait_until(all_delivered, timeout=30)
    sent = receiver.requests
    again = {id_ for id_, times in ids(sent).items() if times > 1}
    assert held
    assert again <= held  # what was in flight, and nothing else
    assert max(ids(sent).values()) <= 2
    last = {request.headers["x-service-event-id"]: request.at for request in sent}
    assert set(last) == set(published_at)
    assert max(last[id_] for id_ in held) - died < FREED
    late = {id_: at - max(published_at[id_], died) for id_, at in last.items() if id_ not in held}
    assert max(late.values()) < FREED  # no endpoint waited for the dead one's leases
    served = Counter(request.target for request in sent if request.headers["x-service-event-id"] not in again)
    assert len(served) == len(webhooks)
    assert max(served.values()) - min(served.values()) <= len(held)
