"""The one function that waits for what processes, threads and servers do.

`tests.plugins.timing` runs a test again if it ran out of time here, and never after another failure.
"""

import time
from collections.abc import Callable
from typing import TypeVar

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


def waits_for_a_lock() -> bool:
    """Whether a session of the test's PostgreSQL waits for another's lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # else a transaction sees what it saw first
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')"
        )
        (found,) = cursor.fetchone()
    return bool(found)
