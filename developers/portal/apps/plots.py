"""Five plots of an app on one axis: on its developer's sandbox store by the hour, in merchants' stores by the day.

Each is one statement, or two. Deliveries to stores are counted hourly, and installs in an index. Of all else the newest rows of each day are
read, so a plot costs the same however much an app does.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import Any, Final
from uuid import UUID

from django.db.models import IntegerField, Q, QuerySet, Value
from django.shortcuts import resolve_url
from django.utils import timezone

from accounts.models import Business
from activity.feed import API, HOOK
from activity.models import ApiCall
from common.db.samples import ids_of_each, of_each
from common.ids import first_id_at, moment_of
from common.web.charts import Chart, Mark, Number, Series, chart
from developers.portal.apps.axis import DAYS, Axis, Place, filtered
from developers.portal.apps.rows import DayOfDeliveries
from extensions.enums import SKIPPED
from extensions.models import Definition, HookCall
from installations.models import Installation
from marketplace.models import App
from webhooks.insight.analytics import Span, install_days
from webhooks.insight.last_day import last_days
from webhooks.models import Attempt, Delivery, Webhook

TIMED: Final = 300  # attempts or calls of a day whose durations are read
COUNTED: Final = 1000  # API calls of a day
MOST_SANDBOXES: Final = 200  # whose rows are left out of merchants' stores

Values = list[Number | None]


@dataclass(frozen=True, slots=True)
class Plotted:
    """What the plots are about. `sandboxes` are installations of the app on sandbox stores, with their businesses; `webhooks` are those
    of the developer's own.
    """

    app: App
    place: Place
    axis: Axis
    own: Installation | None
    sandboxes: dict[UUID, UUID]
    webhooks: Sequence[UUID]

    @property
    def is_sandbox(self) -> bool:
        return self.place == Place.SANDBOX


def plots_of(
    app: App,
    place: Place,
    hooks: Sequence[Definition],
    days: Sequence[DayOfDeliveries],
    now: datetime | None = None,
) -> tuple[Chart, ...]:
    """`days` are those of the axis, with the deliveries to stores."""
    axis = Axis.of(place, (now or timezone.now()).astimezone(UTC))
    subject = _subject(app, place, axis)
    releases = app.versions.filter(approved_at__gte=axis.first).values_list("approved_at", "version")
    marks = [Mark(axis.at(axis.begins[number]), f"Version {version} approved")
             for at, version in releases if (number := axis.number_of(at)) is not None]  # fmt: skip
    return (
        _deliveries(subject, days, marks),
        _latency(subject, marks),
        _calls(subject, marks),
        _hooks(subject, hooks, marks),
        _installs(subject, marks),
    )


def latency_in_stores(app: App, axis: Axis) -> list[Series]:
    """p50 and p95 of the responses in merchants' stores, of the newest deliveries of each point."""
    subject = _subject(app, Place.STORES, axis)
    return _durations(subject, _responses(subject))


def milliseconds(value: Number) -> str:
    return f"{value:,} ms"


def _subject(app: App, place: Place, axis: Axis) -> Plotted:
    on_sandboxes = Installation.objects.filter(app=app, business__is_sandbox=True).order_by("-id")
    rows = list(on_sandboxes.select_related("business").defer("webhook_secret")[:MOST_SANDBOXES])
    own = next((each for each in rows if each.is_own and not each.is_review), None)
    webhooks: Sequence[UUID] = ()
    if own and place == Place.SANDBOX:
        webhooks = list(Webhook.objects.filter(installation=own).values_list("pk", flat=True))
    return Plotted(app, place, axis, own, {each.pk: each.business_id for each in rows}, webhooks)


def _deliveries(subject: Plotted, days: Sequence[DayOfDeliveries], marks: Sequence[Mark]) -> Chart:
    ok: Values = [each.successful for each in days]
    failed: Values = [each.failed for each in days]
    if subject.is_sandbox:
        ok, failed = _hourly(subject)
    return _chart(
        subject, "deliveries", "Webhook deliveries", marks,
        [Series("Delivered", "ok", ok), Series("Failed", "bad", failed)], empty="No deliveries.", is_stacked=True,
    )  # fmt: skip


def _hourly(subject: Plotted) -> tuple[Values, Values]:
    ok, failed = _zeros(subject), _zeros(subject)
    for day in last_days(subject.webhooks, subject.axis.begins[-1]).values():
        for number, hour in enumerate(day.hours):
            ok[number] += hour.succeeded
            failed[number] += hour.failed
    return list(ok), list(failed)


def _latency(subject: Plotted, marks: Sequence[Mark]) -> Chart:
    return _chart(
        subject, "latency", "Webhook latency", marks, _durations(subject, _responses(subject)),
        empty="No response yet.", write=milliseconds,
    )  # fmt: skip


def _responses(subject: Plotted) -> list[tuple[int, int]]:
    """Numbers of points with the milliseconds of each response to what was created then."""
    newest = _newest_of_own(subject) if subject.is_sandbox else _newest_in_stores(subject)
    of_points: dict[int, list[UUID]] = defaultdict(list)
    for each in newest:
        if (number := subject.axis.number_of(moment_of(each))) is not None:
            of_points[number].append(each)
    answered = Attempt.objects.filter(http_status__isnull=False).order_by("-delivery_id")
    return of_each(
        [
            answered.filter(delivery__in=ids).values_list(
                Value(number, output_field=IntegerField()), "duration_ms"
            )[:TIMED]
            for number, ids in of_points.items()
        ]
    )


def _newest_of_own(subject: Plotted) -> list[UUID]:
    """The newest of each webhook come from its index, and the newest of all are among them; else all would have to be sorted."""
    rows = _created(subject.axis.first, subject.axis.ranges[-1][1])
    found = ids_of_each([rows.filter(webhook=each)[:TIMED] for each in subject.webhooks])
    return sorted(found, reverse=True)[:TIMED]


def _newest_in_stores(subject: Plotted) -> list[UUID]:
    in_stores = Q(app_id=subject.app.pk) & ~Q(business_id__in=subject.sandboxes.values())
    ranges, most = subject.axis.ranges, timed_in(subject.axis)
    return ids_of_each([_created(*each).filter(in_stores)[:most] for each in ranges])


def _created(begin: datetime, end: datetime) -> QuerySet[Delivery, Any]:
    """The ids of those of this time, the newest first."""
    rows = Delivery.objects.filter(id__gte=first_id_at(begin), id__lt=first_id_at(end))
    return rows.order_by("-id").values_list("pk")


def timed_in(axis: Axis) -> int:
    """The deliveries of each point in stores whose durations are read: 300, or fewer where there are more than seven points."""
    return min(TIMED, TIMED * DAYS // len(axis.begins))


def _calls(subject: Plotted, marks: Sequence[Mark]) -> Chart:
    def made(begin: datetime, end: datetime, most: int) -> QuerySet[Any]:
        return _mine(subject, ApiCall.objects.filter(at__gte=begin, at__lt=end)).order_by("-at")

    by_class = Counter(
        (number, max(status // 100, 2)) for number, status in _newest(subject, made, "at", "status", COUNTED)
    )
    names = {2: ("Succeeded", "ok"), 4: ("Refused (4xx)", "warn"), 5: ("Failed (5xx)", "bad")}
    series = [
        Series(name, css, [by_class[number, digit] for number in range(len(subject.axis.begins))])
        for digit, (name, css) in names.items()
    ]
    return _chart(subject, "calls", "API calls", marks, series, empty="No calls.", kind=API, is_stacked=True)


def _hooks(subject: Plotted, hooks: Sequence[Definition], marks: Sequence[Mark]) -> Chart:
    of_app = HookCall.objects.exclude(outcome__in=SKIPPED).filter(definition__in=[each.pk for each in hooks])

    def made(begin: datetime, end: datetime, most: int) -> QuerySet[Any]:
        rows = of_app.filter(called_at__gte=begin, called_at__lt=end)
        return _mine(subject, rows, has_app=False).order_by("-called_at")

    times = _newest(subject, made, "called_at", "duration_ms", TIMED) if hooks else []
    return _chart(
        subject, "hooks", "Hook time", marks, _durations(subject, times),
        empty="No calls." if hooks else "The manifest has no hooks.", kind=HOOK, write=milliseconds,
    )  # fmt: skip


def _newest(
    subject: Plotted, rows: Callable[[datetime, datetime, int], QuerySet[Any]], moment: str, value: str, most: int
) -> list[tuple[int, int]]:  # fmt: skip
    """Numbers of points with a value of each row. A day in stores has `most` rows, and so has a whole day of the sandbox."""
    axis = subject.axis
    if subject.is_sandbox:
        newest = rows(axis.first, axis.ranges[-1][1], most).values_list(moment, value)[:most]
        return [(number, found) for at, found in newest if (number := axis.number_of(at)) is not None]
    return of_each(
        [
            rows(begin, end, most).values_list(Value(number, output_field=IntegerField()), value)[:most]
            for number, (begin, end) in enumerate(axis.ranges)
        ]
    )


def _installs(subject: Plotted, marks: Sequence[Mark]) -> Chart:
    axis = subject.axis
    counted = Installation.objects.in_stores().filter(app=subject.app)
    if subject.is_sandbox:
        own = Business.objects.sandboxes_of(subject.app.developer_id)
        counted = Installation.objects.filter(app=subject.app, business__in=own)
    counts = install_days(counted, Span(len(axis.begins), axis.step), now=axis.begins[-1])
    series = [
        Series("Installs", "first", [each.installs for each in counts]),
        Series("Uninstalls", "second", [each.uninstalls for each in counts]),
    ]
    return _chart(subject, "installs", "Installs", marks, series, empty="No installs.")


def _mine(subject: Plotted, rows: QuerySet[Any], *, has_app: bool = True) -> QuerySet[Any]:
    """Rows of the sandbox store, or of all others."""
    if subject.is_sandbox:
        return rows.filter(installation=subject.own)
    of_app = rows.filter(app=subject.app) if has_app else rows
    return of_app.exclude(installation__in=list(subject.sandboxes))


def _durations(subject: Plotted, rows: Iterable[Any]) -> list[Series]:
    """The median, and what one in twenty takes longer than."""
    found: dict[int, list[int]] = defaultdict(list)
    for number, duration in rows:
        found[number].append(duration)
    times = [sorted(found[number]) for number in range(len(subject.axis.begins))]
    return [
        Series(
            name, css, [each[ceil(share * len(each)) - 1] if each else None for each in times], is_line=True
        )
        for name, css, share in (("p50", "first", 0.5), ("p95", "second", 0.95))
    ]


def _chart(
    subject: Plotted, ident: str, title: str, marks: Sequence[Mark], series: Sequence[Series], *, kind: str = "",
    **options: Any,
) -> Chart:  # fmt: skip
    """Each point leads to its rows, and the title to all of them."""
    page = {API: "requests", HOOK: "logs"}.get(kind, "deliveries")
    slug, filters = subject.app.slug, {"kind": kind} if page == "logs" else {}
    if subject.is_sandbox and subject.own:
        filters["installation"] = str(subject.own.pk)
    link = filtered(resolve_url(f"portal:{page}", slug), **filters)
    all_rows = link({"range": subject.axis.range_name})
    points = subject.axis.points(link)
    if ident == "installs":
        all_rows = resolve_url("portal:test_install" if subject.is_sandbox else "portal:analytics", slug)
        points = subject.axis.points(lambda _: all_rows)
    return chart(ident, title, points, series, marks=marks, link=all_rows, **options)


def _zeros(subject: Plotted) -> list[int]:
    return [0] * len(subject.axis.begins)
