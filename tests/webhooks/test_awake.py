"""Hints, and who is awake to need none."""

import threading
import time
from typing import Any

import pytest
from celery.signals import worker_shutting_down
from django.core.cache import cache
from django.db import transaction

from accounts.models import Business
from config.celery import app as celery_app
from tests.receivers import Receiver
from tests.webhooks.helpers import publish, wait_until
from webhooks import awake, kick, tasks
from webhooks.dispatcher import Dispatcher
from webhooks.models import Webhook


@pytest.fixture
def _no_hints() -> None:
    """Nothing under way, and nothing left in the in-process broker by other tests."""
    time.sleep(2 * kick.GATHERED)
    celery_app.control.purge()


@pytest.fixture
def dead_cache(settings: Any) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }


def hints() -> int:
    return int(celery_app.control.purge())


def test_place_is_given_once_in_a_process() -> None:
    with awake.place() as first, awake.place() as second:
        assert first is not None
        assert second is None
        assert awake.anybody()
    assert not awake.anybody()
    with awake.place() as again:
        assert again is not None


def test_place_is_refused_where_other_processes_hold_all() -> None:
    cache.set_many(dict.fromkeys(awake.PLACES, 1), 60)
    with awake.place() as place:
        assert place is None


def test_place_is_given_without_a_cache(dead_cache: None) -> None:
    with awake.place() as place:
        assert place is not None
        assert not awake.anybody()


def test_place_is_kept_for_as_long_as_it_is_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awake, "LIFE", 1)
    monkeypatch.setattr(awake, "RENEWED_EVERY", 0.1)
    with awake.place() as place:
        assert place is not None
        for _ in range(15):
            place.keep()
            time.sleep(0.1)
        assert awake.anybody()
        time.sleep(1.2)
        assert not awake.anybody()


@pytest.mark.usefixtures("_no_hints")
def test_hint_is_given_only_while_nobody_is_awake() -> None:
    with awake.place():
        assert kick.give_hint()
        assert hints() == 0
    assert kick.give_hint()
    assert hints() == 1


@pytest.mark.usefixtures("_no_hints")
def test_hint_is_given_without_a_cache(dead_cache: None) -> None:
    assert kick.give_hint()
    assert hints() == 1


@pytest.mark.usefixtures("_no_hints")
@pytest.mark.django_db(transaction=True)
def test_event_gives_a_hint_once_it_is_committed(webhook: Webhook, sandbox: Business) -> None:
    with transaction.atomic():
        publish(sandbox)
        time.sleep(0.1)
        assert hints() == 0
    wait_until(hints)


@pytest.mark.usefixtures("_no_hints")
@pytest.mark.django_db(transaction=True)
def test_event_that_is_rolled_back_gives_no_hint(webhook: Webhook, sandbox: Business) -> None:
    with transaction.atomic():
        publish(sandbox)
        transaction.set_rollback(True)
    time.sleep(0.2)
    assert hints() == 0


@pytest.mark.django_db(transaction=True)
def test_sweep_delivers_what_no_hint_announced(
    webhook: Webhook, sandbox: Business, receiver: Receiver, settings: Any
) -> None:
    """The very task that beat sends every second."""
    (task,) = {
        entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values() if "dispatch" in entry["task"]
    }
    publish(sandbox)
    celery_app.tasks[task]()
    assert len(receiver.requests) == 1


@pytest.mark.django_db(transaction=True)
def test_dispatch_goes_back_to_sleep_when_nothing_is_due() -> None:
    began = time.monotonic()
    tasks.dispatch()
    assert tasks.IDLE <= time.monotonic() - began < tasks.IDLE + 1


@pytest.mark.django_db(transaction=True)
def test_dispatch_stops_with_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "IDLE", 30.0)
    threading.Timer(0.3, lambda: worker_shutting_down.send(sender="worker")).start()
    began = time.monotonic()
    try:
        tasks.dispatch()
    finally:
        tasks.stopping.clear()
    assert time.monotonic() - began < 3


@pytest.mark.django_db(transaction=True)
def test_event_that_comes_as_a_dispatcher_falls_asleep_is_sent(
    webhook: Webhook, sandbox: Business, receiver: Receiver
) -> None:
    """Whoever committed it saw the dispatcher awake, and so gave no hint."""

    class Place(awake.Place):
        def leave(self) -> None:
            publish(sandbox)

    assert Dispatcher(place=Place("unused")).run(idle=0.0) == 1
    assert len(receiver.requests) == 1
