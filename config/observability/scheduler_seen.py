"""The scheduler's heartbeat: when beat last sent a task, in the cache that all processes share."""

import logging
import time
from datetime import timedelta
from typing import Any, Final

from celery.signals import beat_init, before_task_publish
from django.core.cache import cache

log = logging.getLogger(__name__)

EVERY: Final = 5.0  # seconds between two writes
REMEMBERED: Final = timedelta(days=2)
_KEY: Final = "heartbeat-of-beat"

_written_at = 0.0


def age() -> float | None:
    """Seconds since the last task. None if no scheduler has run for two days. The cache's errors are raised."""
    seen: float | None = cache.get(_KEY)
    return None if seen is None else max(0.0, time.time() - seen)


@beat_init.connect
def _begin(**_: Any) -> None:
    """Only the scheduler's process has a heartbeat; others send tasks, too."""
    before_task_publish.connect(sent, weak=False)


def sent(**_: Any) -> None:
    """The scheduler has sent a task."""
    global _written_at
    if time.monotonic() - _written_at < EVERY:
        return
    _written_at = time.monotonic()
    try:
        cache.set(_KEY, time.time(), REMEMBERED.total_seconds())
    except Exception as error:  # whatever the cache's client raises; the task goes out anyway
        log.warning("The scheduler's heartbeat could not be written: %s", error)
