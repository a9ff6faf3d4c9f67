"""Celery tasks: runs of the dispatcher, and periodic work. Any of them may be lost, late or run twice."""

from contextvars import Context
from mmap import mmap
from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down
from django.utils import timezone

from common.db.leases import alone
from webhooks.engine import slots
from webhooks.engine.dispatcher import Dispatcher
from webhooks.services import (
    audit,
    counting,
    customer_erasure,
    disabling,
    erasure,
    inboxes,
    notifications,
    retention,
)


class SharedFlag:
    """A flag shared by this process and all processes that it forks later.

    It is a byte in shared memory without a lock, so a process that is killed while reading it can't block the others.
    """

    def __init__(self) -> None:
        self._byte = mmap(-1, 1)

    def set(self) -> None:
        self._byte[0] = 1

    def clear(self) -> None:
        self._byte[0] = 0

    def is_set(self) -> bool:
        return self._byte[0] == 1


# Celery notifies only the worker's parent process of a shutdown, but the dispatchers run in its children.
stopping = SharedFlag()


@shared_task
def dispatch() -> None:
    """Send due deliveries until the worker stops. Returns at once if enough dispatchers run."""
    slot = slots.take()
    if slot is not None:
        # In a context of its own: for traces, it is not a part of the task, which lasts as long as the worker.
        Context().run(Dispatcher(slot=slot, stop=stopping).run)


@shared_task
@alone
def judge_webhooks() -> None:
    """Disable webhooks that have failed for too long, and notify their developers."""
    disabling.judge_webhooks()
    notifications.notify_developers()


@shared_task
def follow_erasures() -> None:
    """Update the states of data erasures, and notify operators of overdue ones."""
    customer_erasure.update_states(now=timezone.now())
    erasure.update_states()


@shared_task
def count_deliveries() -> None:
    """Bring the daily counts up to date."""
    counting.count_recent()


@shared_task
def remove_old_deliveries() -> None:
    """Count the recent deliveries, then delete those older than 30 days, and inbox entries older than 7."""
    counting.count_recent()
    retention.remove_old()
    inboxes.remove_old()


@shared_task
@alone
def audit_tables() -> None:
    """Look for attempts without delivery, deliveries without event or webhook, and rows without partition."""
    audit.audit()


@worker_shutting_down.connect
def _stop_dispatching(**_: Any) -> None:
    stopping.set()
