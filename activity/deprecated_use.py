"""Which deprecated operations an app still calls, for which stores."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, Max, Min, QuerySet, Sum
from django.utils import timezone

from activity.models import DeprecatedUse
from activity.services.retention import USE_KEPT
from common.rest.deprecation import Deprecation, deprecated_operations
from marketplace.models import App

SHOWN: Final = 10  # stores of an operation


@dataclass(frozen=True, slots=True)
class OperationUse:
    """Calls since `first_at`. `latest` are the installations that called last, at most ten of `installations`."""

    operation: str  # with its method
    deprecation: Deprecation
    calls: int
    installations: int
    first_at: datetime
    last_at: datetime
    latest: Sequence[DeprecatedUse]


def recent_use(now: Any = None) -> QuerySet[DeprecatedUse]:
    """Of operations that are deprecated now, by installations that called them in the last 30 days."""
    since = (now or timezone.now()) - USE_KEPT
    return DeprecatedUse.objects.filter(operation__in=list(deprecated_operations()), last_at__gte=since)


def deprecated_use(app: App) -> list[OperationUse]:
    """Operations that stop first come first. No statement while nothing is deprecated."""
    deprecations = deprecated_operations()
    if not deprecations:
        return []
    of_app = recent_use().filter(app=app)
    found = (
        of_app.order_by()
        .values("operation")
        .annotate(
            calls=Sum("count"), installations=Count("pk"), first_at=Min("first_at"), last_at=Max("last_at")
        )
    )
    uses = [
        OperationUse(
            deprecation=deprecations[each["operation"]],
            latest=list(
                of_app.filter(operation=each["operation"])
                .select_related("installation__business")
                .order_by("-last_at")[:SHOWN]
            ),
            **each,
        )
        for each in found
    ]
    return sorted(uses, key=lambda use: (use.deprecation.end, use.operation))
