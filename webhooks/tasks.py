"""Celery tasks: runs of the dispatcher, and periodic work. Any of them may be lost, late or run twice."""

import logging
from mmap import mmap
from typing import Any, Final

from celery import shared_task
from celery.signals import worker_shutting_down

from common.db.alone import alone
from webhooks.engine import slots
from webhooks.engine.dispatcher import Dispatcher
from webhooks.services import audit, counting, disabling, erasure, inboxes, notifications, retention

log = logging.getLogger(__name__)

RUN: Final = 60.0  # seconds after which a dispatcher lets its worker run other tasks
EXPIRES: Final = 5.0  # seconds; by then beat has started another dispatcher


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
    """Send due deliveries for a minute, then enqueue the next run. Returns at once if enough dispatchers run."""
    slot = slots.take()
    if slot is not None:
        Dispatcher(slot=slot, stop=stopping).run(limit=RUN, start_next=_start_next)


def _start_next() -> bool:
    """Enqueue the next run. False if the broker can't be reached; this run must go on then."""
    try:
        dispatch.apply_async(expires=EXPIRES)
    except Exception as error:  # whatever the broker's library raises
        log.warning("The broker can't be reached, so this dispatcher continues: %s", error)
        return False
    return True


@shared_task
@alone
def judge_webhooks() -> None:
    """Disable webhooks that have failed for too long, and notify their developers."""
    disabling.judge_webhooks()
    notifications.notify_developers()


@shared_task
def follow_erasures() -> None:
    """Update the states of data erasures, and notify operators of overdue ones."""
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
