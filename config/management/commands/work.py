"""`manage.py work`: a worker."""

import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from config.celery import app
from config.heartbeat import WorkerHeartbeat
from webhooks.management.sessions import require_whole_sessions


class Command(BaseCommand):
    help = "Sends deliveries and does background work, by Celery with WORKER_THREADS. SIGTERM lets attempts in flight end."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pool", choices=["threads", "prefork"], default="threads")

    def handle(self, *args: Any, pool: str, **options: Any) -> None:
        require_whole_sessions()
        app.steps["consumer"].add(WorkerHeartbeat)
        app.worker_main([
            "worker",
            f"--pool={pool}",
            f"--concurrency={settings.WORKER_THREADS}",
            f"--hostname=work-{os.getpid()}@%h",  # several on one machine
            "--without-mingle",
            "--without-gossip",
            "--without-heartbeat",
        ])  # fmt: skip
