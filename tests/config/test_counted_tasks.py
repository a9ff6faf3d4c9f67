"""What a worker counts of its tasks."""

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from celery.contrib.testing.worker import start_worker
from django.utils import timezone
from prometheus_client import REGISTRY

from config.celery import app
from stores.services import carts
from stores.tasks import remove_old_carts
from tests.webhooks.helpers import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]


@pytest.fixture(autouse=True)
def _prints_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker logs what its process prints, which would be the rest of the tests, too."""
    monkeypatch.setattr(app.log, "redirect_stdouts", lambda level: None)


@pytest.fixture
def _worker() -> Iterator[None]:
    app.control.purge()
    with start_worker(app, pool="threads", perform_ping_check=False, shutdown_timeout=20):
        yield
    app.control.purge()


def counted(outcome: str) -> float:
    labels = {"task": "stores.tasks.remove_old_carts", "outcome": outcome}
    return REGISTRY.get_sample_value("extension_platform_tasks_total", labels) or 0.0


def sample(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"extension_platform_{name}", labels) or 0.0


@pytest.mark.long
@pytest.mark.usefixtures("_worker")
def test_tasks_are_counted_by_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ValueError("on purpose")

    before = {outcome: counted(outcome) for outcome in ("succeeded", "failed", "expired")}
    remove_old_carts.apply_async()
    wait_until(lambda: counted("succeeded") == before["succeeded"] + 1)
    monkeypatch.setattr(carts, "remove_old_carts", fail)
    remove_old_carts.apply_async()
    wait_until(lambda: counted("failed") == before["failed"] + 1)
    remove_old_carts.apply_async(expires=timezone.now() - timedelta(seconds=1))
    wait_until(lambda: counted("expired") == before["expired"] + 1)
    assert counted("succeeded") == before["succeeded"] + 1


@pytest.mark.long
@pytest.mark.parametrize(("in_a_row", "is_told"), [(9, False), (10, True)])
@pytest.mark.usefixtures("_worker")
def test_worker_says_that_tasks_come_too_late(in_a_row: int, is_told: bool, caplog: Any) -> None:
    """As to one whose clock is ahead."""
    before, past = counted("expired"), timezone.now() - timedelta(seconds=1)
    for late in (9, in_a_row):
        remove_old_carts.apply_async()
        for _ in range(late):
            remove_old_carts.apply_async(expires=past)
    wait_until(lambda: counted("expired") == before + 9 + in_a_row)
    assert ("10 tasks in a row had expired" in caplog.text) == is_told


@pytest.mark.long
def test_wait_for_a_worker_and_busy_threads_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    busy: list[float] = []
    monkeypatch.setattr(carts, "remove_old_carts", lambda: busy.append(sample("threads_busy")))
    app.control.purge()
    idle, soon = sample("threads_busy"), sample("task_wait_seconds_bucket", le="0.5")
    remove_old_carts.apply_async()
    time.sleep(0.7)
    counted_before = sample("task_wait_seconds_count")
    with start_worker(app, pool="threads", perform_ping_check=False, shutdown_timeout=20):
        wait_until(lambda: bool(busy))
        wait_until(lambda: sample("threads_busy") == idle)
    assert busy == [idle + 1]
    assert sample("task_wait_seconds_count") == counted_before + 1
    assert sample("task_wait_seconds_bucket", le="0.5") == soon, "It waited for longer."
