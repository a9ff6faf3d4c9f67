"""What runs in a demo. Threads of its one process: the web server (waitress, with a thread of its own for `/healthz`, as `config.web_worker`
gives to gunicorn), the dispatcher, and Celery's worker and beat on the in-process broker. Beside it, the sample app, as a third party's would be.
"""

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from time import sleep
from typing import Any, Final

from celery.beat import Service
from django.conf import settings
from waitress.channel import HTTPChannel
from waitress.server import create_server
from waitress.task import ThreadedTaskDispatcher

from common.observability import exposition
from config.celery import app
from config.demo.order_bell import Credentials
from config.observability import gauges
from config.schedule import SCHEDULE
from config.wsgi import application
from stores.addresses import stores_origin
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


# --- The sample app ----------------------------------------------------------------------------------

PASSED_ON = ("PATH", "PYTHONPATH", "HOME", "LANG")


class SampleApp:
    """`examples.sample_app` on a port of its own.

    It stops when its standard input closes, so it never outlives the demo, not even one that is killed.
    """

    def __init__(self, *, port: int, state_file: Path, shop: str = "") -> None:
        self.url = f"http://localhost:{port}"  # apart from the platform's cookies, which ignore ports
        self.state_file = state_file
        self._port = port
        self._framed_by = f"{stores_origin()} {shop}".rstrip()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, credentials: Credentials) -> None:
        """Pass the credentials in the environment, because everyone on the machine can read a command line."""
        self.state_file.parent.mkdir(parents=True, exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if name in PASSED_ON}
        given = {
            "CLIENT_ID": credentials.client_id,
            "CLIENT_SECRET": credentials.client_secret,
            "ACCESS_TOKEN": " ".join(token for token, _ in credentials.stores),
            "WEBHOOK_SECRET": " ".join(secret for _, secret in credentials.stores),
        }
        environment |= {name: value for name, value in given.items() if value}
        self._process = subprocess.Popen(  # noqa: S603
            [
                sys.executable, "-m", "examples.sample_app",
                "--port", str(self._port),
                "--platform", settings.BASE_URL,
                "--stores", self._framed_by,
                "--state-file", str(self.state_file),
                "--exit-with-stdin",
            ],
            cwd=settings.BASE_DIR,
            env=environment,
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches the demo, which then ends the app
        )  # fmt: skip

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


# --- The web server ----------------------------------------------------------------------------------

PROBE: Final = "/healthz"


class RequestDispatcher(ThreadedTaskDispatcher):
    """Hands requests to threads, once all of their bytes are there."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self.set_thread_count(threads)
        self._for_probes = ThreadedTaskDispatcher()
        self._for_probes.set_thread_count(1)

    def add_task(self, task: HTTPChannel) -> None:
        if _is_probe(task):
            self._for_probes.add_task(task)
        else:
            super().add_task(task)

    def shutdown(self, cancel_pending: bool = True, timeout: float = 5) -> Any:
        self._for_probes.shutdown(cancel_pending, timeout)
        return super().shutdown(cancel_pending, timeout)


def web_server(listen: str) -> Any:
    """A server that listens at these addresses (`HOST:PORT HOST:PORT`) until its `close`. `run` serves."""
    return create_server(
        application,
        listen=listen,
        clear_untrusted_proxy_headers=True,
        _dispatcher=RequestDispatcher(settings.WEB_THREADS),
    )


def _is_probe(channel: HTTPChannel) -> bool:
    """Whether nothing but a whole request for `/healthz` is there, and nothing that the client has yet to read."""
    return [each.path for each in channel.requests] == [PROBE] and not channel.total_outbufs_len
