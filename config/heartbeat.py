"""Heartbeats of workers and schedulers, for what supervises them: the file `HEARTBEAT_FILE` and systemd's watchdog.

A worker's heartbeat means that it can work: it has found its broker, its loop comes round, and its threads get done with tasks. A broker
that is lost later doesn't stop it: a restart wouldn't help, and dispatchers continue without the broker.
"""

import json
import logging
import threading
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any, Final

from celery.beat import Scheduler as CeleryScheduler
from celery.beat import SchedulingError
from celery.bootsteps import StartStopStep
from celery.worker import state
from django.conf import settings
from gunicorn.systemd import sd_notify

from common.files.disks import is_full

log = logging.getLogger(__name__)

EVERY: Final = 2.0  # seconds
STUCK_AFTER: Final = 20.0  # seconds in which a worker's loop didn't come round
# Seconds in which each thread had the same task. A dispatcher never ends, an audit takes minutes.
TASKS_STUCK_AFTER: Final = 900.0


def send() -> None:
    """Touch the file, and notify systemd if it started this process. On a full disk a file that is not there may have to wait."""
    try:
        if settings.HEARTBEAT_FILE:
            Path(settings.HEARTBEAT_FILE).touch()
    except OSError as error:
        if not is_full(error):
            raise
        log.warning("The heartbeat can't be written: %s", error)
    sd_notify("READY=1\nWATCHDOG=1", log)


class WorkerHeartbeat(StartStopStep):
    """A step of the worker's consumer. A thread sends the heartbeat, unless the loop or all tasks are stuck."""

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._connected = self._found_broker = False
        self._looped_at = self._moved_at = 0.0
        self._tasks: set[str] = set()
        threading.Thread(target=self._run, name="heartbeat", daemon=True).start()

    def start(self, consumer: Any) -> None:
        self._loop()
        self._connected = self._found_broker = True
        consumer.timer.call_repeatedly(EVERY, self._loop)  # the timer is emptied when the broker is lost

    def stop(self, consumer: Any) -> None:
        self._connected = False

    def _loop(self) -> None:
        self._looped_at = monotonic()

    def _run(self) -> None:
        pause = threading.Event()
        while not pause.wait(EVERY):
            if self._works():
                send()

    def _works(self) -> bool:
        if not self._connected:  # dispatchers go on for as long as it takes
            self._moved_at = monotonic()
            return self._found_broker
        tasks = _active()
        if tasks != self._tasks or len(tasks) < settings.WORKER_THREADS:
            self._tasks, self._moved_at = tasks, monotonic()
        return (
            monotonic() - self._looped_at < STUCK_AFTER and monotonic() - self._moved_at < TASKS_STUCK_AFTER
        )


def _active() -> set[str]:
    """The ids of tasks that threads have; none if one begins or ends at this moment."""
    try:
        return {request.id for request in state.active_requests}
    except RuntimeError:
        return set()


class Scheduler(CeleryScheduler):
    """Celery's scheduler, which sends a heartbeat as it comes round.

    When each task ran last is in a file, as JSON. Celery's own files end the scheduler while their disk is full.
    """

    def __init__(self, *arguments: Any, schedule_filename: str, **options: Any) -> None:
        self._file = Path(schedule_filename)
        self._sent_at = 0.0
        super().__init__(*arguments, **options)

    def setup_schedule(self) -> None:
        super().setup_schedule()
        for name, ran_at in self._read().items():
            if entry := self.schedule.get(name):
                entry.last_run_at = datetime.fromisoformat(ran_at)
        self.sync()

    def _read(self) -> dict[str, str]:
        try:
            ran_at: dict[str, str] = json.loads(self._file.read_text())
        except (FileNotFoundError, ValueError):  # the file of an earlier release
            return {}
        return ran_at

    def sync(self) -> None:
        ran_at = {name: entry.last_run_at.isoformat() for name, entry in self.schedule.items()}
        new = self._file.with_name(f"{self._file.name}.new")
        try:
            new.write_text(json.dumps(ran_at))
            new.replace(self._file)
        except OSError as error:
            if not is_full(error):
                raise
            log.warning("When each task ran last can't be written: %s", error)

    def apply_async(self, *arguments: Any, **options: Any) -> Any:
        """Connect again for the next task if this one could not be sent: RabbitMQ may have ended the connection."""
        try:
            return super().apply_async(*arguments, **options)
        except SchedulingError:
            self.connection.collect()  # type: ignore[has-type]
            self.connection = self.app.connection_for_write()
            self.producer = self.Producer(self.connection, auto_declare=False)  # connects when it sends
            raise

    def tick(self, *arguments: Any, **options: Any) -> float:
        if monotonic() - self._sent_at >= EVERY:
            self._sent_at = monotonic()
            send()
        seconds: float = super().tick(*arguments, **options)
        return min(seconds, EVERY)
