"""What an app uses: each scope in the last 30 days, deprecated operations, permissions in stores, and its calls in sums. It shows what was
seen, never a promise.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Count, DateTimeField, Exists, Max, Min, OuterRef, QuerySet, Sum, UUIDField, Value
from django.utils import timezone

from activity.models import ApiCall, DeprecatedUse, ScopeUse, StoreScopeUse
from activity.services.retention import KEPT, USE_IN_STORE_KEPT, USE_KEPT
from common.db.compiled import Compiled, Param
from common.db.long_lists import found_in
from common.rest.deprecation import Deprecation, deprecated_operations
from installations.models import Installation
from marketplace.models import App
from marketplace.scopes import SCOPES, Scope, in_order
from webhooks.models import Webhook


@dataclass(frozen=True, slots=True)
class RouteUse:
    route: str  # with its method
    count: int
    last: date


@dataclass(frozen=True, slots=True)
class Usage:
    """A scope that the working copy asks for. `events` are those that a webhook of the app listens to."""

    scope: Scope
    routes: list[RouteUse]
    events: list[str]

    @property
    def calls(self) -> int:
        return sum(each.count for each in self.routes)

    @property
    def is_used(self) -> bool:
        return bool(self.routes or self.events)


def scope_use(app: App) -> list[Usage]:
    """Calls of all installs, test installs included."""
    since = (timezone.now() - USE_KEPT).date() + timedelta(days=1)
    counted = ScopeUse.objects.filter(app=app, day__gte=since).values("scope", "route")
    rows = list(counted.annotate(calls=Sum("count"), last=Max("day")).order_by("-calls", "route"))
    listened = events_heard(app, app.scopes)
    return [
        Usage(
            SCOPES[name],
            [RouteUse(row["route"], row["calls"], row["last"]) for row in rows if row["scope"] == name],
            [event for event in SCOPES[name].events if event in listened],
        )
        for name in app.scopes
    ]


def events_heard(app: App, scopes: Iterable[str], *, in_stores: bool = False) -> set[str]:
    """The events of these scopes that webhooks of active installs listen to; with `in_stores`, only of merchants' installs.

    A webhook without a list gets the app's, which by default is all.
    """
    rows = Webhook.objects.kept().receiving().filter(installation__app=app, installation__uninstalled_at=None)
    if in_stores:
        rows = rows.filter(installation__is_test=False, installation__business__is_sandbox=False)
    lists = found_in(rows, rows.order_by().values_list("events", "is_app_defined").distinct())
    every = [event for name in scopes for event in SCOPES[name].events]
    default = app.webhook_events or every
    return {event for events, _ in lists for event in (events or default)}


# --- Operations that will go -------------------------------------------------------------------------

SHOWN: Final = 10  # stores of an operation


@dataclass(frozen=True, slots=True)
class OperationUse:
    """Calls since `first_at`. `latest` are the installations that called last, at most ten of `installations`."""

    operation: str  # with its method
    deprecation: Deprecation
    calls: int
    installations: int
    first_at: datetime
    last_at: datetime
    latest: Sequence[DeprecatedUse]


def recent_use(now: Any = None) -> QuerySet[DeprecatedUse]:
    """Of operations that are deprecated now, by installations that called them in the last 30 days."""
    since = (now or timezone.now()) - USE_KEPT
    return DeprecatedUse.objects.filter(operation__in=list(deprecated_operations()), last_at__gte=since)


def deprecated_use(app: App) -> list[OperationUse]:
    """Operations that stop first come first. No statement while nothing is deprecated."""
    deprecations = deprecated_operations()
    if not deprecations:
        return []
    of_app = recent_use().filter(app=app)
    found = (
        of_app.order_by()
        .values("operation")
        .annotate(
            calls=Sum("count"), installations=Count("pk"), first_at=Min("first_at"), last_at=Max("last_at")
        )
    )
    uses = [
        OperationUse(
            deprecation=deprecations[each["operation"]],
            latest=list(
                of_app.filter(operation=each["operation"])
                .select_related("installation__business")
                .order_by("-last_at")[:SHOWN]
            ),
            **each,
        )
        for each in found
    ]
    return sorted(uses, key=lambda use: (use.deprecation.end, use.operation))


# --- Permissions, for people who decide about them ---------------------------------------------------

_MIGRATION: Final = "0004_use_in_stores"


@cache
def recorded_since() -> datetime:
    """Calls before the upgrade that began to note the use in stores are not known."""
    applied = MigrationRecorder.Migration.objects.filter(app="activity", name=_MIGRATION)
    return applied.values_list("applied", flat=True).get()


@dataclass(frozen=True, slots=True)
class UseInStores:
    """Of some scopes, over the last 30 days, in stores of merchants: by calls, or by webhooks that listen to their events."""

    used: list[str]
    unused: list[str]

    @property
    def total(self) -> int:
        return len(self.used) + len(self.unused)


def use_in_stores(app: App, scopes: Collection[str]) -> UseInStores | None:
    """None while no store has had the app for 30 days and nothing was used, or if calls of these days weren't logged: then
    nothing can be said. Two statements.
    """
    if not settings.LOG_API_CALLS:
        return None
    since = timezone.now() - USE_KEPT
    in_stores = Installation.objects.filter(app=OuterRef("pk"), is_test=False, business__is_sandbox=False)
    calls = StoreScopeUse.objects.filter(
        app=OuterRef("pk"), last_day__gte=since.date() + timedelta(days=1), installation__is_test=False
    )
    before = in_stores.filter(installed_at__lt=recorded_since()).exclude(uninstalled_at__lt=since)
    asked = {
        "was_unseen": Exists(before) if recorded_since() > since else Value(False),
        "is_known": Exists(in_stores.filter(installed_at__lt=since, uninstalled_at=None)),
        **{f"uses_{name}": Exists(calls.filter(scope=name)) for name in scopes},
    }
    found = App.objects.filter(pk=app.pk).annotate(**asked).values(*asked).first()
    if found is None or found["was_unseen"]:
        return None
    heard = events_heard(app, scopes, in_stores=True)
    used = {name for name in scopes if found[f"uses_{name}"] or heard.intersection(SCOPES[name].events)}
    if not (used or found["is_known"]):
        return None
    return UseInStores(in_order(used), in_order(set(scopes) - used))


def last_uses(installation: Installation) -> dict[str, date]:
    """The last UTC day on which the app used each scope in its store, without those that it never used."""
    return dict(_LAST_USES.rows(installation=installation.pk))


_LAST_USES: Final[Compiled[Any]] = Compiled(
    lambda: StoreScopeUse.objects.filter(installation=Param("installation", UUIDField())).values_list(
        "scope", "last_day"
    ),
    prepared_as="activity_last_uses",
)


def unused_since(installation: Installation, now: datetime) -> datetime:
    """From when on a use in this store would be known: from the install, if that was later than the first record."""
    return max(installation.installed_at, recorded_since(), now - USE_IN_STORE_KEPT)


# --- Calls in sums -----------------------------------------------------------------------------------

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
