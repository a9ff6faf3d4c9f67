"""`flush` as tests with real transactions call it after each test.

Django's own truncates every table, which makes PostgreSQL write hundreds of new files for some fifty empty tables,
and sends `post_migrate` to have content types, permissions and the reviewers' group made again. This one deletes the
rows, and keeps what a migration leaves behind.

A request that a closed browser left behind may still write while the rows go: then the deletion fails, by a deadlock
or by a row whose parent is gone, and is tried once more.
"""

from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connections, transaction

from accounts.models import SecurityEvent

TRIES = 5
KEPT = ("django_content_type", "auth_permission", "auth_group", "auth_group_permissions")


class Command(BaseCommand):
    stealth_options = ("reset_sequences", "allow_cascade", "inhibit_post_migrate", "interactive")

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--database", default="default")

    def handle(self, *args: Any, database: str, **options: Any) -> None:
        for _ in range(TRIES - 1):
            try:
                return self._delete_rows(database)
            except DatabaseError:
                continue
        return self._delete_rows(database)

    def _delete_rows(self, database: str) -> None:
        connection = connections[database]
        delete = [f"DELETE FROM {connection.ops.quote_name(table)}" for table in _tables()]  # noqa: S608 - names of tables
        lift, restore = _guards(connection)
        # Foreign keys are checked when this transaction ends, so the order of the tables is all the same.
        with transaction.atomic(using=database), connection.cursor() as cursor:
            for statement in lift:
                cursor.execute(statement)
            for statement in ["; ".join(delete)] if connection.vendor == "postgresql" else delete:
                cursor.execute(statement)
            for statement in restore:
                cursor.execute(statement)


def _guards(connection: Any) -> tuple[list[str], list[str]]:
    """Statements that lift the triggers which keep the security log as it is, and put them back."""
    if connection.vendor == "postgresql":
        alter = f"ALTER TABLE {SecurityEvent._meta.db_table}"
        return [f"{alter} DISABLE TRIGGER USER"], [f"{alter} ENABLE TRIGGER USER"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = cursor.fetchall()
    return [f"DROP TRIGGER {name}" for name, _ in triggers], [sql for _, sql in triggers]


def _tables() -> list[str]:
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    return sorted({model._meta.db_table for model in models if not model._meta.proxy} - {*KEPT})
