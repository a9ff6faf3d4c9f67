"""`manage.py push_to_platform`: the process that pushes."""

import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import close_old_connections

from extension_platform_store.django.connection import sender


class Command(BaseCommand):
    help = "Push what has changed to the platform, until it is stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--once", action="store_true", help="push what waits, and end")
        which.add_argument(
            "--fill", action="store_true", help="push all products and pages without events, and end"
        )
        which.add_argument(
            "--compare", action="store_true", help="compare everything, push what differs, and end"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        pushing = sender()
        if options["fill"]:
            pushing.fill()
        if options["compare"]:
            for resource, numbers in pushing.compare().items():
                self.stdout.write(f"{resource}: {numbers}")
        if options["once"] or options["fill"] or options["compare"]:
            while pushing.step():
                pass
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        while not stop.is_set():
            rest = pushing.once()
            if pushing.failures:
                close_old_connections()  # the database may have been away
            stop.wait(rest)
