"""How an app does in merchants' stores, for its overview. The cost doesn't grow with installs, deliveries or calls."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import F, UUIDField
from django.db.models.functions import Coalesce

from activity.models import ApiCall
from common.db.compiled import AmongIds, Compiled, Param, keeps_statements, rows_of_each
from common.templatetags.ui import percent
from developers.portal.apps.rows import AppRow, DayOfDeliveries
from extensions.hooks import health
from extensions.models import Breaker, Definition
from marketplace.models import App
from webhooks.enums import DeliveryStatus
from webhooks.insight.analytics import InstallDay
from webhooks.models import Attempt, Delivery
from webhooks.queries import of_app_in_order

NEWEST: Final = 200  # deliveries and calls that are looked at
SHOWN: Final = 5  # of each kind
FAILED: Final = (
    DeliveryStatus.EXHAUSTED,
    DeliveryStatus.RETRYING,
)  # by the last attempt; of others it has to be looked up


State = tuple[UUID, str, int]
"""A delivery's id, status and number of attempts."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed delivery or call. `delivery` is None for a call, else its id. A call that was refused isn't as bad as one that failed."""

    at: datetime
    text: str
    delivery: UUID | None = None
    status: str = ""
    kind: str = "bad"
    icon: str = ""


class RecentCall(NamedTuple):
    """An API call by an installation."""

    at: datetime
    installation: UUID
    method: str
    route: str
    path: str
    status: int


@dataclass(frozen=True, slots=True)
class AppHealth:
    """`faults` are those of the newest 200 deliveries and 200 API `calls`, newest first. `skipped` are hooks that a breaker skips.
    Before a merchant has ever installed the app, none of them is looked for.
    """

    row: AppRow
    faults: Sequence[Fault]
    calls: Sequence[RecentCall]
    hooks: Sequence[Definition]
    skipped: Sequence[Breaker]

    @property
    def is_in_stores(self) -> bool:
        return self.row.is_in_stores


def newest_of(app: App, row: AppRow) -> list[State]:
    """The newest deliveries of an app that is in stores, the newest first, which tell whether its faults have changed."""
    if not row.is_in_stores:
        return []
    return _DELIVERIES.rows(limit=NEWEST, app=app.pk)


def app_health(app: App, row: AppRow, newest: Sequence[State]) -> AppHealth:
    """`row` is by `row_now`, and `newest` by `newest_of`."""
    queries: list[tuple[Compiled[Any], dict[str, Any]]] = [(health.HOOKS_OF_APP, {"app": app.pk})]
    if row.is_in_stores:
        queries.append((_CALLS, {"app": app.pk, "limit": NEWEST}))
    found, *others = rows_of_each(*queries, prepared=keeps_statements())
    hooks = health.in_order(found)
    calls = [RecentCall._make(each) for rows in others for each in rows]
    faults = [*_failed_deliveries(newest), *_failed_calls(calls)]
    return AppHealth(
        row=row,
        faults=sorted(faults, key=lambda each: each.at, reverse=True)[:SHOWN],
        calls=calls,
        hooks=hooks,
        skipped=health.troubled(hooks)[:SHOWN] if row.is_in_stores and row.problems else (),
    )


def _failed_deliveries(newest: Sequence[State]) -> list[Fault]:
    """Those whose last attempt failed, as the figures count them: also one that is being resent, until that has succeeded."""
    failed = {pk for pk, status, _ in newest if status in FAILED}
    unknown = [
        pk for pk, status, tried in newest if tried and status not in (*FAILED, DeliveryStatus.SUCCEEDED)
    ]
    if unknown:
        last = Attempt.objects.filter(delivery__in=unknown, number=F("delivery__attempt_count"))
        failed |= set(last.exclude(error_class="").values_list("delivery", flat=True))
    shown = [pk for pk, *_ in newest if pk in failed][:SHOWN]
    faults = [Fault(*row) for row in _FAULTS.rows(ids=shown)] if shown else []
    return [replace(each, kind="warn") if each.status == DeliveryStatus.RETRYING else each for each in faults]


def _failed_calls(calls: Iterable[RecentCall]) -> list[Fault]:
    failed = [each for each in calls if each.status >= 400][:SHOWN]
    return [_fault_of(each) for each in failed]


def _fault_of(call: RecentCall) -> Fault:
    """What the platform refused is a warning, as in the plots."""
    said = f"{call.status} for {call.method} {call.route or call.path}"
    if call.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return Fault(call.at, said, kind="warn", icon="ban")
    return Fault(call.at, said)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a card. `change` compares it with before: `way` is `up` or `down`, and colored where that is worse. `line` is how it
    went, for the eye.
    """

    name: str
    value: str
    about: str
    change: str = ""
    way: str = ""
    is_worse: bool = False
    line: Sequence[float | None] = ()


def way_of(now: float, before: float) -> str:
    return "" if now == before else "up" if now > before else "down"


def running(last: int, changes: Sequence[int]) -> list[int]:
    """A count at the end of each day or hour, of which the last is known."""
    return [last - sum(changes[number + 1 :]) for number in range(len(changes))]


def figures_of(row: AppRow, installs: Sequence[InstallDay]) -> list[Figure]:
    """Those of the overview, each beside the seven days before. `installs` are those of these days in stores, if they were read."""
    return [
        _installs_figure(row.installs, installs),
        _calls_figure(row),
        _success_figure(row),
        _latency_figure(row),
    ]


def _installs_figure(now: int, days: Sequence[InstallDay]) -> Figure:
    about = "Stores that have the app now"
    if not days:
        return Figure("Installs", f"{now:,}", about)
    changes = [day.installs - day.uninstalls for day in days]
    line = running(now, changes)
    change = sum(changes)
    said = f"{abs(change):,} {'more' if change > 0 else 'fewer'} in a week" if change else "As a week ago"
    return Figure("Installs", f"{now:,}", about, said, way_of(change, 0), change < 0, line)


def _calls_figure(row: AppRow) -> Figure:
    now, before = row.calls, sum(row.call_days[: len(row.days)])
    share = round(100 * (now - before) / before) if before else 0
    said = f"{abs(share):,}% {'more' if share > 0 else 'fewer'} in a week" if share else ""
    line = row.call_days[len(row.days) :] if now else ()
    return Figure(
        "API calls", f"{now:,}", "Last 7 days, your sandbox store included", said, way_of(share, 0), line=line
    )


def _success_figure(row: AppRow) -> Figure:
    now, before = _rate(row.days), _rate(row.earlier)
    points = round(100 * (now - before), 1) if now is not None and before is not None else 0
    said = f"{abs(points):.1f} points {'higher' if points > 0 else 'lower'} in a week" if points else ""
    return Figure(
        "Webhook deliveries", "None" if now is None else percent(now), f"{row.outcomes} in the last 7 days",
        said, way_of(points, 0), points < 0, [_rate([day]) for day in row.days],
    )  # fmt: skip


def _latency_figure(row: AppRow) -> Figure:
    before, now = row.p95
    change = now - before if now is not None and before is not None else 0
    said = f"{abs(change):,} ms {'slower' if change > 0 else 'faster'} in a week" if change else ""
    return Figure(
        "Webhook latency", "None" if now is None else f"{now:,} ms", "95% answered as fast or faster, last 7 days",
        said, way_of(change, 0), change > 0, [day.p95 for day in row.days],
    )  # fmt: skip


def _rate(days: Sequence[DayOfDeliveries]) -> float | None:
    delivered = sum(day.successful for day in days)
    total = delivered + sum(day.retrying + day.failed for day in days)
    return delivered / total if total else None


_APP: Final = Param("app", UUIDField())
_DELIVERIES: Final = Compiled(
    lambda: of_app_in_order(_APP).values_list("pk", "status", "attempt_count"),
    prepared_as="portal_newest_deliveries",
)
_FAULTS: Final = Compiled(
    lambda: (
        Delivery.objects.filter(AmongIds("id", "ids"))
        .order_by("-id")
        .values_list(Coalesce("finished_at", "created_at"), "event_type", "pk", "status")
    ),
    prepared_as="portal_faults",
)
_CALLS: Final = Compiled(
    lambda: ApiCall.objects.filter(app=_APP).order_by("-at", "-id").values_list(*RecentCall._fields),
    prepared_as="portal_newest_calls",
)
