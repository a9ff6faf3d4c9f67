"""API calls in sums: what an app did in one store, for its owner, and what failed, for the developer."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import DateTimeField, UUIDField
from django.utils import timezone

from activity.models import ApiCall
from activity.services.retention import KEPT
from common.db.compiled import Compiled, Param
from installations.models import Installation
from marketplace.models import App

HOURS: Final = 24
SEEN: Final = 5_000  # calls, newest first, so that the cost doesn't grow with an app's calls
MOST: Final = 10  # groups
READ: Final = 5_000  # calls


@dataclass(frozen=True, slots=True)
class Done:
    """Calls of one kind. `scope` is empty where none is needed, and `is_refused` unites all that failed for the lack of one."""

    method: str
    route: str
    scope: str
    is_refused: bool
    count: int
    last: datetime


@dataclass(frozen=True, slots=True)
class Summary:
    """The newest 5,000 calls of the last seven days. `is_cut` where there are more."""

    done: list[Done]  # latest kind first
    times: list[tuple[datetime, bool]]  # of all these calls, latest first, with whether it changed something
    is_cut: bool


def done_in(installation: Installation) -> Summary:
    """One statement."""
    rows = _NEWEST.rows(limit=READ + 1, installation=installation.pk, since=timezone.now() - KEPT)
    times = [(at, method not in ("GET", "HEAD")) for method, _, _, status, at in rows[:READ] if status < 400]
    return Summary(list(_grouped(rows[:READ])), times, len(rows) > READ)


def _newest() -> Any:
    installation, since = Param("installation", UUIDField()), Param("since", DateTimeField())
    rows = ApiCall.objects.filter(installation=installation, at__gte=since).order_by("-at", "-id")
    return rows.values_list("method", "route", "scope", "status", "at")


_NEWEST: Final[Compiled[Any]] = Compiled(_newest)


def _grouped(rows: Iterable[tuple[str, str, str, int, datetime]]) -> Iterable[Done]:
    found: dict[tuple[str, str, str, bool], tuple[int, datetime]] = {}
    for method, route, scope, status, at in rows:
        if status < 400:
            key = method, route, scope, False
        elif status == 403:
            key = "", "", scope, True
        else:
            continue
        count, last = found.get(key, (0, at))
        found[key] = count + 1, last
    return (Done(*key, count, last) for key, (count, last) in found.items())


# Failed API calls of an app's last 24 hours, grouped by error and endpoint.


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
