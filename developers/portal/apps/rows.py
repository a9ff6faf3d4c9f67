"""A developer's apps as the list shows them: what needs attention first, with installs and the last seven days.

Always four statements, whatever the number of apps, installs and deliveries. Installs are counted when they happen, deliveries
and calls by the day; whether something fails is found by partial indexes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Case, Exists, F, IntegerField, OuterRef, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import User
from activity.deprecated_use import recent_use
from activity.models import ScopeUse
from common.web.charts import Bar, strip
from extensions.models import Breaker
from installations.models import Installation
from marketplace.enums import AppStatus, SubmissionStatus
from marketplace.models import App
from marketplace.queries import own_apps, with_last_submission
from webhooks.catalogue import WEBHOOK_TEST
from webhooks.enums import DeliveryStatus
from webhooks.models import DailyDeliveryCount, Delivery, Webhook

DAYS: Final = 7
SEARCH_FROM: Final = 9  # apps


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
    date: date
    successful: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class AppRow:
    app: App
    problems: Sequence[AppProblem]
    installs: int
    days: Sequence[DayOfDeliveries]
    calls: int

    @property
    def delivered(self) -> int:
        return sum(day.successful for day in self.days)

    @property
    def failed(self) -> int:
        return sum(day.failed for day in self.days)

    @property
    def deliveries(self) -> int:
        return self.delivered + self.failed

    @property
    def bars(self) -> list[Bar]:
        return strip([(day.successful, day.failed) for day in self.days], step=12)


def apps_by_attention(developer: User, text: str = "", now: datetime | None = None) -> QuerySet[App]:
    """The developer's apps whose name or slug contains `text`, those with problems first, then the latest changed."""
    found = with_problems(own_apps(developer), now)
    if text:
        found = found.filter(Q(name__icontains=text) | Q(slug__icontains=text))
    weights = [When(**{name: True}, then=Value(weight)) for weight, name in enumerate(PROBLEMS)]
    weight = Case(*weights, default=Value(len(PROBLEMS)), output_field=IntegerField())
    return found.annotate(weight=weight).order_by("weight", "-updated_at", "-id")


def with_problems(apps: Any, now: datetime | None = None) -> Any:
    """Annotate a flag for each of `PROBLEMS`, and the number of installs."""
    now = now or timezone.now()
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
        calls_deprecated=Exists(recent_use().filter(app=OuterRef("pk"))),
    )


def problems_of(app: App) -> list[AppProblem]:
    """Of an app that was read by `with_problems`."""
    return [problem for name, problem in PROBLEMS.items() if getattr(app, name)]


def state_of(app: App) -> tuple[Any, ...]:
    """What an open list shows again once it changes, of an app that was read by `with_problems`."""
    return app.pk, app.name, app.version, app.status, app.installs, problems_of(app)


def rows_of(apps: Iterable[App], now: datetime | None = None) -> list[AppRow]:
    """With the deliveries and calls of the last seven UTC days."""
    today = (now or timezone.now()).astimezone(UTC).date()
    dates = [today - timedelta(days=ago) for ago in range(DAYS - 1, -1, -1)]
    apps = list(apps)
    ids = [app.pk for app in apps]
    counts = DailyDeliveryCount.objects.filter(app__in=ids, date__gte=dates[0])
    days: dict[tuple[UUID, date], DayOfDeliveries] = {
        (app, day): DayOfDeliveries(day, successful, failed)
        for app, day, successful, failed in counts.values_list("app", "date", "successful", "failed")
    }
    used = ScopeUse.objects.filter(app__in=ids, day__gte=dates[0]).order_by().values_list("app")
    calls: dict[UUID, int] = dict(used.annotate(total=Sum("count")))
    return [
        AppRow(
            app=app,
            problems=problems_of(app),
            installs=app.installs,
            days=[days.get((app.pk, day), DayOfDeliveries(day)) for day in dates],
            calls=calls.get(app.pk, 0),
        )
        for app in apps
    ]
