"""`manage.py stream_events`: copies the events of all stores to an operator's own bus or warehouse."""

import logging
import shlex
import shutil
import signal
import threading
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.utils.text import slugify

from common.db.outages import is_outage
from common.db.schema import require_migrations
from common.errors import Conflict, Unavailable
from streams.services import batches
from streams.targets import Bucket, InFolder, NotTaken, Pipe, Target

log = logging.getLogger(__name__)

TRIED_AGAIN_AFTER: Final = 10.0  # seconds
PASSING: Final = (OSError, NotTaken, Unavailable)


class Command(BaseCommand):
    help = "Writes the events of all stores that were not written yet, as lines of JSON, and ends."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="of the stream, which remembers how far it has come")
        target = parser.add_mutually_exclusive_group(required=True)
        target.add_argument(
            "--to", help="a folder, or s3://bucket/folder?endpoint=…&region=…: a file for each batch"
        )
        target.add_argument("--command", help="reads each batch from its standard input, and exits with 0")
        target.add_argument("--delete", action="store_true", help="forget the stream, and end")
        parser.add_argument(
            "--forever", action="store_true", help="wait for further events until SIGTERM or Ctrl-C"
        )
        parser.add_argument(
            "--batch", type=int, default=10_000, help="events of a batch (default: %(default)s)"
        )
        parser.add_argument(
            "--every", type=float, default=10.0,
            help="with --forever, seconds after a batch that was not full (default: %(default)s)",
        )  # fmt: skip

    def handle(self, *args: Any, name: str, forever: bool, batch: int, every: float, **options: Any) -> None:
        if slugify(name) != name or len(name) > 50 or batch < 1:
            raise CommandError(
                "The name has lower-case letters, digits and hyphens, and --batch is at least 1."
            )
        require_migrations()
        if options["delete"]:
            batches.forget(name)
            return
        target = _target(options["to"], options["command"])
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT) if forever else ():
            signal.signal(number, lambda *_: stop.set())
        total = 0
        while not stop.is_set():
            written = self._write(name, target, batch, forever=forever)
            total += written.events if written else 0
            if written and written.is_last and not forever:
                break
            if not written or written.is_last:
                stop.wait(every if written else TRIED_AGAIN_AFTER)
        self.stdout.write(f"{total} events written.")

    def _write(self, name: str, target: Target, batch: int, *, forever: bool) -> batches.Written | None:
        """None if the batch has to be written again."""
        try:
            return batches.write_next(name, target.write, limit=batch)
        except Conflict as error:
            raise CommandError(str(error)) from error
        except Exception as error:
            if not (isinstance(error, PASSING) or is_outage(error)):
                raise
            if not forever:
                raise CommandError(f"The batch was not written: {error}.") from error
            log.error("Stream %s: the batch was not written, and will be: %s", name, error)
            connection.close()
            return None


def _target(to: str | None, command: str | None) -> Target:
    if command:
        arguments = shlex.split(command)
        if not arguments or not shutil.which(arguments[0]):
            raise CommandError(
                f"There is no program {arguments[:1]} to run. Give --command a program and its arguments."
            )
        return Pipe(arguments)
    assert to
    if "://" not in to:
        return InFolder(Path(to))
    try:
        return Bucket(to)
    except ValueError as error:
        raise CommandError(f"--to {error}.") from error
    except ImportError as error:
        raise CommandError(
            "--to with a bucket needs packages that are not installed: pip install '.[s3]'"
        ) from error
