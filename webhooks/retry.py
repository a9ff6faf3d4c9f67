"""When a failed delivery is tried again. Pure functions over a table; nothing here reads the clock.

Rule: interface, "Retry policy", and docs/contract.md, 5. The waits are the setting
`WEBHOOK_RETRY_DELAYS`, by default 30 s, 2 min, 8 min, 32 min and 2 h.
"""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from django.conf import settings

SPREAD: Final = 0.05  # of a wait: retries come this much late at most, so that they don't all come at once
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
    """When the next attempt is due, or None when this failure was the last of the schedule.

    `attempts_made` counts from the start of the schedule and includes the one that failed at `failed_at`.
    The wait is at least the table's step. A longer `retry_after` counts up to twice the step. `jitter` gives
    0.0 to 1.0 of the spread.
    """
    if attempts_made < 1:
        raise ValueError("The schedule begins after a first attempt.")
    steps = delays()
    if attempts_made > len(steps):
        return None
    step = steps[attempts_made - 1]
    wait = max(step, retry_after or step) + step * SPREAD * jitter()
    return failed_at + min(wait, 2 * step)


def requested_wait(status: int | None, retry_after: str | None, now: datetime) -> timedelta | None:
    """How long an answer asks us to wait: its `Retry-After`, which counts with 429 and 503 only."""
    return parse_retry_after(retry_after, now) if status in _STATUSES_WITH_RETRY_AFTER else None


def parse_retry_after(value: str | None, now: datetime) -> timedelta | None:
    """The wait that a `Retry-After` header names, in seconds or as a date (RFC 9110, 10.2.3).

    Zero for a date that has passed, None for a header that is absent or makes no sense.
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
