"""The calls of an app's new version and of its old one, in the same time: hook calls, and first attempts of deliveries. And the hours and days
of a release in which there were calls: the newest of each, with their figures.

Of production stores. Tests and resends don't count, nor do calls that were skipped for want of time or place. The first calls that a breaker
skips after it has opened count as failed ones, without a time. A store counts for the new version from the moment that it
followed that; a breaker that had opened before is the old one's.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db.models import BooleanField, Case, Count, DateTimeField, F, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, Trunc
from django.utils import timezone

from common.db.long_lists import total_of
from common.ids import first_id_at
from extensions.enums import SKIPPED, CallOutcome
from extensions.models import CountedCalls, HookCall
from extensions.releases.sequential import Calls
from installations.models import Installation
from installations.queries import stores_at
from marketplace.enums import ReleaseMode, ReleaseState
from marketplace.models import App, Release
from webhooks.catalogue import WEBHOOK_TEST
from webhooks.models import Attempt

WATCHED: Final = timedelta(days=7)
"""How long the calls of a version count that came to all stores at once."""
HOURLY: Final = timedelta(days=2)
"""How long figures are by hours; those of a longer release are by days."""
_WAITS: Final = timedelta(days=1)
"""At most, from a row's id to its call: of a delivery for its first attempt, and of one clock behind another. Older partitions aren't read."""
SETTLED: Final = timedelta(minutes=10)
"""After which calls are added up for good. A call is recorded within seconds of its end."""
COUNTED_EVERY: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Stores:
    """How many of the stores that had the app at the approval run the new version, and how many the old one."""

    new: int
    old: int


# Stored with the sum of all calls (`CountedCalls.history`), by unit and oldest first. Calls are added only to the newest hour and the newest day, so
# only these keep all times, from which a p95 is made: `{"at": …, "new": {"times": …, "failed": 1}, "old": …}`. The others have
# their figures: `{"at": …, "new": {"calls": …, "failed": …, "failureRate": …, "p95Ms": …}, "old": …}`.

MOST: Final = 48  # hours, and days: a page draws no more
_UNITS: Final = ("hour", "day")


# Calls of both versions as they are stored (`CountedCalls`), and as people and programs read them.


@dataclass(frozen=True, slots=True)
class ReleaseHealth:
    new: Calls
    old: Calls

    def __add__(self, other: "ReleaseHealth") -> "ReleaseHealth":
        return ReleaseHealth(self.new + other.new, self.old + other.old)


def as_json(health: ReleaseHealth) -> dict[str, dict[str, Any]]:
    """The fields of the wire."""
    return {
        name: {
            "calls": calls.number,
            "failed": calls.failed,
            "failureRate": calls.failure_rate,
            "p95Ms": calls.p95,
        }
        for name, calls in (("new", health.new), ("old", health.old))
    }


STORES_KEPT: Final = 50
"""Of those in which the new version failed, the ones with the most failures. Their calls are kept from the first failure on."""


def stored(health: ReleaseHealth) -> dict[str, Any]:
    return {
        name: {"times": dict(calls.times), "failed": calls.failed, "skipped": calls.skipped}
        for name, calls in (("new", health.new), ("old", health.old))
    }


def restored(found: dict[str, Any]) -> ReleaseHealth:
    """JSON has texts for keys. Sums of the version before have no `skipped`."""
    new, old = (
        Calls(
            {int(time): number for time, number in each["times"].items()},
            each["failed"],
            each.get("skipped", 0),
        )
        for each in (found["new"], found["old"])
    )
    return ReleaseHealth(new, old)


def with_calls(history: Mapping[str, Any], of_hours: Mapping[datetime, ReleaseHealth]) -> dict[str, Any]:
    """The history with newer calls, by the hour in which they were made."""
    found = {unit: list(history.get(unit, ())) for unit in _UNITS}
    for hour in sorted(of_hours):
        for unit, parts in found.items():
            _add(parts, floor(hour, unit).isoformat(), of_hours[hour])
    return found


def _add(parts: list[dict[str, Any]], at: str, health: ReleaseHealth) -> None:
    if parts and parts[-1]["at"] == at:
        health = restored(parts.pop()) + health
    elif parts:
        parts.append(_with_figures(parts.pop()))
    parts.append({"at": at, **stored(health)})
    del parts[:-MOST]


def _with_figures(part: dict[str, Any]) -> dict[str, Any]:
    return {"at": part["at"], **as_json(restored(part))}


def shown(history: Mapping[str, Any], unit: str) -> list[dict[str, Any]]:
    """The figures of each hour or day."""
    parts = list(history.get(unit, ()))
    return [*parts[:-1], *map(_with_figures, parts[-1:])]


def floor(at: datetime, unit: str) -> datetime:
    hour = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return hour if unit == "hour" else hour.replace(hour=0)


def health_of(release: Release, since: datetime) -> ReleaseHealth:
    """Until the release ends. Three statements, which read the calls of the last minutes and the sum of those before: the same, however
    long the release takes.
    """
    counted = _counted(release, since)
    newest = _all(_by_hour(release, counted.until))
    return _sum_of(counted) + newest


def figures_of(release: Release) -> dict[str, Any]:
    """As `as_json`, and `history`: the hours or days in which there were calls, with the same figures of each. Three statements, which
    read as little as those of `health_of`.

    Kept when the release ends, because then the stores' rows no longer say which version an earlier call went to.
    """
    counted = _counted(release, release.started_at)
    newest = _by_hour(release, counted.until)
    unit = "hour" if calls_until(release) - release.started_at <= HOURLY else "day"
    parts = shown(with_calls(counted.history, newest), unit)
    return {**as_json(_sum_of(counted) + _all(newest)), "unit": unit, "history": parts}


def count_settled(release: Release, since: datetime) -> None:
    """Add up the calls of a release that nothing can be added to any more. Safe to run twice at once."""
    counted = _counted(release, since)
    until = min(timezone.now() - SETTLED, calls_until(release))
    if until - counted.until < COUNTED_EVERY:
        return
    newest = _by_hour(release, counted.until, until)
    changed = {
        **stored(_sum_of(counted) + _all(newest)),
        "stores": {
            store: [calls.made, calls.failed, calls.skipped]
            for store, calls in _by_store(release, counted, until)
        },
        "until": until,
        "history": with_calls(counted.history, newest),
    }
    if counted.pk is None:
        row = CountedCalls(release_id=release.version_id, since=since, **changed)
        CountedCalls.objects.bulk_create([row], ignore_conflicts=True)
    else:
        CountedCalls.objects.filter(pk=counted.pk, until=counted.until).update(**changed)


def _counted(release: Release, since: datetime) -> CountedCalls:
    """The sum of the calls since then; a new one of none, before the first is stored."""
    found = CountedCalls.objects.filter(release=release.version_id, since=since).first()
    nothing = stored(ReleaseHealth(Calls(), Calls()))
    return found or CountedCalls(since=since, until=since, history={}, **nothing)


def _sum_of(counted: CountedCalls) -> ReleaseHealth:
    return restored({"new": counted.new, "old": counted.old})


def _all(of_hours: Mapping[datetime, ReleaseHealth]) -> ReleaseHealth:
    return sum(of_hours.values(), start=ReleaseHealth(Calls(), Calls()))


def worst_store(release: Release, since: datetime) -> Calls:
    """The calls of the store in which the new version failed most. Their times aren't known. Three statements, as in `health_of`."""
    return next((calls for _, calls in _by_store(release, _counted(release, since))), Calls())


def _by_store(
    release: Release, counted: CountedCalls, end: datetime | None = None
) -> list[tuple[str, Calls]]:
    """The stores in which the new version failed, with the most failures first. Two statements."""
    found = {
        store: Calls({0: made}, failed, skipped) for store, (made, failed, skipped) in counted.stores.items()
    }
    for rows, store in (
        (_hook_calls(release, counted.until, end), "installation_id"),
        (_first_attempts(release, counted.until, end), "delivery__webhook__installation_id"),
    ):
        summed = rows.filter(is_new=True).values(store=F(store)).annotate(
            made=Count("pk", filter=Q(was_made=True)), failed=Count("pk", filter=Q(fails=True)),
            skipped=Count("pk", filter=Q(was_made=False)),
        )  # fmt: skip
        for row in summed.filter(Q(failed__gt=0) | Q(store__in=list(found))):
            calls = Calls({0: row["made"]}, row["failed"], row["skipped"])
            found[str(row["store"])] = found.get(str(row["store"]), Calls()) + calls
    return sorted(found.items(), key=lambda each: -each[1].failed)[:STORES_KEPT]


def stores_of(app: App, release: Release) -> Stores:
    """One statement, or two. With more than 10,000, their number after a release may be a minute old."""
    stores = stores_at(release.version)
    reached = Q(runs=release.version_id)
    if release.state in (ReleaseState.ROLLING, ReleaseState.HALTED):
        counted = stores.aggregate(all=Count("pk"), new=Count("pk", filter=reached))
        return Stores(counted["new"], counted["all"] - counted["new"])
    number = total_of(stores, is_long=True)
    return Stores(number, 0) if app.approved_version_id == release.version_id else Stores(0, number)


def calls_until(release: Release) -> datetime:
    """When calls stop to count: with the end of a release in steps, else after a week; now if that is to come."""
    now = timezone.now()
    if release.ended_at is None:
        return now
    return (
        release.ended_at if release.ended_at > release.started_at else min(now, release.started_at + WATCHED)
    )


def _between(at: str, release: Release, since: datetime, end: datetime | None) -> Q:
    """From `since` to before `end`, or to when calls stop to count."""
    until = {f"{at}__lt": end} if end else {f"{at}__lte": calls_until(release)}
    return Q(**{f"{at}__gte": since}, **until)


def _by_hour(release: Release, since: datetime, end: datetime | None = None) -> dict[datetime, ReleaseHealth]:
    """The calls of each hour that has some. Two statements."""
    hours: dict[datetime, list[dict[str, Any]]] = defaultdict(list)
    for rows in (_hook_calls(release, since, end), _first_attempts(release, since, end)):
        grouped = rows.values("at", "is_new", "fails", "was_made", "duration_ms")
        for row in grouped.annotate(calls=Count("*")):
            hours[row["at"]].append(row)
    return {at: _health(rows) for at, rows in hours.items()}


def _hook_calls(release: Release, since: datetime, end: datetime | None) -> QuerySet[Any]:
    of_app = Installation.objects.filter(
        app=release.version.app_id, is_test=False, is_review=False, is_own=False
    )
    made = HookCall.objects.filter(
        _between("called_at", release, since, end),
        id__gte=first_id_at(since - _WAITS),
        installation__in=of_app,
    )
    skipped = (
        Q(opening_at__gte=release.started_at) if release.mode == ReleaseMode.ALL else ~Q(opening_at=None)
    )
    counted = made.filter(~Q(outcome__in=SKIPPED) | skipped).annotate(
        begun=Coalesce("opening_at", "called_at"),
        was_made=Case(When(opening_at=None, then=True), default=False, output_field=BooleanField()),
    )
    return _judged(counted, release, "installation__", "called_at", ~Q(outcome=CallOutcome.ANSWERED))


def _first_attempts(release: Release, since: datetime, end: datetime | None) -> QuerySet[Any]:
    path = "delivery__webhook__installation__"
    production = {f"{path}is_test": False, f"{path}is_review": False, f"{path}is_own": False}
    first = Attempt.objects.filter(
        _between("attempted_at", release, since, end),
        delivery__app_id=release.version.app_id,
        delivery_id__gte=first_id_at(since - _WAITS),
        number=1,
        **production,
    ).exclude(delivery__event_type=WEBHOOK_TEST)
    first = first.annotate(begun=F("attempted_at"), was_made=Value(True))
    return _judged(first, release, path, "attempted_at", ~Q(error_class=""))


def _judged(rows: QuerySet[Any], release: Release, path: str, at: str, failed: Q) -> QuerySet[Any]:
    """`rows` are annotated with `was_made`, and `begun`: when they were made, or when the breaker opened that skipped them."""
    followed = Q(**{f"{path}runs": release.version_id, "begun__gte": F(f"{path}followed_at")})
    is_new: Any = (
        Value(True) if release.mode == ReleaseMode.ALL else Case(When(followed, then=True), default=False)
    )
    fails = Case(When(failed, then=True), default=False, output_field=BooleanField())
    hour = Trunc(at, "hour", output_field=DateTimeField(), tzinfo=UTC)
    return rows.order_by().annotate(is_new=is_new, fails=fails, at=hour)


def _health(rows: Sequence[dict[str, Any]]) -> ReleaseHealth:
    return ReleaseHealth(
        _calls(row for row in rows if row["is_new"]), _calls(row for row in rows if not row["is_new"])
    )


def _calls(rows: Iterable[dict[str, Any]]) -> Calls:
    times: Counter[int] = Counter()
    failed = skipped = 0
    for row in rows:
        if row["was_made"]:
            times[row["duration_ms"]] += row["calls"]
        else:
            skipped += row["calls"]
        failed += row["calls"] if row["fails"] else 0
    return Calls(times, failed, skipped)
