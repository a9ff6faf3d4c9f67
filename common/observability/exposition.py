"""What a process shows at `/metrics`, in the text format of Prometheus, and a server for processes that have no other.

Each process shows its own figures, those of a web server together. The scheduler adds the shared ones of `config.observability.gauges`, so that
the database is asked for them once, however many processes there are (docs/decisions/0082).
"""

import logging
import os
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from django.conf import settings
from django.db import connections
from django.utils.crypto import constant_time_compare
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from common.observability import counts
from common.observability.metrics import DELIVERY_STEPS
from common.observability.objectives import OBJECTIVES
from common.web import requests

log = logging.getLogger(__name__)

NAME: Final = "extension_platform"
PATIENCE: Final = 10  # seconds for a request

Figures = Callable[[], Iterable[Metric]]


def text() -> bytes:
    return _counted() + generate_latest(_READ)


def show(sources: Mapping[str, Figures]) -> None:
    """Show these from now on, too: what they are about, and a function that reads them."""
    for what, figures in sources.items():
        if what not in _shown:
            _shown[what] = _Source(what, figures)
            _READ.register(_shown[what])


def is_operator(environ: Mapping[str, Any]) -> bool:
    token = requests.token_of(environ.get("HTTP_AUTHORIZATION", ""))
    return constant_time_compare(token, settings.METRICS_TOKEN)


def gauge(name: str, description: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"{NAME}_{name}", description, value=value)


def family(name: str, description: str, label: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"{NAME}_{name}", description, labels=[label])


# What is counted


def _counted() -> bytes:
    """The counters of this process, or of all processes if they share a directory."""
    folder = counts.folder()
    if folder is None:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    with counts.locked(folder):
        return generate_latest(registry)


# What is read when somebody asks


class _Source(Collector):
    """Left out if it can't be read, so that the others are there when they are needed most.

    One at a time reads it, since a silent server holds up its reader. Meanwhile others go without.
    """

    def __init__(self, what: str, figures: Figures) -> None:
        self._what = what
        self._figures = figures
        self._lock = threading.Lock()

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        if not self._lock.acquire(blocking=False):
            return
        try:
            yield from list(self._figures())
        except Exception as error:  # whatever the client of a server that is away raises
            log.warning("The metrics lack the %s: %s", self._what, error)
        finally:
            self._lock.release()


def _info() -> Iterator[Metric]:
    info = family("info", "The release that runs here.", "version")
    info.add_metric([settings.VERSION], 1)
    yield info


def _memory() -> Iterator[Metric]:
    """Pages that processes share count for each of them."""
    pages = 0
    for process in counts.processes():
        with suppress(OSError):  # it has ended
            pages += int(Path(f"/proc/{process}/statm").read_text().split()[1])
    yield gauge("memory_bytes", "Resident memory of these processes.", pages * os.sysconf("SC_PAGE_SIZE"))


def _disk() -> Iterator[Metric]:
    disk = shutil.disk_usage(settings.VAR_DIR)
    yield gauge("disk_bytes", "The size of the disk under VAR_DIR.", disk.total)
    yield gauge("disk_free_bytes", "What is free of it.", disk.free)


def _objectives() -> Iterator[Metric]:
    targets = family(
        "objective_target", "The share of an objective's events that should be good.", "objective"
    )
    for each in OBJECTIVES:
        targets.add_metric([each.name], each.target)
    yield targets


_READ: Final = CollectorRegistry()
_shown: Final[dict[str, _Source]] = {}
OF_PROCESSES: Final[dict[str, Figures]] = {
    "version": _info,
    "memory": _memory,
    "disk": _disk,
    "objectives": _objectives,
    "steps of deliveries": DELIVERY_STEPS.collect,
}
show(OF_PROCESSES)


# The server of workers, dispatchers and schedulers


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    timeout = PATIENCE

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  its name there
        """Nothing."""


def serve() -> None:
    """Answer `/metrics` at `METRICS_BIND` from a thread, with the token. A taken address is logged, and ends nothing."""
    if not (settings.METRICS_BIND and settings.METRICS_TOKEN):
        return
    try:
        server = make_server(*settings.METRICS_BIND, _answer, _Server, _Handler)
    except OSError as error:
        log.error("/metrics can't be served at METRICS_BIND: %s", error)
        return
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()


def _answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if environ["PATH_INFO"] != "/metrics":
        status, body = "404 Not Found", b""
    elif not is_operator(environ):
        status, body = "401 Unauthorized", b""
    else:
        try:
            status, body = "200 OK", text()
        finally:
            connections.close_all()  # of this thread
    start_response(status, [("Content-Type", CONTENT_TYPE_LATEST), ("Content-Length", str(len(body)))])
    return [body]
