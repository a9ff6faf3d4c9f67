"""Two clocks must agree: due times are written by whichever machine, and a signature bears the time of its sender.

Where they don't, a dispatcher goes by the database's for all that it reads and writes there, so that a worker with a
wrong clock neither sends early nor lets others wait. What it signs bears its own time: receivers refuse it, and so
the mistake is seen where it is.
"""

import logging
from datetime import datetime, timedelta
from typing import Final

from django.db import connection
from django.utils import timezone

log = logging.getLogger(__name__)

TOLERATED: Final = timedelta(seconds=1)


class DatabaseClock:
    """The time by the database, as of the last comparison; our own as long as the two hardly differ."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        return timezone.now() + self._ahead

    def compare(self) -> None:
        """Ask the database for its time. Warns when the clocks differ by more than a second, either way."""
        ahead = database_ahead()
        self._ahead = ahead if abs(ahead) > TOLERATED else timedelta()
        if self._ahead:
            log.warning(
                "The clocks of this machine and of the database differ by %.1f s. Deliveries keep the database's "
                "time, but receivers refuse signatures that are 5 minutes off.",
                abs(ahead.total_seconds()),
            )


def database_ahead() -> timedelta:
    """How far the database's clock is ahead of ours; nothing where it has no clock of its own."""
    if connection.vendor != "postgresql":
        return timedelta()
    with connection.cursor() as cursor:
        asked = timezone.now()
        cursor.execute("SELECT clock_timestamp()")
        told: datetime = cursor.fetchone()[0]
        return told - (asked + (timezone.now() - asked) / 2)
