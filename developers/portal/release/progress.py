"""How far a version has come among the stores that have the app."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Count, Q

from common.db.long_lists import total_of
from extensions.models import ReachRequest
from installations.models import Installation
from installations.queries import stores_at
from marketplace.models import App, Release

NAMED: Final = 20


def stores_reached(release: Release) -> list[str]:
    """The names of stores that have the version of a release, of at most 20: those that installed the app first."""
    reached = stores_at(release.version).filter(runs=release.version_id).order_by("installed_at", "pk")
    return list(reached.values_list("business__name", flat=True)[:NAMED])


@dataclass(frozen=True, slots=True)
class Rollout:
    """How many production installations have approved the scopes of the current version, and how many haven't approved its
    scripts, widgets, hooks and hosts.
    """

    total: int
    waiting: int  # haven't answered
    declined: int
    without_reach: int
    without_data: int  # haven't agreed to where their data goes

    @property
    def agreed(self) -> int:
        return self.total - self.waiting - self.declined


def rollout(app: App) -> Rollout:
    """Besides the total, only those installations are read that have something open: there may be 100,000 others."""
    production = Installation.objects.active().filter(app=app, is_test=False)
    asked = production.filter(needs_reconsent=True).aggregate(
        waiting=Count("pk", filter=Q(reconsent_declined_at=None)),
        declined=Count("pk", filter=Q(reconsent_declined_at__isnull=False)),
    )
    is_open = app.rolling_version_id is not None
    concerned = production.filter(runs=app.rolling_version_id) if is_open else production
    requests = ReachRequest.objects.filter(version__app=app, in_release=is_open)
    asking: dict[bool, set[UUID]] = {True: set(), False: set()}
    for version, definition in requests.values_list("version", "definition"):
        asking[definition is None].add(version)
    without_data, without_reach = (
        concerned.filter(agreed_version__in=asking[about_data]).count() if asking[about_data] else 0
        for about_data in (True, False)
    )
    return Rollout(
        total=total_of(production, is_long=True),
        without_reach=without_reach,
        without_data=without_data,
        **asked,
    )
