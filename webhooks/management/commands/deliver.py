"""`manage.py deliver`: sends deliveries without Celery."""

import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from common.db.schema import require_migrations
from common.observability import exposition
from common.observability.garbage import collect_regularly
from webhooks.engine.dispatcher import Dispatcher
from webhooks.management.startup import require_keys, require_whole_sessions


class Command(BaseCommand):
    help = "Sends what is due, and ends. With --forever it goes on until SIGTERM or Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--forever", action="store_true", help="wait for further deliveries")

    def handle(self, *args: Any, forever: bool, **options: Any) -> None:
        require_whole_sessions()
        require_migrations()
        require_keys()
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        collect_regularly()
        if forever:
            exposition.serve()
        attempts = Dispatcher(stop=stop).run(idle=None if forever else 0.0)
        self.stdout.write(f"{attempts} attempts made.")
