"""gunicorn's configuration: `gunicorn --config python:config.gunicorn config.wsgi`, which `manage.py serve` runs.

gunicorn reads every name here that is one of its settings.
"""

import os
from contextlib import suppress
from hashlib import sha256
from logging.config import dictConfig
from pathlib import Path
from typing import Any

from gunicorn.glogging import Logger

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings

from common.db.postgresql.base import DatabaseWrapper
from config.observability.logs import log_crashes_and_warnings
from config.web_worker import Worker

log_crashes_and_warnings()
MEMORY = Path("/dev/shm")  # noqa: S108


def metrics_folder(bind: str) -> Path:
    """In memory, unless there is such a folder of somebody else. Of this installation's server at this address alone."""
    on_disk = settings.VAR_DIR / "metrics" / bind.replace("/", "_")
    folder = MEMORY / f"extension-platform-{os.getuid()}-{sha256(bytes(on_disk)).hexdigest()[:16]}"
    try:
        folder.mkdir(exist_ok=True, mode=0o700)
        return folder if folder.lstat().st_uid == os.getuid() else on_disk
    except OSError:
        return on_disk


# People and apps get a 503 instead of waiting for a database that is silent. Workers go on waiting.
DatabaseWrapper.answers_within = 8.0  # seconds


class logger_class(Logger):  # noqa: N801  # gunicorn's name for the setting
    """gunicorn's own log in the form of ours. Its setting `logconfig_dict` would also turn on a log of every request."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        dictConfig(settings.LOGGING)


bind = settings.BIND
workers = settings.WEB_PROCESSES
worker_class = Worker
threads = settings.WEB_THREADS
timeout = 60  # seconds without a sign of life from a process, not the longest request
graceful_timeout = 30  # seconds for requests in progress at a stop
keepalive = (
    75  # seconds; longer than proxies keep idle connections, so they never send a request into a closing one
)
limit_request_line = 8190  # bytes, the most that gunicorn takes; RFC 9112, 3, recommends to read 8,000
# `TRUSTED_PROXIES` decides whose headers count. By itself gunicorn would trust everything on this machine.
forwarded_allow_ips = ""
control_socket_disable = True
if MEMORY.is_dir():  # on a busy disk a sign of life can take too long
    worker_tmp_dir = str(MEMORY)

METRICS = "PROMETHEUS_MULTIPROC_DIR"
if settings.METRICS_TOKEN:
    # Before the processes import the library, which looks for the variable once.
    os.environ.setdefault(METRICS, str(metrics_folder(bind)))


def on_starting(server: Any) -> None:
    """Remove counters of earlier processes. Without the folder each process counts for itself."""
    if METRICS in os.environ:
        folder = Path(os.environ[METRICS])
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for file in folder.glob("*.db"):
            file.unlink(missing_ok=True)


def post_worker_init(worker: Any) -> None:
    """The application is loaded, and requests are taken from now on."""
    from config.wsgi import make_documentation

    make_documentation()


def child_exit(server: Any, worker: Any) -> None:
    """Keep the counters of a process that ended in the sums."""
    if METRICS in os.environ:
        from common.observability import counts

        counts.add_up(Path(os.environ[METRICS]), worker.pid)
