"""Celery's worker and beat as threads of this process, on the in-process broker."""

import logging
import threading

from celery.beat import Service

from common.observability import exposition
from config.celery import app
from config.observability import gauges
from webhooks.tasks import stopping

log = logging.getLogger(__name__)

STOP_TIMEOUT = 15.0  # seconds: an attempt under way may take 10


class Background:
    """Starts worker and beat, and stops them in an order that loses nothing.

    The threads are daemons. If one hangs, its work is still in the database.
    """

    def __init__(self) -> None:
        self._worker = app.WorkController(
            pool="threads", concurrency=4, without_heartbeat=True, without_mingle=True, without_gossip=True
        )
        # The plain scheduler keeps its state in memory: the schedule is static and its tasks are sweeps.
        self._beat = Service(app, scheduler_cls="celery.beat:Scheduler", max_interval=1)
        self._threads = [
            threading.Thread(target=self._worker.start, name="celery-worker", daemon=True),
            threading.Thread(target=self._run_beat, name="celery-beat", daemon=True),
        ]

    def start(self) -> None:
        exposition.show(gauges.SHARED)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Wait for a limited time: stopping a thread pool waits for its tasks, and a stuck one must not block Ctrl-C."""
        stopper = threading.Thread(target=self._stop, name="celery-stop", daemon=True)
        stopper.start()
        stopper.join(STOP_TIMEOUT)

    def _run_beat(self) -> None:
        self._beat.start(embedded_process=False)

    def _stop(self) -> None:
        stopping.set()  # a running dispatcher takes on nothing new
        self._beat.stop()
        self._worker.stop()
