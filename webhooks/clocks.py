"""Two clocks must agree: due times are written by whichever machine, and a signature bears the time of its sender."""

import logging
from datetime import timedelta
from typing import Final

from django.db import connection
from django.utils import timezone

log = logging.getLogger(__name__)

TOLERATED: Final = timedelta(seconds=1)


def compare() -> timedelta | None:
    """How far the database's clock is ahead of ours. Warns when it is more than a second, either way.

    None where the database has no clock of its own.
    """
    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        asked = timezone.now()
        cursor.execute("SELECT clock_timestamp()")
        ahead: timedelta = cursor.fetchone()[0] - (asked + (timezone.now() - asked) / 2)
    if abs(ahead) > TOLERATED:
        log.warning(
            "The clocks of this machine and of the database differ by %.1f s. Receivers refuse signatures that are "
            "5 minutes off; retries come as early or late as the clocks differ.",
            abs(ahead.total_seconds()),
        )
    return ahead
