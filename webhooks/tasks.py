"""Celery's part: hints to look for work now. They may be lost, repeated or late (docs/decisions/0004)."""

from mmap import mmap
from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down

from webhooks import awake
from webhooks.dispatcher import Dispatcher
from webhooks.services import counting, retention

IDLE = 1.0  # seconds without work after which a dispatcher goes back to sleep
LIMIT = 60.0  # seconds after which it makes room for the next hint


class SharedFlag:
    """Seen by this process and by all that are forked from it later.

    A byte in shared memory, and no lock: a process that is killed while it looks must not stop the others.
    """

    def __init__(self) -> None:
        self._byte = mmap(-1, 1)

    def set(self) -> None:
        self._byte[0] = 1

    def clear(self) -> None:
        self._byte[0] = 0

    def is_set(self) -> bool:
        return self._byte[0] == 1


# Celery tells the worker's parent process that it is to stop, while its children dispatch.
stopping = SharedFlag()


@shared_task
def dispatch() -> None:
    """Send what is due, unless enough dispatchers do so already."""
    with awake.place() as place:
        if place:
            Dispatcher(place=place, stop=stopping).run(idle=IDLE, limit=LIMIT)


@shared_task
def judge_webhooks() -> None:
    """Disable webhooks that have failed for too long, and tell their developers. May run twice at once."""
    from webhooks.services import disabling, telling  # which give hints by way of this module

    disabling.judge_webhooks()
    telling.tell_developers()


@shared_task
def follow_erasures() -> None:
    """Learn how far data erasures have come, and tell operators what is overdue."""
    from webhooks.services import erasure  # which gives hints by way of this module

    erasure.follow()


@shared_task
def count_deliveries() -> None:
    """Bring the daily counts up to date."""
    counting.count_recent()


@shared_task
def remove_old_deliveries() -> None:
    """Count what is not counted yet, then remove what is older than 30 days."""
    counting.count_recent()
    retention.remove_old()


@worker_shutting_down.connect
def _stop_dispatching(**_: Any) -> None:
    stopping.set()
