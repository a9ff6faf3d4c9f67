"""Counts Celery's tasks by what they came to, and how long they waited for a worker."""

import logging
import time
from typing import Any, Final

from celery import signals
from django.conf import settings

from common.observability.metrics import TASK_WAIT, TASKS, THREADS, THREADS_BUSY

log = logging.getLogger(__name__)

MANY: Final = 10  # tasks that came too late one after the other
SENT_AT: Final = "sent_at"  # a header of each message: seconds since 1970 by the sender's clock


_late = 0  # tasks since the last one that was in time


@signals.worker_init.connect
def _begin(**_: Any) -> None:
    THREADS.set(settings.WORKER_THREADS)


@signals.before_task_publish.connect
def _sent(headers: dict[str, Any] | None = None, **_: Any) -> None:
    if headers is not None:
        headers[SENT_AT] = time.time()


@signals.task_prerun.connect
def _started(sender: Any, **_: Any) -> None:
    THREADS_BUSY.inc()
    if sent_at := sender.request.get(SENT_AT):
        TASK_WAIT.observe(max(0.0, time.time() - sent_at))


@signals.task_postrun.connect
def _ended(**_: Any) -> None:
    THREADS_BUSY.dec()


@signals.task_success.connect
def _succeeded(sender: Any, **_: Any) -> None:
    TASKS.labels(sender.name, "succeeded").inc()


@signals.task_failure.connect
def _failed(sender: Any, **_: Any) -> None:
    TASKS.labels(sender.name, "failed").inc()


@signals.task_received.connect
def _received(**_: Any) -> None:
    """In time. By the process that takes tasks from the broker, also where others do them."""
    global _late
    _late = 0


@signals.task_revoked.connect
def _revoked(sender: Any, expired: bool = False, **_: Any) -> None:
    """It waited for longer than it counts."""
    global _late
    if not expired:
        return
    _late += 1
    if _late == MANY:
        log.warning(
            "%d tasks in a row had expired when they came to this worker. Its clock is ahead of the scheduler's, or they waited while "
            "no worker was free.",
            MANY,
        )
    TASKS.labels(sender.name, "expired").inc()
