"""The one function that waits for what processes, threads and servers do.

`tests.plugins.timing` runs a test again if it ran out of time here, and never after another failure.
"""

import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

from django.db import connection

T = TypeVar("T")


class TimedOut(AssertionError):
    """A wait in vain, maybe because the machine is busy."""


def wait_until(condition: Callable[[], T], timeout: float = 10.0, *, said: Callable[[], object] = str) -> T:
    """The first true value of `condition`. Raises `TimedOut` after `timeout` seconds, with what `said` returns then."""
    end = time.monotonic() + timeout
    while not (found := condition()):
        if time.monotonic() >= end:
            raise TimedOut(f"It did not come true within {timeout:g} s. {said()}".strip())
        time.sleep(0.01)
    return found


WAITING: Final = """
    SELECT count(*) FROM pg_locks WHERE NOT granted AND (
        pg_backend_pid() = ANY(pg_blocking_pids(pid))
        -- The second to wait for a row waits for the first, by a lock on the tuple.
        OR locktype = 'tuple' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
"""


def wait_for_locks(
    number: int, or_until: Callable[[], bool] = lambda: False, *, of: Any = connection
) -> None:
    """Return once that many other sessions wait for a lock of this transaction, or of another session's."""

    def all_wait() -> bool:
        with of.cursor() as cursor:
            cursor.execute(WAITING)
            return bool(cursor.fetchone()[0] >= number)

    wait_until(lambda: or_until() or all_wait())
