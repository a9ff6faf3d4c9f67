"""`manage.py schedule`: the scheduler."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from config.celery import app


class Command(BaseCommand):
    help = "Has workers do what is due periodically, by Celery's beat. One is enough, and a second one does no harm."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--state",
            default=str(settings.VAR_DIR / "schedule"),
            help="the file that keeps when each task ran last (default: %(default)s)",
        )

    def handle(self, *args: Any, state: str, **options: Any) -> None:
        settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
        app.start(["beat", "--scheduler=config.heartbeat.Scheduler", f"--schedule={state}", "--pidfile="])
