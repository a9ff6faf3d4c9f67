"""What an app did in one store by API calls, for the store's owner."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils import timezone

from activity.models import ApiCall
from activity.services.retention import KEPT
from installations.models import Installation

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
    newest = ApiCall.objects.filter(installation=installation, at__gte=timezone.now() - KEPT)
    columns = newest.order_by("-at", "-id").values_list("method", "route", "scope", "status", "at")
    rows = list(columns[: READ + 1])
    times = [(at, method not in ("GET", "HEAD")) for method, _, _, status, at in rows[:READ] if status < 400]
    return Summary(list(_grouped(rows[:READ])), times, len(rows) > READ)


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
