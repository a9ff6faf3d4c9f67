"""The retry schedule (contract, section 5). Nothing here reads the clock.

The waits are the setting `WEBHOOK_RETRY_DELAYS`, by default 30 s, 2 min, 8 min, 32 min and 2 h.
"""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from django.conf import settings

# The longest random delay, as a share of the wait, so that retries don't all come at once.
SPREAD: Final = 0.05
_LONGEST_WAIT: Final = timedelta(days=365)
_STATUSES_WITH_RETRY_AFTER: Final = (429, 503)


def delays() -> tuple[timedelta, ...]:
    """The wait before the first retry, the second, and so on."""
    return tuple(timedelta(seconds=seconds) for seconds in settings.WEBHOOK_RETRY_DELAYS)


def next_attempt_at(
    *,
    attempts_made: int,
    failed_at: datetime,
    retry_after: timedelta | None = None,
    jitter: Callable[[], float] = random.random,
) -> datetime | None:
    """When the next attempt is due, or None after the last one of the schedule.

    `attempts_made` counts from the start of the schedule and includes the one that failed at `failed_at`. The wait is
    at least the table's step; a longer `retry_after` counts up to twice the step. `jitter` returns the share of the
    spread, from 0.0 to 1.0.
    """
    if attempts_made < 1:
        raise ValueError("The schedule starts after the first attempt.")
    steps = delays()
    if attempts_made > len(steps):
        return None
    step = steps[attempts_made - 1]
    wait = max(step, retry_after or step) + step * SPREAD * jitter()
    return failed_at + min(wait, 2 * step)


def requested_wait(status: int | None, retry_after: str | None, now: datetime) -> timedelta | None:
    """The wait that a response requests: its `Retry-After`, which counts with 429 and 503 only."""
    return parse_retry_after(retry_after, now) if status in _STATUSES_WITH_RETRY_AFTER else None


def parse_retry_after(value: str | None, now: datetime) -> timedelta | None:
    """The wait in a `Retry-After` header, given in seconds or as a date (RFC 9110, 10.2.3).

    Zero for a date in the past, None for a missing or invalid header.
    """
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=int(text[:10])), _LONGEST_WAIT)
    try:
        moment = parsedate_to_datetime(text)
        wait = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now
    except (ValueError, OverflowError):
        return None
    return min(max(wait, timedelta(0)), _LONGEST_WAIT)
