"""Heartbeats of workers and schedulers, for what supervises them: the file `HEARTBEAT_FILE` and systemd's watchdog.

A heartbeat means that the loop works. A lost broker doesn't stop it: a restart wouldn't help, and dispatchers continue
without the broker.
"""

import logging
import threading
from pathlib import Path
from time import monotonic
from typing import Any, Final

from celery.beat import PersistentScheduler
from celery.bootsteps import StartStopStep
from django.conf import settings
from gunicorn.systemd import sd_notify

log = logging.getLogger(__name__)

EVERY: Final = 2.0  # seconds
STUCK_AFTER: Final = 20.0  # seconds in which a worker's loop didn't come round


def send() -> None:
    """Touch the file, and notify systemd if it started this process."""
    if settings.HEARTBEAT_FILE:
        Path(settings.HEARTBEAT_FILE).touch()
    sd_notify("READY=1\nWATCHDOG=1", log)


class WorkerHeartbeat(StartStopStep):
    """A step of the worker's consumer. A thread sends the heartbeat, unless the loop is stuck."""

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._connected = False
        self._looped_at = 0.0
        threading.Thread(target=self._run, name="heartbeat", daemon=True).start()

    def start(self, consumer: Any) -> None:
        self._loop()
        self._connected = True
        consumer.timer.call_repeatedly(EVERY, self._loop)  # the timer is emptied when the broker is lost

    def stop(self, consumer: Any) -> None:
        self._connected = False

    def _loop(self) -> None:
        self._looped_at = monotonic()

    def _run(self) -> None:
        pause = threading.Event()
        while not pause.wait(EVERY):
            if not self._connected or monotonic() - self._looped_at < STUCK_AFTER:
                send()


class Scheduler(PersistentScheduler):
    """Celery's scheduler, which sends a heartbeat as it comes round."""

    _sent_at = 0.0

    def tick(self, *arguments: Any, **options: Any) -> float:
        if monotonic() - self._sent_at >= EVERY:
            self._sent_at = monotonic()
            send()
        seconds: float = super().tick(*arguments, **options)
        return min(seconds, EVERY)
