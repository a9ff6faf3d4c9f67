"""An app's figures (contract, section 9): its installs, and its deliveries over the last 30 UTC days or another span.

Only production installs of real businesses count. Test installs and installs on sandboxes are left out.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Final

from django.core.cache import cache
from django.db.models import Count, DateField, DateTimeField, OuterRef, Q, QuerySet, Subquery, Sum, UUIDField
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, TruncDate, TruncHour
from django.db.models.lookups import Exact, GreaterThanOrEqual
from django.utils import timezone

from accounts.models import Business
from common import places
from common.db.compiled import Compiled, Param
from common.db.long_lists import BEGIN, COUNTED_EXACTLY, END, REMEMBERED, counts_of_each
from common.ids import first_id_at
from common.places import Work
from installations.models import Installation
from marketplace.models import App, AppTotals
from webhooks.models import DailyDeliveryCount, Delivery
from webhooks.services import counting

log = logging.getLogger(__name__)

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
READ_HOURS: Final = 2  # counts are at most an hour old


@dataclass(frozen=True, slots=True)
class Span:
    """UTC days or hours that figures are of, today or this hour last."""

    number: int = counting.DAYS
    step: timedelta = DAY

    @property
    def is_hours(self) -> bool:
        return self.step == HOUR

    def begins(self, now: datetime) -> list[date]:
        """Dates; of hours, times. The oldest first."""
        hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        last = hour if self.is_hours else hour.date()
        return [last - ago * self.step for ago in range(self.number - 1, -1, -1)]

    def ranges(self, now: datetime) -> list[tuple[datetime, datetime]]:
        """The moments that each begins at and ends before."""
        begins = (
            each if isinstance(each, datetime) else counting.midnight(each) for each in self.begins(now)
        )
        return [(begin, begin + self.step) for begin in begins]


THIRTY_DAYS = Span()


@dataclass(frozen=True, slots=True)
class DeliveryDay:
    """One UTC day or hour of an app; see `DailyDeliveryCount`. `duration_ms` is the sum over `answered` attempts, `latencies` are their
    numbers by milliseconds, and none where they weren't counted; `failed` has what is `retrying`.
    """

    date: date
    successful: int = 0
    failed: int = 0
    answered: int = 0
    duration_ms: int = 0
    retrying: int = 0
    latencies: Mapping[Any, int] = field(
        default_factory=dict, hash=False
    )  # read from JSON, the keys are texts

    def latency(self, share: float) -> int | None:
        """The milliseconds that this share of the answered attempts took at most, to a twentieth; None if there were none."""
        before, wanted = 0, share * sum(self.latencies.values())
        for milliseconds, number in sorted((int(key), number) for key, number in self.latencies.items()):
            before += number
            if before >= wanted:
                return milliseconds
        return None

    @property
    def given_up(self) -> int:
        """Those that failed and aren't retried any more."""
        return max(0, self.failed - self.retrying)


@dataclass(frozen=True, slots=True)
class InstallDay:
    date: date
    installs: int
    uninstalls: int


@dataclass(frozen=True, slots=True)
class DeliveryFigures:
    """Sums over a span. A rate or mean is None if there is nothing to divide by."""

    successful: int
    failed: int
    answered: int  # attempts
    duration_ms: int
    retrying: int = 0

    @classmethod
    def of(cls, days: Sequence[DeliveryDay]) -> "DeliveryFigures":
        return cls(
            successful=sum(day.successful for day in days),
            failed=sum(day.failed for day in days),
            answered=sum(day.answered for day in days),
            duration_ms=sum(day.duration_ms for day in days),
            retrying=sum(day.retrying for day in days),
        )

    @property
    def success_rate(self) -> float | None:
        """From 0 to 1."""
        total = self.successful + self.failed
        return self.successful / total if total else None

    @property
    def average_latency_ms(self) -> float | None:
        """Over the attempts that got an HTTP response, with any status."""
        return self.duration_ms / self.answered if self.answered else None


@dataclass(frozen=True, slots=True)
class Analytics:
    total_installs: int
    active_installs: int
    installs: list[InstallDay]
    deliveries: list[DeliveryDay]
    before: DeliveryFigures  # of as long a span before

    @property
    def delivered(self) -> DeliveryFigures:
        return DeliveryFigures.of(self.deliveries)

    @property
    def installed(self) -> int:
        """The installs within the span."""
        return sum(day.installs for day in self.installs)

    @property
    def uninstalled(self) -> int:
        return sum(day.uninstalls for day in self.installs)


def analytics(app: App, span: Span = THIRTY_DAYS, *, now: datetime | None = None) -> Analytics:
    """At most five statements. With more than 10,000 installations the figures may be a minute old. Raises `places.Busy`."""
    now, key = now or timezone.now(), f"analytics-with-latencies:{app.pk}:{span.number}:{span.is_hours}"
    kept = _from_cache(key)
    if kept is not None:
        return kept
    places.require(Work.FIGURES)
    found = _analytics(app, span, now)
    if found.total_installs > COUNTED_EXACTLY:
        with suppress(Exception):  # as below
            cache.set(key, found, REMEMBERED)
    return found


def _from_cache(key: str) -> Analytics | None:
    try:
        found: Analytics | None = cache.get(key)
    except Exception as error:  # whatever the cache's client raises; the cache only saves work
        log.debug("The cache can't be reached: %s", error)
        return None
    return found


def _analytics(app: App, span: Span, now: datetime) -> Analytics:
    ranges = span.ranges(now)
    active, ended = _TOTALS.first(app=app.pk, until=ranges[0][0]) or (0, 0)
    installs = _installs(app, ranges)
    deliveries, before = (
        _delivery_hours(app, span, now) if span.is_hours else _days_and_before(app, span, now)
    )
    return Analytics(
        total_installs=active + ended + sum(number for _, number in installs),
        active_installs=active,
        installs=_named(installs, span, now),
        deliveries=deliveries,
        before=before,
    )


def _days_and_before(app: App, span: Span, now: datetime) -> tuple[list[DeliveryDay], DeliveryFigures]:
    return delivery_days(app, span, now=now), DeliveryFigures.of([deliveries_before(app, span, now=now)])


def delivery_days(
    app: App, span: Span = THIRTY_DAYS, *, now: datetime | None = None, most: int = COUNTED_EXACTLY
) -> list[DeliveryDay]:
    """The oldest day first and today last, with zeros for days without deliveries.

    Today and yesterday are read from the attempts, if no more than `most` deliveries were counted for them. All else is from the
    daily counts, which are at most an hour old.
    """
    begins = span.begins(now or timezone.now())
    *_, yesterday, today = begins
    rows = _DAYS.rows(app=app.pk, first=begins[0])
    days = {row[0]: dict(zip(_COLUMNS[1:], row[1:], strict=True)) for row in rows}
    lately = [days[day] for day in (yesterday, today) if day in days]
    if sum(figures["successful"] + figures["failed"] for figures in lately) <= most:
        days |= _counted_now(app, yesterday, today)
    return [DeliveryDay(day, **days.get(day, {})) for day in begins]


def _counted_now(app: App, yesterday: date, today: date) -> dict[date, dict[str, Any]]:
    since, until = counting.midnight(yesterday), counting.midnight(today) + DAY
    rows = counting.gathered(_BY_DAY.rows(app=app.pk, since=since, until=until), "day")
    # Deliveries of the last count may have moved to a later day since.
    nothing = dict.fromkeys(counting.FIGURES, 0)
    return {yesterday: nothing, today: nothing} | {figures.pop("day"): figures for figures in rows}


def _delivery_hours(app: App, span: Span, now: datetime) -> tuple[list[DeliveryDay], DeliveryFigures]:
    """The hours of the span, and the sums of as long a span before.

    They are read from the attempts, if no more than 10,000 deliveries were counted for their days. Otherwise only the last two
    are, and those before are from the daily counts, which are at most an hour old.
    """
    twice = replace(span, number=2 * span.number)
    begins = [each for each in twice.begins(now) if isinstance(each, datetime)]
    counted = _counted_hours(app, begins[0].date(), begins[-1].date())
    since = begins[-READ_HOURS] if counted else begins[0]
    values: dict[str, Any] = {
        "app": app.pk,
        "since": since,
        "until": begins[-1] + HOUR,
        "first": first_id_at(since),
    }
    queries = (_NEW_BY_HOUR, _EARLIER_BY_HOUR) if counted else (_BY_HOUR,)
    rows = [row for query in queries for row in query.rows(**values)]
    read = {figures.pop("hour"): figures for figures in counting.gathered(rows, "hour")}
    both = [DeliveryDay(hour, **(read if hour >= since else counted).get(hour, {})) for hour in begins]
    return both[span.number :], DeliveryFigures.of(both[: span.number])


def _counted_hours(app: App, first: date, last: date) -> dict[datetime, dict[str, int]]:
    """Nothing if these days had few deliveries, or if one was counted before hours were."""
    days = DailyDeliveryCount.objects.filter(app=app, date__range=(first, last))
    deliveries = sum(day.successful + day.failed for day in days)
    if deliveries <= COUNTED_EXACTLY or not all(day.hours for day in days):
        return {}
    return {
        counting.midnight(day.date) + int(hour) * HOUR: dict(
            zip((*counting.FIGURES, "latencies"), figures, strict=False)
        )  # earlier rows lack the last two
        for day in days
        for hour, figures in day.hours.items()
    }


def deliveries_before(app: App, span: Span = THIRTY_DAYS, *, now: datetime | None = None) -> DeliveryDay:
    """The sums of as many days before. `date` is the first."""
    until = span.begins(now or timezone.now())[0]
    first = until - span.number * DAY
    sums = _SUMS.first(app=app.pk, first=first, until=until) or ()
    return DeliveryDay(first, **dict(zip(counting.FIGURES, sums, strict=False)))


def thirty_days(app: App, *, now: datetime | None = None) -> DeliveryFigures:
    """The sums of the daily counts of the last 30 days, in one statement. Today is included as far as it's counted."""
    counts = DailyDeliveryCount.objects.filter(app=app, date__gte=counting.first_day(_today(now)))
    return DeliveryFigures(**counts.aggregate(**{name: Sum(name, default=0) for name in counting.FIGURES}))


def install_days(
    app: App, span: Span = THIRTY_DAYS, *, now: datetime | None = None, in_sandbox: bool = False
) -> list[InstallDay]:
    """The oldest day or hour first, the one that is running last. Of stores, or of the developer's sandbox stores. One statement."""
    now = now or timezone.now()
    return _named(_installs(app, span.ranges(now), in_sandbox=in_sandbox), span, now)


def _named(installs: Iterable[tuple[int, ...]], span: Span, now: datetime) -> list[InstallDay]:
    return [InstallDay(day, *numbers) for day, numbers in zip(span.begins(now), installs, strict=True)]


def _installs(
    app: App, ranges: Sequence[tuple[datetime, datetime]], *, in_sandbox: bool = False
) -> list[tuple[int, ...]]:
    """Those made and those ended in each."""
    queries = _IN_SANDBOX if in_sandbox else _IN_STORES
    return counts_of_each(ranges, [each.sql(app=app.pk, developer=app.developer_id) for each in queries])


def _today(now: datetime | None) -> date:
    return (now or timezone.now()).astimezone(UTC).date()


def _made(deliveries: Q = Q(), **key: Any) -> QuerySet[Any, Any]:  # noqa: B008  never changed
    since, until = Param("since", DateTimeField()), Param("until", DateTimeField())
    made = counting.made_between(since, until).filter(deliveries, delivery__app_id=_APP)
    return counting.rows_by(made, **key)


def _looked_up() -> Q:
    """Each attempt's app by itself, so that PostgreSQL expects few, and doesn't read all deliveries of the app instead."""
    return Q(Exact(Subquery(Delivery.objects.filter(pk=OuterRef("delivery_id")).values("app_id")), _APP))


def _counted(in_sandbox: bool, moment: str) -> QuerySet[Any, Any]:
    own = Business.objects.sandboxes_of(Param("developer", UUIDField()))  # type: ignore[arg-type]
    rows = Installation.objects.filter(business__in=own) if in_sandbox else Installation.objects.in_stores()
    return (
        rows.filter(app=_APP, **{f"{moment}__gte": BEGIN, f"{moment}__lt": END}).order_by().values_list("pk")
    )


_APP: Final = Param("app", UUIDField())
_COLUMNS: Final = ("date", *counting.FIGURES, "latencies")
_SINCE: Final = DailyDeliveryCount.objects.filter(app=_APP, date__gte=Param("first", DateField())).order_by()
_DAYS: Final = Compiled(lambda: _SINCE.values_list(*_COLUMNS), prepared_as="analytics_days")
_SUMS: Final[Compiled[Any]] = Compiled(
    lambda: (
        _SINCE.filter(date__lt=Param("until", DateField()))
        .values("app")
        .values_list(*map(Sum, counting.FIGURES))
    ),
    prepared_as="analytics_sums",
)
_HOUR: Final = TruncHour("attempted_at", tzinfo=UTC)
_BY_DAY: Final = Compiled(lambda: _made(day=TruncDate("attempted_at", tzinfo=UTC)))
_BY_HOUR: Final = Compiled(lambda: _made(hour=_HOUR))
# Not the two above: without their values PostgreSQL reads all deliveries of an app, of which there may be few or very many.
# Of a busy app: attempts of what was made since, and those of earlier deliveries, which are few.
_FIRST: Final = Param("first", UUIDField())
# The condition is on the delivery, for which Django has no words: PostgreSQL reads those of the app, instead of each attempt's by itself.
_NEW: Final = Q(GreaterThanOrEqual(RawSQL('"webhooks_delivery"."id"', (), UUIDField()), _FIRST))
_NEW_BY_HOUR: Final = Compiled(lambda: _made(_NEW, hour=_HOUR), prepared_as="analytics_new")
_EARLIER_BY_HOUR: Final = Compiled(
    lambda: _made(Q(delivery_id__lt=_FIRST) & _looked_up(), hour=_HOUR), prepared_as="analytics_earlier"
)


def _totals() -> QuerySet[Any, Any]:
    """How many stores have the app, which is counted as they install it, and how many had ended theirs before a moment."""
    before = (
        Installation.objects.in_stores().filter(app=OuterRef("app"), uninstalled_at__lt=_UNTIL).order_by()
    )
    ended = before.values("app").values_list(Count("pk"))
    return AppTotals.objects.filter(app=_APP).values_list("installs", Coalesce(Subquery(ended), 0))


_UNTIL: Final = Param("until", DateTimeField())
_TOTALS: Final[Compiled[Any]] = Compiled(_totals, prepared_as="analytics_totals")
_IN_STORES, _IN_SANDBOX = (
    [
        Compiled(partial(_counted, in_sandbox, "installed_at")),
        Compiled(partial(_counted, in_sandbox, "uninstalled_at")),
    ]
    for in_sandbox in (False, True)
)
