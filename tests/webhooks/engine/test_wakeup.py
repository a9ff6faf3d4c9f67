"""The dispatcher of SQLite, which writers of its own process wake. On PostgreSQL it is made here, too, and does the same."""

import threading
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from accounts.models import Business
from tests.receivers import Receiver
from tests.webhooks.helpers import publish, published
from webhooks.engine import dispatcher, wakeup
from webhooks.engine.dispatcher import Dispatcher
from webhooks.models import Delivery, Event, Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]

NEVER = 600.0  # seconds: longer than any of these tests waits


@pytest.fixture(autouse=True)
def plain_queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(type(connection.features), "has_select_for_update_skip_locked", False)
    monkeypatch.setattr(wakeup, "is_heard", lambda: True)
    with nullcontext() if connection.vendor == "sqlite" else connection.execute_wrapper(wakeup.hear):
        yield


@pytest.fixture
def asleep(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A dispatcher that has found nothing, and by itself looks no more."""
    monkeypatch.setattr(wakeup, "LONGEST_REST", NEVER)
    monkeypatch.setattr(dispatcher, "PEEKS_SLOW_DOWN", NEVER / dispatcher.REST)
    stop, looked = threading.Event(), threading.Event()

    class Looking(Dispatcher):
        def _rest_longer(self, slow_down: float) -> None:
            super()._rest_longer(slow_down)
            looked.set()

    def run() -> None:
        try:
            Looking(stop=stop).run()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
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
    webhook: Webhook, receiver: Receiver, sandbox: Business, asleep: None
) -> None:
    publish(sandbox)
    receiver.wait_for(1)
    publish(sandbox)
    receiver.wait_for(2)


@pytest.mark.long
def test_dispatcher_is_awake_when_the_next_delivery_is_due(
    webhook: Webhook, receiver: Receiver, sandbox: Business, asleep: None
) -> None:
    due_at = timezone.now() + timedelta(seconds=1.5)
    published(sandbox, now=due_at)
    receiver.wait_for(1)
    assert timezone.now() >= due_at


def test_only_committed_changes_of_deliveries_wake(webhook: Webhook, sandbox: Business) -> None:
    heard: list[bool] = []
    with wakeup.waking(lambda: heard.append(connection.in_atomic_block)):
        with transaction.atomic():
            publish(sandbox)
            assert heard == []
        assert heard
        assert not any(heard)
        heard.clear()
        Delivery.objects.get()
        Event.objects.update(type="order.created")
        with transaction.atomic():
            publish(sandbox)
            transaction.set_rollback(True)
        assert heard == []
        Delivery.objects.update(due_at=timezone.now())  # without a transaction around
        assert heard == [False]
    Delivery.objects.update(due_at=timezone.now())
    assert heard == [False]
