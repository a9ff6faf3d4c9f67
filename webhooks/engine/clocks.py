"""Compares this machine's clock with the database's.

Any machine may write a due time. When the clocks differ, a dispatcher uses the database's clock for everything it reads
and writes there, so a worker with a wrong clock sends neither early nor late. Signatures carry the machine's own time:
receivers reject a wrong one, which reveals the wrong clock.
"""

import logging
from datetime import datetime, timedelta
from typing import Final

from django.db import connection
from django.utils import timezone

log = logging.getLogger(__name__)

TOLERATED: Final = timedelta(seconds=1)


class DatabaseClock:
    """The database's time, as of the last comparison. This machine's time if the two differ by at most a second."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        return timezone.now() + self._ahead

    def compare(self) -> None:
        """Read the database's time. Logs a warning if the clocks differ by more than a second."""
        ahead = database_ahead()
        self._ahead = ahead if abs(ahead) > TOLERATED else timedelta()
        if self._ahead:
            log.warning(
                "The clocks of this machine and of the database differ by %.1f s. Deliveries follow the database's "
                "clock, but receivers reject signatures that are 5 minutes off.",
                abs(ahead.total_seconds()),
            )


def database_ahead() -> timedelta:
    """How far the database's clock is ahead of ours. Zero for SQLite, which uses ours."""
    if connection.vendor != "postgresql":
        return timedelta()
    with connection.cursor() as cursor:
        before = timezone.now()
        cursor.execute("SELECT clock_timestamp()")
        database_time: datetime = cursor.fetchone()[0]
        return database_time - (before + (timezone.now() - before) / 2)
