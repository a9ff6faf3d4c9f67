"""The numbers that order the feed, given by the database in the statement that inserts an event.

PostgreSQL: 64-bit transaction ids, which never repeat within a cluster. SQLite has one writer at a time, so a counter
does; what it wrote is committed before the next writer counts on.
"""

from typing import Any, Final

from django.db import connection
from django.db.models import BigIntegerField, Func

_AFTER_THE_LAST: Final = "(SELECT COALESCE(MAX(position), 0) + 1 FROM webhooks_event)"


class Position(Func):
    """The transaction that inserts the event."""

    template = "pg_current_xact_id()::text::bigint"
    arity = 0
    output_field = BigIntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, tuple[()]]:
        return _AFTER_THE_LAST, ()


class Horizon(Position):
    """The oldest transaction that is still running, or the next one: the first position that can still get events."""

    template = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"


def current_horizon() -> int:
    """The horizon now."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_AFTER_THE_LAST if connection.vendor == 'sqlite' else Horizon.template}")
        return int(cursor.fetchone()[0])
