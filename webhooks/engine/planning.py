"""Makes PostgreSQL plan a dispatcher's statements only once, and with indexes, independent of its statistics.

Between two analyses of the table the queue may grow from nothing to a hundred thousand rows and shrink again. With the
statistics of a quiet moment a claim would scan the whole table, or sort all due rows to get the first few. And planning
a claim costs as much as executing it for a few rows.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

_WANTED = {
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "plan_cache_mode": "force_generic_plan",
}
_BY_INDEX = "; ".join(f"SET {name} = {value}" for name, value in _WANTED.items())
_BY_INDEX_HERE = "; ".join(f"SET LOCAL {name} = {value}" for name, value in _WANTED.items())
_AS_USUAL = "; ".join(f"RESET {name}" for name in _WANTED)


def by_index() -> None:
    """Plan by index in this thread's session from now on."""
    _execute(_BY_INDEX)


def as_usual() -> None:
    """Reset the session for its next user."""
    _execute(_AS_USUAL)


@contextmanager
def by_index_here() -> Iterator[None]:
    """Open a transaction, and plan by index within it. On SQLite, where it would be a write lock, neither."""
    if connection.vendor != "postgresql":
        yield
        return
    with transaction.atomic():
        _execute(_BY_INDEX_HERE)
        yield


def _execute(statements: str) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(statements)
