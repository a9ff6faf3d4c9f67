"""Reading what was streamed."""

from pathlib import Path
from typing import Any

import orjson
from django.core.management import call_command
from django.db.models import Max

from tests.webhooks.helpers import wait_until
from webhooks.feed import current_horizon
from webhooks.models import Event


def ids(events: list[dict[str, Any]]) -> list[str]:
    return [each["id"] for each in events]


def all_ids() -> list[str]:
    return [str(id_) for id_ in Event.objects.order_by("position", "id").values_list("id", flat=True)]


def read(folder: Path) -> list[dict[str, Any]]:
    """The lines of all files, in the order of their names."""
    return [orjson.loads(line) for file in files(folder) for line in file.read_bytes().splitlines()]


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.ndjson"))


def wait_until_readable() -> None:
    """Until no transaction of another test on the same server holds events back."""
    newest = Event.objects.aggregate(newest=Max("position"))["newest"] or 0
    wait_until(lambda: current_horizon() > newest, timeout=60)


def stream(*options: str, to: Path | str = "", name: str = "warehouse") -> None:
    """Run the command."""
    wait_until_readable()
    call_command("stream_events", name, *(["--to", str(to)] if to else []), *options, verbosity=0)
