"""How hooks do: what developer and merchant are shown of the ledger and the breakers."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone

from common.errors import NotFound
from common.ids import parse_id
from extensions.enums import CallOutcome, ExtensionType
from extensions.hooks.asking import SKIPPED
from extensions.models import Breaker, Definition, HookCall, HookPreference
from installations.models import Installation
from marketplace.models import App
from stores.hookpoints import HookPoint

WINDOW: Final = timedelta(days=7)
NEWEST: Final = 1000  # calls that are counted at most
SHOWN: Final = 50

# The order in which a checkout meets them.
IN_ORDER: Final = (
    HookPoint.PAYMENT_METHODS,
    HookPoint.VALIDATE,
    HookPoint.DISCOUNTS,
    HookPoint.SHIPPING_RATES,
    HookPoint.CREATE_PAYMENT,
)


@dataclass(frozen=True, slots=True)
class Health:
    """The newest calls of the last 7 days, at most 1,000. Times are in milliseconds, of calls that were made; None
    where there was none. `waited` is what the failed ones took together."""

    asked: int
    failed: int
    skipped: int
    p50: int | None
    p95: int | None
    waited: int
    worst: int

    @property
    def share_failed(self) -> float:
        return self.failed / self.asked if self.asked else 0.0


def health_of(calls: QuerySet[HookCall], *, now: datetime | None = None) -> Health:
    """One statement, which an index on installation or definition answers."""
    since = (now or timezone.now()) - WINDOW
    newest = calls.filter(called_at__gt=since).order_by("-called_at")
    rows = list(newest.values_list("outcome", "duration_ms")[:NEWEST])
    made = sorted(duration for outcome, duration in rows if outcome not in SKIPPED)
    lost = [duration for outcome, duration in rows if outcome != CallOutcome.ANSWERED]
    return Health(
        asked=len(rows),
        failed=len(lost),
        skipped=len(rows) - len(made),
        p50=_percentile(made, 0.50),
        p95=_percentile(made, 0.95),
        waited=sum(lost),
        worst=max(lost, default=0),
    )


def _percentile(values: list[int], share: float) -> int | None:
    """A value that was measured: at least `share` of all are at or below it."""
    return values[max(0, -int(-len(values) * share // 1) - 1)] if values else None


def hooks_of(app: App) -> list[Definition]:
    """The hooks of an app's manifest, as a checkout meets them."""
    return in_order(Definition.objects.filter(app=app, type=ExtensionType.HOOK, is_active=True))


def in_order(definitions: Iterable[Definition]) -> list[Definition]:
    return sorted(definitions, key=lambda each: IN_ORDER.index(HookPoint(each.key)))


def own_hook(app: App, point: str) -> Definition:
    """Raises `NotFound`. One that left the manifest is found too: its calls are still there."""
    known = point in list(HookPoint)
    found = Definition.objects.filter(app=app, type=ExtensionType.HOOK, key=point).first() if known else None
    if found is None:
        raise NotFound("Hook not found")
    return found


def newest_calls(definition: Definition) -> list[HookCall]:
    """The last 50, with the shop of each."""
    rows = HookCall.objects.filter(definition=definition).select_related("installation__business")
    return list(
        rows.defer("answer_excerpt", "installation__webhook_secret").order_by("-called_at", "-id")[:SHOWN]
    )


def own_call(definition: Definition, call_id: object) -> HookCall:
    """Raises `NotFound`: no id at all, or another hook's call."""
    known = parse_id(call_id)
    rows = HookCall.objects.filter(definition=definition).select_related("installation__business")
    found = rows.defer("installation__webhook_secret").filter(pk=known).first() if known else None
    if found is None:
        raise NotFound("Call not found")
    return found


# --- Breakers ---------------------------------------------------------------------------------------


def troubled(definitions: Iterable[Definition], installation: Installation | None = None) -> list[Breaker]:
    """Breakers of installations that have not ended, where the last call failed; the open ones first."""
    rows = Breaker.objects.filter(
        definition__in=list(definitions), failures__gt=0, installation__uninstalled_at=None
    )
    if installation:
        rows = rows.filter(installation=installation)
    found = rows.select_related("installation__business", "definition").defer("installation__webhook_secret")
    return sorted(found, key=lambda each: (each.open_until is None, each.installation_id))


def is_paused(breaker: Breaker, now: datetime | None = None) -> bool:
    """Whether it is skipped at this moment; open and not paused means that the next call is the trial."""
    return breaker.open_until is not None and breaker.open_until > (now or timezone.now())


# --- What a merchant prefers ------------------------------------------------------------------------


def refuses_unvalidated(installation: Installation) -> bool:
    return HookPreference.objects.filter(installation=installation, refuse_unvalidated=True).exists()


def prefer_refusal(*, installation: Installation, refuse: bool) -> None:
    """Refuse orders that this app should have checked and could not, or take them unchecked."""
    HookPreference.objects.update_or_create(
        installation=installation, defaults={"refuse_unvalidated": refuse}
    )
