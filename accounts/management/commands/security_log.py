"""`manage.py security_log`: the security log of all people as JSON lines, for an archive outside the database."""

from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.services import security_log
from common.times import parse_moment


class Command(BaseCommand):
    help = "Writes the security log to standard output, one JSON object a line, oldest first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--since", type=_moment, help="ISO 8601, such as 2026-11-20T00:00:00Z")

    def handle(self, *args: Any, since: datetime | None, **options: Any) -> None:
        for line in security_log.as_json_lines(since):
            self.stdout.write(line)


def _moment(text: str) -> datetime:
    try:
        return parse_moment(text)
    except ValueError as error:
        raise CommandError(f"--since: {error}") from error
