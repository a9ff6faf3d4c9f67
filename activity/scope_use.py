"""What each scope of an app was used for in the last 30 days."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from django.db.models import Max, Sum
from django.utils import timezone

from activity.models import ScopeUse
from activity.services.retention import USE_KEPT
from common.db.totals import found_in
from marketplace.models import App
from marketplace.scopes import SCOPES, Scope
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
