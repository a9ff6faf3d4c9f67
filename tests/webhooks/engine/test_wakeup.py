"""Dispatchers that writers wake: those of its own process, as on SQLite, and those of others, by Redis."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from queue import Empty, Queue

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from accounts.models import Business
from common.processes import wakeups
from tests.receivers import Receiver
from tests.webhooks.helpers import publish, published
from webhooks.engine import dispatcher, wakeup
from webhooks.engine.dispatcher import Dispatcher
from webhooks.models import Delivery, Event, Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]

NEVER = 600.0  # seconds: longer than any of these tests waits


@pytest.fixture
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The dispatcher of SQLite. On PostgreSQL it is made here, too, and does the same."""
    monkeypatch.setattr(type(connection.features), "has_select_for_update_skip_locked", False)
    monkeypatch.setattr(wakeup, "is_heard", lambda: True)


SEVERAL = pytest.param("several", marks=[pytest.mark.postgres, pytest.mark.redis])


@pytest.fixture(params=["one_process", SEVERAL])
def processes(request: pytest.FixtureRequest) -> None:
    if request.param == "one_process":
        request.getfixturevalue("one_process")


def run(each: Dispatcher) -> None:
    try:
        each.run()
    finally:
        connections.close_all()


@pytest.fixture
def asleep(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A dispatcher that has found nothing, and by itself looks no more."""
    for module in (wakeup, dispatcher):
        monkeypatch.setattr(module, "LONGEST_REST", NEVER)
    monkeypatch.setattr(dispatcher, "PEEKS_SLOW_DOWN", NEVER / dispatcher.REST)
    stop, looked = threading.Event(), threading.Event()

    class Looking(Dispatcher):
        def _rest_longer(self, slow_down: float) -> None:
            super()._rest_longer(slow_down)
            looked.set()

    thread = threading.Thread(target=run, args=(Looking(stop=stop),), daemon=True)
    thread.start()
    try:
        assert looked.wait(20)
        yield
    finally:
        stop.set()
        wakeup.wake()
        thread.join(20)
        assert not thread.is_alive()


def test_commit_wakes_the_dispatcher(
    webhook: Webhook, receiver: Receiver, sandbox: Business, processes: None, asleep: None
) -> None:
    publish(sandbox)
    receiver.wait_for(1)
    publish(sandbox)
    receiver.wait_for(2)


@pytest.mark.long
def test_dispatcher_is_awake_when_the_next_delivery_is_due(
    webhook: Webhook, receiver: Receiver, sandbox: Business, one_process: None, asleep: None
) -> None:
    due_at = timezone.now() + timedelta(seconds=1.5)
    published(sandbox, now=due_at)
    receiver.wait_for(1)
    assert timezone.now() >= due_at


def test_only_committed_changes_of_deliveries_wake(
    webhook: Webhook, sandbox: Business, one_process: None
) -> None:
    heard: list[bool] = []
    with wakeup.waking(lambda: heard.append(connection.in_atomic_block), resting=threading.Event()):
        with transaction.atomic():
            publish(sandbox)
            publish(sandbox)
            assert heard == []
        assert heard == [False]  # once for both
        heard.clear()
        list(Delivery.objects.all())
        Event.objects.update(type="order.created")
        with transaction.atomic():
            publish(sandbox)
            transaction.set_rollback(True)
        assert heard == []
        Delivery.objects.update(due_at=timezone.now())  # without a transaction around
        assert heard == [False]
    Delivery.objects.update(due_at=timezone.now())
    assert heard == [False]


@pytest.mark.postgres
@pytest.mark.redis
def test_hint_is_for_one_that_rests() -> None:
    heard: Queue[str] = Queue()
    busy, resting = threading.Event(), threading.Event()
    resting.set()
    with (
        wakeup.waking(lambda: heard.put("busy"), resting=busy),
        wakeup.waking(lambda: heard.put("resting"), resting=resting),
    ):
        for _ in range(5):
            wakeup.wake()
            assert heard.get(timeout=20) == "resting"
        resting.clear()
        wakeup.wake()
        with pytest.raises(Empty):
            heard.get(timeout=0.2)
        busy.set()  # it has finished what it did
        assert heard.get(timeout=20) == "busy"


@pytest.mark.postgres
def test_dispatcher_finds_what_has_no_hint(
    webhook: Webhook, receiver: Receiver, sandbox: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = wakeups.RedisWakeups("redis://127.0.0.1:9/0")
    monkeypatch.setattr(wakeups, "shared", lambda: away)
    stop = threading.Event()
    thread = threading.Thread(target=run, args=(Dispatcher(stop=stop),), daemon=True)
    thread.start()
    try:
        publish(sandbox)
        receiver.wait_for(1)
    finally:
        stop.set()
        thread.join(20)
