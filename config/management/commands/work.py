"""`manage.py work`: a worker."""

import logging
import os
import resource
import sys
from argparse import ArgumentParser
from typing import Any, Final

from celery.signals import worker_ready, worker_shutdown
from django.conf import settings

from common.db.schema import require_migrations
from common.observability import exposition
from config.celery import app
from config.heartbeat import WorkerHeartbeat
from config.management.servers import ServerCommand
from webhooks.management.startup import require_keys, require_whole_sessions

log = logging.getLogger(__name__)
OPEN_FILES: Final = 8192  # a dispatcher has up to 512 connections, and each thread may run one


class Command(ServerCommand):
    help = "Sends deliveries and does background work, by Celery with WORKER_THREADS. SIGTERM lets attempts in flight end."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pool", choices=["threads", "prefork"], default="threads")

    def handle(self, *args: Any, pool: str, **options: Any) -> None:
        require_whole_sessions()
        require_migrations()
        require_keys()
        allow_open_files(OPEN_FILES)
        app.steps["consumer"].add(WorkerHeartbeat)
        exposition.serve()
        worker_ready.connect(lambda **_: log.info("The worker is ready."), weak=False)
        worker_shutdown.connect(lambda **_: log.info("The worker has stopped."), weak=False)
        sys.__stdout__ = None  # type: ignore[misc]  # Celery says there that it stops, and would break the log's lines
        app.worker_main([
            "--quiet",
            "worker",
            f"--pool={pool}",
            f"--concurrency={settings.WORKER_THREADS}",
            f"--hostname=work-{os.getpid()}@%h",  # several on one machine
            "--without-mingle",
            "--without-gossip",
            "--without-heartbeat",
        ])  # fmt: skip


def allow_open_files(count: int) -> None:
    """Let this process open as many, if its hard limit does. Many systems begin with 1024, too few for two dispatchers."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
