"""The last resort of a worker: it sends what is overdue without being told.

Hints and sweeps come through the broker. While that is away, or the scheduler is, each worker process looks for
itself, and a dispatcher that it starts so stays awake for as long as it finds anything.
"""

import logging
import threading
from datetime import datetime, timedelta
from typing import Any, Final

from celery.concurrency import get_implementation
from celery.concurrency.prefork import TaskPool as Prefork
from celery.concurrency.solo import TaskPool as Solo
from celery.signals import worker_init, worker_process_init, worker_process_shutdown, worker_shutdown
from django.db import connection
from django.utils import timezone

from webhooks import awake, tasks
from webhooks.dispatcher import GRACE, Dispatcher
from webhooks.enums import WAITING
from webhooks.models import Delivery

log = logging.getLogger(__name__)

LOOK_EVERY: Final = 1.0  # seconds
OVERDUE: Final = timedelta(seconds=5)  # after sweeps every second have left it
IDLE: Final = 30.0  # seconds without work after which a dispatcher that was started so goes back to sleep


def overdue(now: datetime) -> bool:
    """Whether something waits that any sweep would have sent."""
    return Delivery.objects.filter(status__in=WAITING, lease_until=None, due_at__lt=now - OVERDUE).exists()


class Watch:
    """A thread of this process that looks until it or the worker is told to stop."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look_on, name="webhooks-watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Look no more, and wait for what may be in flight."""
        self._ended.set()
        self._thread.join(GRACE + 1)

    def is_set(self) -> bool:
        """Whether its dispatcher is to stop."""
        return self._ended.is_set() or tasks.stopping.is_set()

    def _look_on(self) -> None:
        while not self._ended.wait(LOOK_EVERY) and not self.is_set():
            try:
                self._look()
            except Exception as error:  # a database that is away for a while, say
                log.warning("Could not look for overdue deliveries: %s", error)
                connection.close()

    def _look(self) -> None:
        if not overdue(timezone.now()):
            return
        with awake.place() as place:
            if place:
                log.warning("Deliveries are overdue and nobody was told to send them: sending them unasked.")
                Dispatcher(place=place, stop=self).run(idle=IDLE)


_watch: Watch | None = None


def _start() -> None:
    global _watch
    _watch = Watch()
    _watch.start()


@worker_init.connect
def _start_in_worker(sender: Any = None, **_: Any) -> None:
    """Where the pool has no processes of its own, which say so themselves: those that fork must not have threads."""
    if not issubclass(get_implementation(sender.pool_cls), (Prefork, Solo)):
        _start()


@worker_process_init.connect
def _start_in_pool_process(**_: Any) -> None:
    _start()


@worker_shutdown.connect
@worker_process_shutdown.connect
def _end(**_: Any) -> None:
    if _watch:
        _watch.end()
