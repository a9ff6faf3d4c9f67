"""What the newest attempts came to, for operators. It costs the same however many deliveries there are."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from webhooks.models import Attempt

RECENT: Final = timedelta(seconds=60)
READ: Final = 10_000  # attempts at most


@dataclass(frozen=True, slots=True)
class Recent:
    by_outcome: Counter[str]  # "2xx", "5xx", or the class of an error without a response
    lag_p99: float | None  # seconds between an event and its first attempt; None without one


def recent_attempts(now: datetime) -> Recent:
    newest = Attempt.objects.filter(attempted_at__gte=now - RECENT).order_by("-attempted_at")
    rows = newest.values_list("http_status", "error_class", "number", "attempted_at", "delivery__created_at")
    outcomes: Counter[str] = Counter()
    lags = []
    for status, error_class, number, attempted_at, created_at in rows[:READ]:
        outcomes[f"{status // 100}xx" if status else error_class] += 1
        if number == 1:
            lags.append((attempted_at - created_at).total_seconds())
    lags.sort()
    return Recent(outcomes, max(0.0, lags[len(lags) * 99 // 100]) if lags else None)
