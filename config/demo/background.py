"""The dispatcher, and Celery's worker and beat on the in-process broker, as threads of this process."""

import logging
import threading
from time import sleep
from typing import Final

from celery.beat import Service

from common.observability import exposition
from config.celery import app
from config.observability import gauges
from config.schedule import SCHEDULE
from webhooks.engine.dispatcher import Dispatcher
from webhooks.tasks import stopping

log = logging.getLogger(__name__)

STOP_TIMEOUT = 15.0  # seconds: an attempt under way may take 10
PAUSE: Final = 1.0  # seconds until a dispatcher that crashed is replaced


class Background:
    """Starts worker and beat, and stops them in an order that loses nothing.

    The threads are daemons. If one hangs, its work is still in the database.
    """

    def __init__(self) -> None:
        # This process has one dispatcher, so no task needs to look each second whether there are enough.
        app.conf.beat_schedule = {
            name: entry for name, entry in SCHEDULE.items() if name != "webhooks.tasks.dispatch"
        }
        self._worker = app.WorkController(
            pool="threads", concurrency=4, without_heartbeat=True, without_mingle=True, without_gossip=True
        )
        # The plain scheduler keeps its state in memory: the schedule is static and its tasks are sweeps.
        self._beat = Service(app, scheduler_cls="celery.beat:Scheduler", max_interval=5)
        self._dispatcher = threading.Thread(target=_dispatch, name="dispatcher", daemon=True)
        self._threads = [
            self._dispatcher,
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
        self._dispatcher.join()


def _dispatch() -> None:
    while not stopping.is_set():
        try:
            Dispatcher(stop=stopping).run()
        except Exception:
            log.exception("The dispatcher crashed. Another one starts.")
            sleep(PAUSE)
