"""The dispatcher's runs in a Celery worker."""

import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
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
from webhooks.engine import preparation, slots
from webhooks.models import DispatcherSlot, Webhook

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def waiting_messages() -> Iterator[Any]:
    """How many messages wait in the in-process broker; asking takes them out."""
    celery_app.control.purge()
    yield celery_app.control.purge
    celery_app.control.purge()


@pytest.fixture
def stop_in() -> Iterator[Any]:
    """Have the worker shut down in so many seconds."""
    yield lambda seconds: threading.Timer(seconds, worker_shutting_down.send, ["worker"]).start()
    tasks.stopping.clear()


@pytest.mark.long
@pytest.mark.timed
def test_run_that_beat_starts_delivers_until_the_worker_stops(
    webhook: Webhook, sandbox: Business, receiver: Receiver, stop_in: Any
) -> None:
    (task,) = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values() if entry["schedule"] == 1.0}
    publish(sandbox)
    threading.Timer(1.0, publish_in_thread, [sandbox]).start()
    stop_in(2.5)
    celery_app.tasks[task]()
    assert len(receiver.requests) == 2
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


@pytest.mark.long
@pytest.mark.timed
def test_run_is_no_part_of_the_trace_of_its_task(
    webhook: Webhook, sandbox: Business, receiver: Receiver, stop_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would never end."""
    span, seen = ContextVar("span", default=""), set()
    prepare = preparation.prepare
    monkeypatch.setattr(preparation, "prepare", lambda claims: seen.add(span.get()) or prepare(claims))
    publish(sandbox)
    stop_in(1.0)
    span.set("of the task")
    tasks.dispatch()
    assert seen == {""}


def publish_in_thread(business: Business) -> None:
    from django.db import connection

    publish(business)
    connection.close()


@pytest.mark.long
@pytest.mark.timed
def test_dispatch_stops_with_the_worker(stop_in: Any) -> None:
    stop_in(0.3)
    began = time.monotonic()
    tasks.dispatch()
    assert time.monotonic() - began < 5
