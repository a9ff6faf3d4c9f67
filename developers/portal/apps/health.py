"""How an app does in merchants' stores, for its overview. The cost doesn't grow with installs, deliveries or calls."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import F, UUIDField
from django.db.models.functions import Coalesce

from activity.models import ApiCall
from common.db.compiled import AmongIds, Compiled, Param
from developers.portal.apps.rows import AppRow
from extensions.hooks import health
from extensions.models import Breaker, Definition
from marketplace.models import App
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery
from webhooks.queries import of_app_in_order

NEWEST: Final = 200  # deliveries and calls that are looked at
SHOWN: Final = 5  # of each kind
FAILED: Final = (
    DeliveryStatus.EXHAUSTED,
    DeliveryStatus.RETRYING,
)  # by the last attempt; of others it has to be looked up


State = tuple[UUID, str, int]
"""A delivery's id, status and number of attempts."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed delivery or call. `delivery` is None for a call, else its id."""

    at: datetime
    text: str
    delivery: UUID | None = None
    status: str = ""


class Call(NamedTuple):
    """An API call by an installation."""

    at: datetime
    installation: UUID
    method: str
    route: str
    path: str
    status: int


@dataclass(frozen=True, slots=True)
class AppHealth:
    """`faults` are those of the newest 200 deliveries and 200 API `calls`, newest first. `skipped` are hooks that a breaker skips.
    Before a merchant has ever installed the app, none of them is looked for.
    """

    row: AppRow
    faults: Sequence[Fault]
    calls: Sequence[Call]
    hooks: Sequence[Definition]
    skipped: Sequence[Breaker]

    @property
    def is_in_stores(self) -> bool:
        return self.row.is_in_stores

    @property
    def success_rate(self) -> float | None:
        total = self.row.deliveries
        return self.row.delivered / total if total else None


def newest_of(app: App, row: AppRow) -> list[State]:
    """The newest deliveries of an app that is in stores, the newest first, which tell whether its faults have changed."""
    if not row.is_in_stores:
        return []
    return _DELIVERIES.rows(limit=NEWEST, app=app.pk)


def app_health(app: App, row: AppRow, newest: Sequence[State]) -> AppHealth:
    """`row` is by `row_now`, and `newest` by `newest_of`."""
    hooks = health.hooks_of(app)
    calls = list(map(Call._make, _CALLS.rows(limit=NEWEST, app=app.pk))) if row.is_in_stores else []
    faults = [*_failed_deliveries(newest), *_failed_calls(calls)]
    return AppHealth(
        row=row,
        faults=sorted(faults, key=lambda each: each.at, reverse=True)[:SHOWN],
        calls=calls,
        hooks=hooks,
        skipped=health.troubled(hooks)[:SHOWN] if row.is_in_stores and row.problems else (),
    )


def _failed_deliveries(newest: Sequence[State]) -> list[Fault]:
    """Those whose last attempt failed, as the figures count them: also one that is being resent, until that has succeeded."""
    failed = {pk for pk, status, _ in newest if status in FAILED}
    unknown = [
        pk for pk, status, tried in newest if tried and status not in (*FAILED, DeliveryStatus.SUCCEEDED)
    ]
    if unknown:
        last = Attempt.objects.filter(delivery__in=unknown, number=F("delivery__attempt_count"))
        failed |= set(last.exclude(error_class="").values_list("delivery", flat=True))
    shown = [pk for pk, *_ in newest if pk in failed][:SHOWN]
    return [Fault(*row) for row in _FAULTS.rows(ids=shown)] if shown else []


def _failed_calls(calls: Iterable[Call]) -> list[Fault]:
    failed = [each for each in calls if each.status >= 400][:SHOWN]
    return [Fault(each.at, f"{each.status} for {each.method} {each.route or each.path}") for each in failed]


_APP: Final = Param("app", UUIDField())
_DELIVERIES: Final = Compiled(
    lambda: of_app_in_order(_APP).values_list("pk", "status", "attempt_count"),
    prepared_as="portal_newest_deliveries",
)
_FAULTS: Final = Compiled(
    lambda: (
        Delivery.objects.filter(AmongIds("id", "ids"))
        .order_by("-id")
        .values_list(Coalesce("finished_at", "created_at"), "event_type", "pk", "status")
    ),
    prepared_as="portal_faults",
)
_CALLS: Final = Compiled(
    lambda: ApiCall.objects.filter(app=_APP).order_by("-at", "-id").values_list(*Call._fields),
    prepared_as="portal_newest_calls",
)
