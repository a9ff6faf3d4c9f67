"""Work that a request leaves to a worker, with a broker that is there and one that is not."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction

from common.processes.background import enqueue_after_commit
from config.celery import app as celery_app

TASK = "accounts.tasks.remove_old_security_events"


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Grows where the task runs."""
    runs: list[bool] = []
    monkeypatch.setattr("accounts.services.security_log.remove_old", lambda: runs.append(True))
    return runs


@pytest.fixture
def queue() -> Iterator[Any]:
    """How many messages wait in the in-process broker; asking takes them out."""
    celery_app.control.purge()
    yield celery_app.control.purge
    celery_app.control.purge()


@pytest.mark.django_db(transaction=True)
def test_task_is_enqueued_once_the_transaction_commits(queue: Any, done: list[bool]) -> None:
    with transaction.atomic():
        enqueue_after_commit(TASK)
        assert queue() == 0
    assert (queue(), done) == (1, [])


@pytest.mark.django_db(transaction=True)
def test_transaction_that_rolls_back_enqueues_nothing(queue: Any) -> None:
    with transaction.atomic():
        enqueue_after_commit(TASK)
        transaction.set_rollback(True)
    assert queue() == 0


@pytest.mark.django_db(transaction=True)
def test_dead_broker_fails_and_slows_nobody(
    dead_broker: None, done: list[bool], caplog: pytest.LogCaptureFixture
) -> None:
    began = time.monotonic()
    enqueue_after_commit(TASK)
    assert time.monotonic() - began < 1
    assert done == []
    assert f"{TASK} could not be enqueued" in caplog.text
