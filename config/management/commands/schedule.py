"""`manage.py schedule`: the scheduler."""

import logging
from argparse import ArgumentParser
from typing import Any, Final

from celery.signals import beat_init
from django.conf import settings

from common.db.postgresql.base import DatabaseWrapper
from common.db.schema import require_migrations
from common.observability import exposition
from config.celery import app
from config.management.servers import ServerCommand
from config.observability import gauges

log = logging.getLogger(__name__)
ANSWERS_WITHIN: Final = 8.0  # seconds; Prometheus waits for ten


class Command(ServerCommand):
    help = "Has workers do what is due periodically, by Celery's beat. One is enough, and a second one does no harm."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--state",
            default=str(settings.VAR_DIR / "schedule"),
            help="the file that keeps when each task ran last (default: %(default)s)",
        )

    def handle(self, *args: Any, state: str, **options: Any) -> None:
        require_migrations()
        settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
        DatabaseWrapper.answers_within = ANSWERS_WITHIN
        exposition.show(gauges.SHARED)
        exposition.serve()
        beat_init.connect(lambda **_: log.info("The scheduler is ready."), weak=False)
        app.start(
            ["--quiet", "beat", "--scheduler=config.heartbeat.Scheduler", f"--schedule={state}", "--pidfile="]
        )
