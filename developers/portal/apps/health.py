"""How an app does in merchants' stores, for its overview. The cost doesn't grow with installs, deliveries or calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Exists, OuterRef

from activity.models import ApiCall
from developers.portal.apps.rows import AppRow, problems_of, rows_of, with_problems
from extensions.hooks import health
from extensions.models import Breaker, Definition
from installations.models import Installation
from marketplace.models import App
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery

NEWEST: Final = 200  # deliveries and calls that are looked at
SHOWN: Final = 5  # of each kind


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed delivery or call. `delivery` is None for a call."""

    at: datetime
    text: str
    delivery: Delivery | None = None


@dataclass(frozen=True, slots=True)
class AppHealth:
    """`faults` are those of the newest 200 deliveries and 200 API calls. `skipped` are hooks that a breaker skips. `is_in_stores`:
    a merchant has ever installed it; before that, neither faults nor skipped hooks are looked for.
    """

    row: AppRow
    faults: Sequence[Fault]
    hooks: Sequence[Definition]
    skipped: Sequence[Breaker]
    is_in_stores: bool

    @property
    def success_rate(self) -> float | None:
        total = self.row.delivered + self.row.failed
        return self.row.delivered / total if total else None


def app_health(app: App) -> AppHealth:
    is_in_stores = Exists(
        Installation.objects.filter(app=OuterRef("pk"), is_test=False, business__is_sandbox=False)
    )
    found: Any = with_problems(App.objects.filter(pk=app.pk)).annotate(is_in_stores=is_in_stores).get()
    hooks = health.hooks_of(app)
    faults = [*_failed_deliveries(app), *_failed_calls(app)] if found.is_in_stores else []
    return AppHealth(
        row=rows_of([found])[0],
        faults=sorted(faults, key=lambda each: each.at, reverse=True)[:SHOWN],
        hooks=hooks,
        skipped=health.troubled(hooks)[:SHOWN] if found.is_in_stores and problems_of(found) else (),
        is_in_stores=found.is_in_stores,
    )


def _failed_deliveries(app: App) -> list[Fault]:
    newest = Delivery.objects.filter(app_id=app.pk).order_by("-id")[:NEWEST]
    failed = [each for each in newest if each.status in (DeliveryStatus.EXHAUSTED, DeliveryStatus.RETRYING)]
    return [Fault(each.finished_at or each.created_at, each.event_type, each) for each in failed[:SHOWN]]


def _failed_calls(app: App) -> list[Fault]:
    newest = (
        ApiCall.objects.filter(app=app).only("at", "method", "route", "path", "status").order_by("-at", "-id")
    )
    return [
        Fault(each.at, f"{each.status} for {each.method} {each.route or each.path}")
        for each in newest[:NEWEST]
        if each.status >= 400
    ][:SHOWN]
