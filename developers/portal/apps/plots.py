"""Five plots of an app on one axis: on its developer's sandbox store by the hour, in merchants' stores by the day.

Each is a few statements. Deliveries to stores are counted hourly, and installs in an index. Of all else the newest rows of each day are
read, so a plot costs the same however much an app does.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any, Final
from uuid import UUID

from django.db.models import DateTimeField, IntegerField, Q, QuerySet, Subquery, UUIDField, Value
from django.utils import timezone

from activity.feed import API, HOOK
from activity.models import ApiCall
from common.db.compiled import AmongIds, Compiled, Param, keeps_statements, rows_of_each
from common.db.long_lists import ids_of_each, of_each
from common.ids import first_id_at, moment_of
from common.templatetags.links import address
from common.web.charts import Chart, Mark, Number, Point, Scale, Series, chart
from developers.portal.apps.axis import Axis, PlaceOfUse, filtered
from developers.portal.apps.health import NEWEST, AppHealth, RecentCall
from developers.portal.apps.rows import DayOfDeliveries
from extensions.enums import SKIPPED
from extensions.models import Definition, HookCall
from installations.models import Installation
from marketplace.models import App, AppVersion
from webhooks.insight.analytics import InstallDay, Span, install_days
from webhooks.insight.last_day import last_days
from webhooks.models import Attempt, Delivery, Webhook

TIMED: Final = 300  # attempts or calls of a day whose durations are read
COUNTED: Final = 1000  # API calls of a day
FEW: Final = 201  # rows of all days: with fewer, no day is looked at by itself
WRITTEN_WITHIN: Final = timedelta(hours=1)  # of its time
MOST_SANDBOXES: Final = 200  # whose rows are left out of merchants' stores

Values = Sequence[Number | None]


@dataclass(frozen=True, slots=True)
class _Queries:
    """The newest rows of a range: on the sandbox store their time and value, elsewhere the `number` of a point and the value. `lately`
    are those of all days with their time, which tell whether there are few; None where that is known.
    """

    own: Compiled[Any]
    lately: Compiled[Any] | None
    in_stores: Compiled[Any]


def _queries(
    rows: QuerySet[Any], moment: str, value: str, of_app: dict[str, Any], *, looks_first: bool = True
) -> _Queries:
    begin, end = (Param(name, DateTimeField()) for name in ("begin", "end"))
    # The ids leave out partitions: a row is written after its time, and soon.
    first, last = (Param(name, UUIDField()) for name in ("first", "last"))
    rows = rows.filter(**{f"{moment}__gte": begin, f"{moment}__lt": end}, id__gte=first, id__lt=last)
    rows = rows.order_by(f"-{moment}")
    own = rows.filter(installation=Param("own", UUIDField())).values_list(moment, value)
    others = rows.exclude(AmongIds("installation", "without")).filter(**of_app)
    return _Queries(
        Compiled(lambda: own),
        Compiled(lambda: others.values_list(moment, value)) if looks_first else None,
        Compiled(lambda: others.values_list(Param("number", IntegerField()), value)),
    )


_APP: Final = Param("app", UUIDField())
_APPROVED: Final = Compiled(
    lambda: (
        AppVersion.objects.filter(app=_APP, approved_at__gte=Param("since", DateTimeField()))
        .order_by("approved_at")
        .values_list("approved_at", "version")
    ),
    prepared_as="portal_approved",
)
_ON_SANDBOXES: Final = Compiled(
    lambda: (
        Installation.objects.filter(app=_APP, business__is_sandbox=True)
        .order_by("-id")
        .values_list("pk", "is_own", "is_review")
    ),
    prepared_as="portal_on_sandboxes",
)
_CALLS: Final = _queries(ApiCall.objects.all(), "at", "status", {"app": _APP}, looks_first=False)
_MADE: Final = HookCall.objects.exclude(outcome__in=SKIPPED)
_OF_HOOK, _OF_HOOKS = (
    _queries(_MADE.filter(of_hooks), "called_at", "duration_ms", {})
    # By one id the newest are first in an index, by several they have to be sorted.
    for of_hooks in (Q(definition=Param("hook", UUIDField())), AmongIds("definition", "hooks"))
)


@dataclass(frozen=True, slots=True)
class Plotted:
    """What the plots are about. `sandboxes` are installations of the app on sandbox stores, and `webhooks` those of the developer's own."""

    app: App
    place: PlaceOfUse
    axis: Axis
    own: UUID | None
    sandboxes: Sequence[UUID]
    webhooks: Sequence[UUID]

    @property
    def is_sandbox(self) -> bool:
        return self.place == PlaceOfUse.SANDBOX


@dataclass(frozen=True, slots=True)
class Delivered:
    """The deliveries of each point of the axis, which also tell whether the plots have changed. `webhooks` are those of the sandbox."""

    place: PlaceOfUse
    axis: Axis
    succeeded: Values
    retrying: Values
    failed: Values
    webhooks: Sequence[UUID] = ()
    latencies: tuple[Values, Values] = ((), ())  # p50 and p95 in stores


def delivered(
    app: App, place: PlaceOfUse, days: Sequence[DayOfDeliveries], now: datetime | None = None
) -> Delivered:
    """`days` are the last seven, with the deliveries to stores. Those to the sandbox take at most four statements."""
    axis = Axis.of(place, (now or timezone.now()).astimezone(UTC))
    if place == PlaceOfUse.SANDBOX:
        own = Installation.objects.filter(app=app, business__is_sandbox=True, is_own=True, is_review=False)
        newest = own.order_by("-id").values("pk")[:1]
        webhooks = list(Webhook.objects.filter(installation=Subquery(newest)).values_list("pk", flat=True))
        return Delivered(place, axis, *_hourly(webhooks, axis), webhooks)
    succeeded, retrying, failed = (
        [getattr(day, name) for day in days] for name in ("successful", "retrying", "failed")
    )
    latencies = [day.p50 for day in days], [day.p95 for day in days]
    return Delivered(place, axis, succeeded, retrying, failed, latencies=latencies)


def plots_of(app: App, found: Delivered, health: AppHealth) -> tuple[tuple[Chart, ...], Sequence[InstallDay]]:
    """And the installs of each point, which the last of them is of."""
    installed, approved = rows_of_each(
        (_ON_SANDBOXES, {"app": app.pk, "limit": MOST_SANDBOXES}),
        (_APPROVED, {"app": app.pk, "since": found.axis.first}),
        prepared=keeps_statements(),
    )
    own = next((pk for pk, is_own, is_review in installed if is_own and not is_review), None)
    subject = Plotted(app, found.place, found.axis, own, [pk for pk, *_ in installed], found.webhooks)
    marks = _marks(found.axis, approved)
    span = Span(len(found.axis.begins), found.axis.step)
    installs = install_days(app, span, now=found.axis.begins[-1], in_sandbox=subject.is_sandbox)
    return (
        _deliveries(subject, found, marks),
        _latency(subject, found, marks),
        _calls(subject, health.calls, marks),
        _hooks(subject, health.hooks, marks),
        _installs(subject, installs, marks),
    ), installs


def approvals(app: App, axis: Axis) -> list[Mark]:
    """Those of the span, each at the day or hour that it was in."""
    return _marks(axis, _APPROVED.rows(app=app.pk, since=axis.first))


def _marks(axis: Axis, approved: Iterable[tuple[datetime, str]]) -> list[Mark]:
    return [
        Mark(axis.at(axis.begins[number]), f"Version {version} approved")
        for at, version in approved
        if (number := axis.number_of(at)) is not None
    ]


def latency_lines(p50: Values, p95: Values) -> list[Series]:
    """The median, and what one in twenty takes longer than."""
    lines = (("p50", "first", p50), ("p95", "second", p95))
    return [Series(name, css, values, is_line=True) for name, css, values in lines]


def milliseconds(value: Number) -> str:
    return f"{value:,} ms"


def _of_grid(value: Number, top: Number) -> str:
    """Short enough for the margin of a plot."""
    return f"{value / 1000:g} s" if top >= 1000 else f"{value:g} ms"


TIMES: Final = Scale(_of_grid)


def _deliveries(subject: Plotted, found: Delivered, marks: Sequence[Mark]) -> Chart:
    return _chart(
        subject, "deliveries", "Webhook deliveries", marks,
        [
            Series("Delivered", "first", found.succeeded), Series("Retrying", "warn", found.retrying),
            Series("Failed", "bad", found.failed),
        ], empty="No deliveries.", is_stacked=True,
    )  # fmt: skip


def _hourly(webhooks: Sequence[UUID], axis: Axis) -> tuple[Values, Values, Values]:
    """A delivery that is being retried belongs to the hour that is running."""
    ok, retrying, failed = ([0] * len(axis.begins) for _ in range(3))
    for day in last_days(webhooks, axis.begins[-1]).values():
        for number, hour in enumerate(day.hours):
            ok[number] += hour.succeeded
            failed[number] += hour.failed
        retrying[-1] += day.retrying
    return list(ok), list(retrying), list(failed)


def _latency(subject: Plotted, found: Delivered, marks: Sequence[Mark]) -> Chart:
    lines = (
        _durations(subject, _responses(subject)) if subject.is_sandbox else latency_lines(*found.latencies)
    )
    return _chart(
        subject,
        "latency",
        "Webhook latency",
        marks,
        lines,
        empty="No response yet.",
        write=milliseconds,
        scale=TIMES,
    )


def _responses(subject: Plotted) -> list[tuple[int, int]]:
    """Numbers of hours of the sandbox with the milliseconds of each response to what was created then."""
    of_points: dict[int, list[UUID]] = defaultdict(list)
    for each in _newest_of_own(subject):
        if (number := subject.axis.number_of(moment_of(each))) is not None:
            of_points[number].append(each)
    answered = Attempt.objects.filter(http_status__isnull=False).order_by("-delivery_id")
    return of_each(
        [
            answered.filter(delivery__in=ids)
            .values_list(Value(number, output_field=IntegerField()), "duration_ms")
            .query.sql_with_params()
            for number, ids in of_points.items()
        ],
        TIMED,
    )


def _newest_of_own(subject: Plotted) -> list[UUID]:
    """The newest of each webhook come from its index, and the newest of all are among them; else all would have to be sorted."""
    rows = _created(subject.axis.first, subject.axis.ranges[-1][1])
    found = ids_of_each(
        [rows.filter(webhook=each).query.sql_with_params() for each in subject.webhooks], TIMED
    )
    return sorted(found, reverse=True)[:TIMED]


def _created(begin: datetime, end: datetime) -> QuerySet[Delivery, Any]:
    """The ids of those of this time, the newest first."""
    rows = Delivery.objects.filter(id__gte=first_id_at(begin), id__lt=first_id_at(end))
    return rows.order_by("-id").values_list("pk")


def _calls(subject: Plotted, newest: Sequence[RecentCall], marks: Sequence[Mark]) -> Chart:
    """`newest` are the newest calls of an app that is in stores. Where these are all of the axis, no others are read."""
    if subject.is_sandbox or (len(newest) == NEWEST and newest[-1].at >= subject.axis.first):
        found = _newest(subject, _CALLS, COUNTED)
    else:
        sandboxes = set(subject.sandboxes)
        in_stores = [(each.at, each.status) for each in newest if each.installation not in sandboxes]
        found = _numbered(subject, in_stores)
    by_class = Counter((number, max(status // 100, 2)) for number, status in found)
    names = {2: ("Succeeded", "first"), 4: ("Refused (4xx)", "warn"), 5: ("Failed (5xx)", "bad")}
    series = [
        Series(name, css, [by_class[number, digit] for number in range(len(subject.axis.begins))])
        for digit, (name, css) in names.items()
    ]
    return _chart(subject, "calls", "API calls", marks, series, empty="No calls.", kind=API, is_stacked=True)


def _hooks(subject: Plotted, hooks: Sequence[Definition], marks: Sequence[Mark]) -> Chart:
    ids = [each.pk for each in hooks]
    queries = _OF_HOOK if len(ids) == 1 else _OF_HOOKS
    times = _newest(subject, queries, TIMED, hook=ids[0], hooks=ids) if ids else []
    return _chart(
        subject, "hooks", "Hook time", marks, _durations(subject, times),
        empty="No calls." if hooks else "The manifest has no hooks.", kind=HOOK, write=milliseconds, scale=TIMES,
    )  # fmt: skip


def _newest(subject: Plotted, queries: _Queries, most: int, **values: Any) -> list[tuple[int, int]]:
    """Numbers of points with a value of each row. A day in stores has `most` rows, and so has a whole day of the sandbox."""
    axis = subject.axis
    if subject.is_sandbox:
        until = axis.ranges[-1][1]
        rows = queries.own.rows(limit=most, own=subject.own, **_between(axis.first, until), **values)
        return _numbered(subject, rows)
    values |= {"app": subject.app.pk, "without": subject.sandboxes}
    if queries.lately:
        few = queries.lately.rows(limit=FEW, **_between(axis.first, axis.ranges[-1][1]), **values)
        if (
            len(few) < FEW
        ):  # then each day has less than its most, and a plan for each takes longer than the rows
            return _numbered(subject, few)
    return of_each(
        [
            queries.in_stores.sql(number=number, **_between(begin, end), **values)
            for number, (begin, end) in enumerate(axis.ranges)
        ],
        most,
    )


def _numbered(subject: Plotted, rows: Iterable[tuple[datetime, int]]) -> list[tuple[int, int]]:
    """The same rows with the number of their point, without those beside the axis."""
    return [(number, found) for at, found in rows if (number := subject.axis.number_of(at)) is not None]


def _between(begin: datetime, end: datetime) -> dict[str, Any]:
    first, last = first_id_at(begin), first_id_at(end + WRITTEN_WITHIN)
    return {"begin": begin, "end": end, "first": first, "last": last}


def _installs(subject: Plotted, counts: Sequence[InstallDay], marks: Sequence[Mark]) -> Chart:
    series = [
        Series("Installs", "first", [each.installs for each in counts]),
        Series("Uninstalls", "second", [each.uninstalls for each in counts]),
    ]
    return _chart(subject, "installs", "Installs", marks, series, empty="No installs.")


def _durations(subject: Plotted, rows: Iterable[Any]) -> list[Series]:
    found: dict[int, list[int]] = defaultdict(list)
    for number, duration in rows:
        found[number].append(duration)
    times = [sorted(found[number]) for number in range(len(subject.axis.begins))]
    p50, p95 = (
        [each[ceil(share * len(each)) - 1] if each else None for each in times] for share in (0.5, 0.95)
    )
    return latency_lines(p50, p95)


def _chart(
    subject: Plotted, ident: str, title: str, marks: Sequence[Mark], series: Sequence[Series], *, kind: str = "",
    **options: Any,
) -> Chart:  # fmt: skip
    """Each point leads to its rows, and the title to all of them."""
    page = {API: "requests", HOOK: "logs"}.get(kind, "deliveries")
    slug, filters = subject.app.slug, {"kind": kind} if page == "logs" else {}
    if subject.is_sandbox and subject.own:
        filters["installation"] = str(subject.own)
    rows = filtered(address(f"portal:{page}", slug), **filters)
    all_rows = f"{rows}range={subject.axis.range_name}"
    if ident == "installs":
        all_rows = address("portal:test_install" if subject.is_sandbox else "portal:analytics", slug)
        points = [Point(subject.axis.at(begin), all_rows) for begin in subject.axis.begins]
    else:
        points = subject.axis.points(rows)
    return chart(ident, title, points, series, marks=marks, link=all_rows, **options)
