"""The dispatcher's runs in a Celery worker."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from celery.signals import worker_shutting_down
from django.conf import settings
from django.db import transaction

from accounts.models import Business
from config.celery import app as celery_app
from tests.receivers import Receiver
from tests.webhooks.helpers import publish
from webhooks import tasks
from webhooks.engine import slots
from webhooks.models import DispatcherSlot, Webhook

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def waiting_messages() -> Iterator[Any]:
    """How many messages wait in the in-process broker; asking takes them out."""
    celery_app.control.purge()
    yield celery_app.control.purge
    celery_app.control.purge()


@pytest.fixture
def _short_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "RUN", 0.3)


@pytest.fixture
def stop_in() -> Iterator[Any]:
    """Have the worker shut down in so many seconds."""
    yield lambda seconds: threading.Timer(seconds, worker_shutting_down.send, ["worker"]).start()
    tasks.stopping.clear()


@pytest.mark.usefixtures("_short_run")
@pytest.mark.timed
def test_run_that_beat_starts_delivers_and_has_the_next_one_started(
    webhook: Webhook, sandbox: Business, receiver: Receiver, waiting_messages: Any
) -> None:
    (task,) = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values() if entry["schedule"] == 1.0}
    publish(sandbox)
    celery_app.tasks[task]()
    assert len(receiver.requests) == 1
    assert waiting_messages() == 1
    assert not DispatcherSlot.objects.exists()


def test_publishing_sends_no_message(webhook: Webhook, sandbox: Business, waiting_messages: Any) -> None:
    with transaction.atomic():
        publish(sandbox)
    assert waiting_messages() == 0


@pytest.mark.timed
def test_start_ends_at_once_where_one_runs_already(monkeypatch: pytest.MonkeyPatch) -> None:
    assert slots.take() is not None
    began = time.monotonic()
    tasks.dispatch()
    assert time.monotonic() - began < 0.5


@pytest.mark.usefixtures("_short_run", "dead_broker")
@pytest.mark.timed
def test_run_goes_on_while_no_other_can_be_started(
    webhook: Webhook, sandbox: Business, receiver: Receiver, stop_in: Any
) -> None:
    threading.Timer(1.0, publish_in_thread, [sandbox]).start()
    stop_in(2.5)
    tasks.dispatch()
    assert len(receiver.requests) == 1


def publish_in_thread(business: Business) -> None:
    from django.db import connection

    publish(business)
    connection.close()


@pytest.mark.timed
def test_dispatch_stops_with_the_worker(stop_in: Any) -> None:
    stop_in(0.3)
    began = time.monotonic()
    tasks.dispatch()
    assert time.monotonic() - began < 5
