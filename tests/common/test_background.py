"""Work that a request leaves to a worker, with a broker that is there and one that is not."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext

from accounts import tasks
from common.processes.background import enqueue_after_commit
from config.celery import app as celery_app

TASK = "accounts.tasks.mail_password_reset"


@pytest.fixture
def mailed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that the task was run for, wherever it ran."""
    addresses: list[str] = []
    monkeypatch.setattr(
        "accounts.services.passwords.send_password_reset", lambda *, email: addresses.append(email)
    )
    return addresses


@pytest.fixture
def queue() -> Iterator[Any]:
    """How many messages wait in the in-process broker; asking takes them out."""
    celery_app.control.purge()
    yield celery_app.control.purge
    celery_app.control.purge()


@pytest.mark.django_db(transaction=True)
def test_task_is_enqueued_once_the_transaction_commits(queue: Any, mailed: list[str]) -> None:
    with transaction.atomic():
        enqueue_after_commit(TASK, "kim@example.com")
        assert queue() == 0
    assert (queue(), mailed) == (1, [])


@pytest.mark.django_db(transaction=True)
def test_transaction_that_rolls_back_enqueues_nothing(queue: Any) -> None:
    with transaction.atomic():
        enqueue_after_commit(TASK, "kim@example.com")
        transaction.set_rollback(True)
    assert queue() == 0


@pytest.mark.django_db(transaction=True)
def test_dead_broker_fails_and_slows_nobody(
    dead_broker: None, mailed: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    began = time.monotonic()
    enqueue_after_commit(TASK, "kim@example.com")
    assert time.monotonic() - began < 1
    assert mailed == []
    assert f"{TASK} could not be enqueued" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_task_that_nothing_else_would_find_runs_here_without_a_broker(
    dead_broker: None, mailed: list[str]
) -> None:
    enqueue_after_commit(TASK, "kim@example.com", run_here=True)
    assert mailed == ["kim@example.com"]


@pytest.mark.django_db(transaction=True)
def test_task_that_runs_in_a_shoppers_request_speaks_english(
    dead_broker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken: list[str] = []
    monkeypatch.setattr(
        "accounts.services.passwords.send_password_reset",
        lambda *, email: spoken.append(gettext("Add to cart")),
    )
    with translation.override("de"):
        enqueue_after_commit(TASK, "kim@example.com", run_here=True)
        spoken.append(gettext("Add to cart"))
    assert spoken == ["Add to cart", "In den Warenkorb"]


@pytest.mark.django_db(transaction=True)
def test_task_that_fails_here_does_not_fail_the_caller(
    dead_broker: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tasks.passwords, "send_password_reset", lambda *, email: 1 / 0)
    enqueue_after_commit(TASK, "kim@example.com", run_here=True)
    assert "division by zero" in caplog.text
