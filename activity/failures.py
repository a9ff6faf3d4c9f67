"""Failed API calls of an app's last 24 hours, grouped by error and endpoint."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from activity.models import ApiCall
from marketplace.models import App

HOURS: Final = 24
SEEN: Final = 5_000  # calls, newest first, so that the cost doesn't grow with an app's calls
MOST: Final = 10  # groups


@dataclass(frozen=True, slots=True)
class FailedCalls:
    """Calls with the same error at the same endpoint. `route` is empty for unknown paths, `code` in older rows."""

    status: int
    code: str
    method: str
    route: str
    last_at: datetime
    hours: Sequence[int]  # the oldest first; the last one hasn't ended

    @property
    def count(self) -> int:
        return sum(self.hours)


def failed_calls(app: App, now: datetime | None = None) -> list[FailedCalls]:
    """Those of the newest 5,000 calls, the most frequent first. One statement."""
    now = now or timezone.now()
    last = now.replace(minute=0, second=0, microsecond=0)
    first = last - timedelta(hours=HOURS - 1)
    newest = ApiCall.objects.filter(app=app, at__gte=first).order_by("-at", "-id")
    groups: dict[tuple[int, str, str, str], list[datetime]] = defaultdict(list)
    for at, status, code, method, route in newest.values_list(
        "at", "status", "error_code", "method", "route"
    )[:SEEN]:
        if status >= 400:
            groups[status, code, method, route].append(at)
    found = [FailedCalls(*key, times[0], _by_hour(times, first)) for key, times in groups.items()]
    return sorted(found, key=lambda each: (-each.count, each.route, each.status))[:MOST]


def _by_hour(times: Sequence[datetime], first: datetime) -> list[int]:
    counts = [0] * HOURS
    for at in times:
        counts[min((at - first) // timedelta(hours=1), HOURS - 1)] += 1
    return counts
