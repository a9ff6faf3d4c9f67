"""A developer's own apps, and how far each has come. Everybody else's do not exist here."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Min, Q

from accounts.models import User
from common.errors import NotFound
from common.ids import parse_id
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from marketplace.models import App, AppQuerySet
from webhooks.models import Attempt


def own_apps(developer: User) -> AppQuerySet:
    """Newest first, with what an answer about an app reads."""
    return (
        App.objects.of_developer(developer).select_related("approved_version").order_by("-created_at", "-id")
    )


def own_app(developer: User, app_id: str) -> App:
    """Raises `NotFound`: no id at all, another developer's app, or a deleted one."""
    parsed = parse_id(app_id)
    return _found(own_apps(developer).filter(pk=parsed).first() if parsed else None)


def own_app_by_slug(developer: User, slug: str) -> App:
    """Raises `NotFound` as `own_app` does."""
    return _found(own_apps(developer).filter(slug=slug).first())


def _found(app: App | None) -> App:
    if app is None:
        raise NotFound("App not found")
    return app


@dataclass(frozen=True, slots=True)
class Progress:
    """What has happened to an app on its developer's sandbox; None or False where it has not yet."""

    installed_at: datetime | None
    called_at: datetime | None
    webhook_answered: bool
    erasure_confirmed_at: datetime | None


def progress(app: App) -> Progress:
    """Seen from facts alone, the installs that have ended since included."""
    tests = Installation.objects.filter(app=app, business__owner=app.developer_id, business__is_sandbox=True)
    facts = tests.aggregate(installed=Min("installed_at"), called=Max("last_used_at"))
    answered = Attempt.objects.filter(
        delivery__webhook__installation__in=tests, http_status__range=(200, 299)
    )
    confirmed = HistoryEntry.objects.filter(
        installation__in=tests, kind=HistoryKind.ERASURE_CONFIRMED
    ).aggregate(at=Min("at"))
    return Progress(facts["installed"], facts["called"], answered.exists(), confirmed["at"])


@dataclass(frozen=True, slots=True)
class Rollout:
    """How far the production installations of an app have agreed to the scopes that were approved last."""

    total: int
    waiting: int  # have said nothing yet
    declined: int

    @property
    def agreed(self) -> int:
        return self.total - self.waiting - self.declined


def rollout(app: App) -> Rollout:
    production = Installation.objects.active().filter(app=app, is_test=False)
    counts = production.aggregate(
        total=Count("pk"),
        waiting=Count("pk", filter=Q(needs_reconsent=True, reconsent_declined_at=None)),
        declined=Count("pk", filter=Q(needs_reconsent=True, reconsent_declined_at__isnull=False)),
    )
    return Rollout(**counts)
