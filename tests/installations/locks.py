"""Waiting until others wait for us."""

from collections.abc import Callable

from django.db import connection

from tests.waiting import wait_until

WAITING = """
    SELECT count(*) FROM pg_locks WHERE NOT granted AND (
        pg_backend_pid() = ANY(pg_blocking_pids(pid))
        -- The second to wait for a row waits for the first, by a lock on the tuple.
        OR locktype = 'tuple' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
"""


def wait_for_locks(number: int, or_until: Callable[[], bool] = lambda: False) -> None:
    """Return once that many other sessions wait for a lock of this transaction."""

    def all_wait() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(WAITING)
            return bool(cursor.fetchone()[0] >= number)

    wait_until(lambda: or_until() or all_wait())
