"""`manage.py check_restored`: whether a restored copy of the database is whole (docs/operations-run.md, "A restore for a try")."""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections
from django.db.models import Max
from django.utils import timezone

from accounts.models import Business
from common.db.schema import unapplied
from config.models import BackupRecord
from config.reencryption import decrypted
from stores.models import Order
from webhooks.models import DispatcherSlot, Event

RESTORED: Final = "restored"
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


class Command(BaseCommand):
    help = (
        "Checks a copy of the database that was restored on another server: schema, secrets, and how new it is. Names, user "
        "and password are those of DATABASE_URL. Ends with 1 if something is wrong; else /metrics shows when this was."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", required=True, help="of the server with the copy")
        parser.add_argument("--port", type=int, default=5432)
        parser.add_argument(
            "--began",
            type=datetime.fromisoformat,
            help="when the restore began, such as 2026-11-22T14:05:00+00:00; now",
        )
        parser.add_argument(
            "--behind",
            type=int,
            default=3600,
            help="how many seconds the newest row may be older than that; 3600",
        )

    def handle(
        self, *args: Any, host: str, port: int, began: datetime | None, behind: int, **options: Any
    ) -> None:
        connections.databases[RESTORED] = copy_at(host, port)
        began = began or timezone.now()
        try:
            self._check(began, timedelta(seconds=behind))
        except (DatabaseError, ImproperlyConfigured) as error:
            raise CommandError(f"The restored database can't be used: {error}") from error
        finally:
            connections[RESTORED].close()
        self.stdout.write(f"Restored and checked in {timezone.now() - began}.")
        BackupRecord.objects.update_or_create(what=BackupRecord.What.DRILL, defaults={"at": began})

    def _check(self, began: datetime, behind: timedelta) -> None:
        if lacking := unapplied(RESTORED):
            raise CommandError(f"It lacks {len(lacking)} of this release's migrations, first {lacking[0]}.")
        self.check(databases=[RESTORED])
        for kind, count in decrypted(RESTORED):
            self.stdout.write(f"{kind}: {count} secrets can be decrypted.")
        for model in (Business, Order):
            self.stdout.write(f"{model._meta.label}: {model._base_manager.using(RESTORED).count()} rows.")
        newest = max(filter(None, newest_rows()), default=None)
        if newest is None:
            raise CommandError("It has no row that tells how new it is.")
        age = max(began - newest, timedelta())
        self.stdout.write(f"The newest row is from {newest}, {age} before the restore began.")
        if age > behind:
            raise CommandError(f"That is more than {behind}: is the log archived, and are backups taken?")


def copy_at(host: str, port: int) -> dict[str, Any]:
    """The settings of `DATABASE_URL`, for the server with the copy. On this machine it needs no TLS."""
    ours = connections.databases["default"]
    options = {
        name: value
        for name, value in ours["OPTIONS"].items()
        if host not in LOOPBACK or not name.startswith("ssl")
    }
    return ours | {"HOST": host, "PORT": port, "OPTIONS": options}


def newest_rows() -> Iterator[datetime | None]:
    """Times of what is written often: heartbeats of dispatchers, each second, events and orders."""
    for model, column in ((DispatcherSlot, "seen_at"), (Order, "created_at")):
        yield from model._base_manager.using(RESTORED).aggregate(newest=Max(column)).values()
    # By id, which begins with the time: there are many.
    yield from Event.objects.using(RESTORED).order_by("-id").values_list("occurred_at", flat=True)[:1]
