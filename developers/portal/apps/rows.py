"""A developer's apps as the list shows them: what needs attention first, with installs and the last seven days.

Always four statements, whatever the number of apps, installs and deliveries. Installs are counted when they happen, deliveries
and calls by the day; whether something fails is found by partial indexes.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any, Final
from uuid import UUID

from django.db.models import (
    Aggregate,
    Case,
    DateField,
    DateTimeField,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    TextField,
    UUIDField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce
from django.utils import timezone

from accounts.models import User
from activity.models import ScopeUse
from activity.use import recent_use
from common.db.compiled import AmongIds, Compiled, Param
from common.rest.deprecation import deprecated_operations
from common.web.charts import Bar, strip
from common.web.pagination import PageRequest
from extensions.models import Breaker
from installations.models import Installation
from marketplace.enums import AppStatus, SubmissionStatus
from marketplace.models import App
from marketplace.queries import own_apps, with_last_submission
from webhooks.catalogue import WEBHOOK_TEST
from webhooks.enums import DeliveryStatus
from webhooks.insight.analytics import DeliveryDay, Span, delivery_days
from webhooks.models import DailyDeliveryCount, Delivery, Webhook

DAYS: Final = 7
SEARCH_FROM: Final = 9  # apps
READ: Final = 1_000  # deliveries of today and yesterday; more are as the last hour's count had them


@dataclass(frozen=True, slots=True)
class AppProblem:
    """Something that needs attention. `page` is the name of the URL where to see to it."""

    text: str
    page: str
    kind: str = "bad"
    in_sandbox: bool = False  # on the developer's own sandbox store


PROBLEMS: Final[dict[str, AppProblem]] = {
    "is_suspended": AppProblem("Suspended", "portal:review"),
    "has_failing": AppProblem("A webhook endpoint is failing", "portal:webhooks"),
    "has_disabled": AppProblem("A webhook endpoint is disabled", "portal:webhooks"),
    "has_open_breaker": AppProblem("A hook is skipped after failures", "portal:hooks"),
    "has_failing_sandbox": AppProblem("A webhook endpoint is failing", "portal:deliveries", in_sandbox=True),
    "has_disabled_sandbox": AppProblem("A webhook endpoint is disabled", "portal:webhooks", in_sandbox=True),
    "has_open_breaker_sandbox": AppProblem(
        "A hook is skipped after failures", "portal:hooks", in_sandbox=True
    ),
    "is_rejected": AppProblem("Changes requested", "portal:review"),
    "has_open_consent": AppProblem("Stores haven't agreed to the new permissions", "portal:review", "warn"),
    "calls_deprecated": AppProblem("Makes calls that will stop working", "portal:requests", "warn"),
}
"""In the order of their weight, by the name of their annotation."""


@dataclass(frozen=True, slots=True)
class DayOfDeliveries:
    """`failed` are those that aren't retried any more."""

    date: date
    successful: int = 0
    retrying: int = 0
    failed: int = 0
    p50: int | None = None  # ms; only looked for by `row_now`
    p95: int | None = None


@dataclass(frozen=True, slots=True)
class AppRow:
    app: App
    problems: Sequence[AppProblem]
    installs: int
    days: Sequence[DayOfDeliveries]
    calls: int
    is_in_stores: bool = (
        False  # a merchant has ever installed it; this and the rest is only looked for by `row_now`
    )
    call_days: Sequence[int] = ()  # of the last 14 days
    earlier: Sequence[DayOfDeliveries] = ()  # the seven days before `days`
    p95: tuple[int | None, int | None] = (None, None)  # ms, of the earlier seven days and of the last

    @property
    def delivered(self) -> int:
        return sum(day.successful for day in self.days)

    @property
    def retrying(self) -> int:
        return sum(day.retrying for day in self.days)

    @property
    def failed(self) -> int:
        return sum(day.failed for day in self.days)

    @property
    def deliveries(self) -> int:
        return self.delivered + self.retrying + self.failed

    @property
    def figures(self) -> tuple[object, ...]:
        """All that the overview shows of it, to tell whether it has changed."""
        return self.problems, self.installs, self.calls, self.outcomes, self.p95

    @property
    def outcomes(self) -> str:
        """`1,204 succeeded, 2 retrying and 3 failed`."""
        retrying = f", {self.retrying:,} retrying" if self.retrying else ""
        return f"{self.delivered:,} succeeded{retrying} and {self.failed:,} failed"

    @property
    def bars(self) -> list[Bar]:
        return strip([(day.successful, day.retrying, day.failed) for day in self.days], step=12)


def found_apps(developer: User, text: str = "") -> QuerySet[App]:
    """The developer's apps whose name or slug contains `text`."""
    found = own_apps(developer)
    return found.filter(Q(name__finds=text) | Q(slug__finds=text)) if text else found


def apps_by_attention(developer: User, wanted: PageRequest, text: str = "") -> list[App]:
    """A page of `found_apps`, those with problems first, then the latest changed."""
    now = timezone.now()
    if text:
        return list(_by_weight(found_apps(developer, text), now)[wanted.window])
    query, _ = _compiled(tuple(deprecated_operations()))
    return query.rows(limit=wanted.limit, offset=wanted.offset, person=developer.pk, now=now)


def _by_weight(found: QuerySet[App], now: Any) -> QuerySet[App]:
    weights = [When(**{name: True}, then=Value(weight)) for weight, name in enumerate(PROBLEMS)]
    weight = Case(*weights, default=Value(len(PROBLEMS)), output_field=IntegerField())
    return with_problems(found, now).annotate(weight=weight).order_by("weight", "-updated_at", "-id")


def with_problems(apps: Any, now: Any) -> Any:
    """Annotate a flag for each of `PROBLEMS`, and the number of installs."""
    # Not correlated: each is read once, from the partial index of the few rows that match.
    active = Webhook.objects.kept().filter(installation__uninstalled_at=None).order_by()
    webhooks = active.filter(installation__business__is_sandbox=False)
    failing = webhooks.filter(failing_since__isnull=False, is_active=True).values("installation__app")
    disabled = webhooks.filter(disabled_at__isnull=False).values("installation__app")
    asked = Installation.objects.active().filter(
        app=OuterRef("pk"), needs_reconsent=True, reconsent_declined_at=None
    )
    breakers = Breaker.objects.filter(
        definition__app=OuterRef("pk"), installation__uninstalled_at=None, open_until__gt=now
    )
    open_breakers = breakers.filter(installation__business__is_sandbox=False)
    # A developer's own store is one, so its failures are looked for as they come, before a webhook counts as failing.
    own = {"installation__business__is_sandbox": True, "installation__business__owner": OuterRef("developer")}
    at_work = active.filter(installation__app=OuterRef("pk"), **own)
    retrying = Delivery.objects.filter(webhook=OuterRef("pk"), status=DeliveryStatus.RETRYING).exclude(
        event_type=WEBHOOK_TEST
    )
    return with_last_submission(apps).annotate(
        installs=Coalesce(F("totals__installs"), 0),
        is_suspended=Q(suspended_at__isnull=False),
        has_failing=Q(pk__in=failing),
        has_disabled=Q(pk__in=disabled),
        has_open_breaker=Exists(open_breakers),
        has_failing_sandbox=Exists(
            at_work.filter(Q(failing_since__isnull=False) | Q(Exists(retrying)), is_active=True)
        ),
        has_disabled_sandbox=Exists(at_work.filter(disabled_at__isnull=False)),
        has_open_breaker_sandbox=Exists(breakers.filter(**own)),
        is_rejected=Q(status=AppStatus.DRAFT, last_submission_status=SubmissionStatus.REJECTED),
        has_open_consent=Exists(asked),
        calls_deprecated=Exists(recent_use(now).filter(app=OuterRef("pk"))),
    )


class _Pairs(Aggregate):
    """The values of two columns in each row, as JSON."""

    template = "JSON_AGG(JSON_BUILD_ARRAY(%(expressions)s))::text"
    output_field = TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(
            compiler, connection, template="JSON_GROUP_ARRAY(JSON_ARRAY(%(expressions)s))", **context
        )


@cache
def _compiled(deprecated: tuple[str, ...]) -> tuple[Compiled[App], Compiled[Any]]:
    """The apps of a person by weight, and what the overview shows of one; for these deprecated operations."""
    now: Any = Cast(Param("now", DateTimeField()), DateTimeField())  # or `now - …` would be of no known type
    pk = Param("app", UUIDField())
    used = ScopeUse.objects.filter(app=OuterRef("pk"), day__gte=Param("since", DateField())).order_by()
    installed = Installation.objects.filter(app=OuterRef("pk"), is_test=False, business__is_sandbox=False)
    person: Any = Param("person", UUIDField())
    of_these = f"{hash(deprecated) % 2**32:x}"
    return Compiled(
        lambda: _by_weight(own_apps(person), now), prepared_as=f"portal_apps_{of_these}"
    ), Compiled(
        lambda: (
            with_problems(App.objects.filter(pk=pk), now)
            .annotate(
                is_in_stores=Exists(installed),
                calls=Subquery(used.values("app").annotate(pairs=_Pairs("day", "count")).values("pairs")),
            )
            .values_list("installs", "is_in_stores", "calls", *PROBLEMS)
        ),
        prepared_as=f"portal_row_{of_these}",
    )


def problems_of(app: App) -> list[AppProblem]:
    """Of an app that was read by `with_problems`."""
    return [problem for name, problem in PROBLEMS.items() if getattr(app, name)]


def state_of(app: App) -> tuple[Any, ...]:
    """What an open list shows again once it changes, of an app that was read by `with_problems`."""
    return app.pk, app.name, app.version, app.status, app.installs, problems_of(app)


def rows_of(apps: Iterable[App], now: datetime | None = None) -> list[AppRow]:
    """With the deliveries and calls of the last seven UTC days."""
    dates = _dates(now or timezone.now())
    apps = list(apps)
    ids = [app.pk for app in apps]
    days: dict[tuple[UUID, date], DayOfDeliveries] = {
        (app, day): DayOfDeliveries(day, successful, retrying, max(0, failed - retrying))
        for app, day, successful, retrying, failed in _COUNTS.rows(ids=ids, since=dates[0])
    }
    calls: dict[UUID, int] = dict(_USED.rows(ids=ids, since=dates[0]))
    return [
        AppRow(
            app,
            problems_of(app),
            app.installs,
            [days.get((app.pk, day), DayOfDeliveries(day)) for day in dates],
            calls.get(app.pk, 0),
        )
        for app in apps
    ]


_SINCE: Final[Any] = Param("since", DateField())
_COUNTS: Final[Compiled[Any]] = Compiled(
    lambda: DailyDeliveryCount.objects.filter(AmongIds("app", "ids"), date__gte=_SINCE).values_list(
        "app", "date", "successful", "retrying", "failed"
    ),
    prepared_as="portal_counts",
)
_USED: Final[Compiled[Any]] = Compiled(
    lambda: (
        ScopeUse.objects.filter(AmongIds("app", "ids"), day__gte=_SINCE)
        .order_by()
        .values_list("app")
        .annotate(total=Sum("count"))
    ),
    prepared_as="portal_used",
)


def row_now(app: App, now: datetime | None = None) -> AppRow:
    """Of one app, with the deliveries of today and yesterday as they are now (`delivery_days`). One statement before a merchant has
    ever installed it, else three.
    """
    now = now or timezone.now()
    _, query = _compiled(tuple(deprecated_operations()))
    both = _dates(now, 2 * DAYS)
    [(installs, is_in_stores, pairs, *flags)] = query.rows(app=app.pk, now=now, since=both[0])
    calls: Counter[str] = Counter()
    for day, count in json.loads(pairs or "[]"):
        calls[day] += count
    call_days = [calls[day.isoformat()] for day in both]
    days = [DeliveryDay(day) for day in both]
    if is_in_stores:
        days = delivery_days(app, Span(2 * DAYS), now=now, most=READ)
    weeks = days[:DAYS], days[DAYS:]
    earlier, last = ([_shown(day) for day in week] for week in weeks)
    problems = [problem for problem, is_true in zip(PROBLEMS.values(), flags, strict=True) if is_true]
    return AppRow(
        app, problems, installs, last, sum(call_days[DAYS:]), is_in_stores,
        call_days, earlier, (_p95(weeks[0]), _p95(weeks[1])),
    )  # fmt: skip


def _shown(day: DeliveryDay) -> DayOfDeliveries:
    p50, p95 = day.latency(0.5), day.latency(0.95)
    return DayOfDeliveries(day.date, day.successful, day.retrying, day.given_up, p50, p95)


def _p95(days: Sequence[DeliveryDay]) -> int | None:
    latencies: Counter[int] = Counter()
    for day in days:
        latencies.update({int(key): number for key, number in day.latencies.items()})
    return DeliveryDay(days[0].date, latencies=latencies).latency(0.95)


def _dates(now: datetime, number: int = DAYS) -> list[date]:
    """The last days in UTC, today last."""
    today = now.astimezone(UTC).date()
    return [today - timedelta(days=ago) for ago in range(number - 1, -1, -1)]
