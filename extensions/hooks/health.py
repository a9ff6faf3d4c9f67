"""The health of hooks, for developers and merchants: from recorded calls and breakers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import (
    CharField,
    Count,
    DateTimeField,
    Exists,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    UUIDField,
)
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import Business
from common.db.compiled import AmongIds, Compiled, Param, keeps_statements, rows_of_each
from common.db.rows import get_or_not_found
from common.errors import NotFound
from common.ids import first_id_at
from extensions.enums import SKIPPED, CallOutcome, ExtensionType
from extensions.hooks.descriptions import DESCRIPTIONS
from extensions.hooks.live import hooks_at
from extensions.models import Breaker, Definition, ExtensionState, HookCall, HookPreference
from installations.models import Installation
from marketplace.models import App
from stores.hookpoints import HookPoint
from stores.models import Order

WINDOW: Final = timedelta(days=7)
NEWEST: Final = 1000  # calls counted at most
SHOWN: Final = 25


_CallRow = tuple[str, int, datetime]  # outcome, duration in milliseconds, when


@dataclass(frozen=True, slots=True)
class Health:
    """The newest calls of the last 7 days, at most 1,000. Times are in milliseconds, of calls that were made; None if there
    were none. `worst` is the longest of the failed ones, `last` the time of the newest, `times` those of all, newest first.
    `failed_at` is the time of the newest failed one, and `since_then` the number of those after it.
    """

    asked: int
    failed: int
    skipped: int
    p50: int | None
    p95: int | None
    worst: int
    last: datetime | None = None
    times: Sequence[datetime] = ()
    failed_at: datetime | None = None
    since_then: int = 0

    @property
    def works_since(self) -> datetime | None:
        """The first call after the last failed one. None if none failed, or if it was the newest."""
        return self.times[self.since_then - 1] if self.failed_at and self.since_then else None

    @property
    def share_failed(self) -> float:
        return self.failed / self.asked if self.asked else 0.0


def health_of(calls: QuerySet[HookCall]) -> Health:
    """One statement, supported by an index on installation or definition."""
    since = timezone.now() - WINDOW
    newest = calls.filter(called_at__gt=since, id__gte=first_id_at(since)).order_by("-called_at")
    return _health(list(newest.values_list("outcome", "duration_ms", "called_at")[:NEWEST]))


def healths_of(
    calls: QuerySet[HookCall], hooks: Iterable[Definition], *, now: datetime
) -> dict[UUID, Health]:
    """Of each hook by these calls, by definition id. One statement."""
    since = now - WINDOW
    newest = calls.filter(called_at__gt=since, id__gte=first_id_at(since)).order_by("-called_at")
    rows: dict[UUID, list[_CallRow]] = {each.pk: [] for each in hooks}
    wanted = Q(pk__in=())
    for pk in rows:
        last = newest.filter(definition=pk).values("called_at")[NEWEST - 1 : NEWEST]
        wanted |= Q(definition=pk, called_at__gte=Coalesce(Subquery(last), since))
    found = newest.filter(wanted).values_list("definition", "outcome", "duration_ms", "called_at")
    for pk, outcome, duration_ms, called_at in found:
        rows[pk].append((outcome, duration_ms, called_at))
    return {pk: _health(each[:NEWEST]) for pk, each in rows.items()}


def healths_in_all_stores(hooks: Iterable[Definition], *, now: datetime) -> dict[UUID, Health]:
    """Of each hook by all its calls, by definition id. One round trip."""
    since = now - WINDOW
    values = {"limit": NEWEST, "since": since, "first": first_id_at(since)}
    ids = [each.pk for each in hooks]
    queries = [(_CALLS, {"definition": pk} | values) for pk in ids]
    found = rows_of_each(*queries, prepared=keeps_statements()) if ids else []
    return {pk: _health(rows) for pk, rows in zip(ids, found, strict=True)}


_CALLS: Final[Compiled[Any]] = Compiled(
    lambda: (
        HookCall.objects.filter(
            definition=Param("definition", UUIDField()),
            called_at__gt=Param("since", DateTimeField()),
            id__gte=Param("first", UUIDField()),
        )
        .order_by("-called_at")
        .values_list("outcome", "duration_ms", "called_at")
    ),
    prepared_as="extensions_calls_of_hook",
)


def _health(rows: Sequence[_CallRow]) -> Health:
    """Of the newest calls, newest first."""
    made = sorted(duration for outcome, duration, _ in rows if outcome not in SKIPPED)
    lost = [duration for outcome, duration, _ in rows if outcome != CallOutcome.ANSWERED]
    newest_lost = next((n for n, (outcome, *_) in enumerate(rows) if outcome != CallOutcome.ANSWERED), None)
    return Health(
        asked=len(rows),
        failed=len(lost),
        skipped=len(rows) - len(made),
        p50=_percentile(made, 0.50),
        p95=_percentile(made, 0.95),
        worst=max(lost, default=0),
        last=rows[0][2] if rows else None,
        times=[called_at for _, _, called_at in rows],
        failed_at=None if newest_lost is None else rows[newest_lost][2],
        since_then=newest_lost or 0,
    )


def _percentile(values: list[int], share: float) -> int | None:
    """A measured value with at least `share` of all values at or below it."""
    return values[-int(-len(values) * share // 1) - 1] if values else None


def hooks_of(app: App) -> list[Definition]:
    """The hooks of an app's manifest, in the order of a checkout."""
    return in_order(HOOKS_OF_APP.rows(app=app.pk))


HOOKS_OF_APP: Final = Compiled(
    lambda: Definition.objects.filter(
        app=Param("app", UUIDField()), type=ExtensionType.HOOK, is_active=True
    ).order_by(),
    prepared_as="extensions_hooks_of_app",
)


def in_order(definitions: Iterable[Definition]) -> list[Definition]:
    order = list(DESCRIPTIONS)
    return sorted(definitions, key=lambda each: order.index(HookPoint(each.key)))


def own_hook(app: App, point: str) -> Definition:
    """Also finds a hook that left the manifest, because its calls are kept. Raises `NotFound`."""
    hook = _BY_POINT.first(app=app.pk, point=point)
    if hook is None:
        raise NotFound("Hook not found")
    return hook


_BY_POINT: Final = Compiled(
    lambda: Definition.objects.filter(
        app=Param("app", UUIDField()), type=ExtensionType.HOOK, key=Param("point", CharField())
    ),
    prepared_as="extensions_hook_at",
)


class CallRow(NamedTuple):
    """A call as lists show it. `store` is the name of its store."""

    pk: UUID
    hook_point: str
    called_at: datetime
    outcome: str
    duration_ms: int
    http_status: int | None
    by_listener: bool
    fallback: str
    is_test: bool
    store: str


def newest_calls(definition: Definition) -> list[CallRow]:
    """The last 25, each with its store."""
    return [CallRow(*row) for row in _NEWEST.rows(limit=SHOWN, definition=definition.pk)]


_NEWEST: Final = Compiled(
    lambda: (
        HookCall.objects.filter(definition=Param("definition", UUIDField()))
        .order_by("-called_at", "-id")
        .values_list(*CallRow._fields[:-2], "installation__is_test", "installation__business__name")
    ),
    prepared_as="extensions_newest_calls",
)


def own_call(definition: Definition, call_id: object) -> HookCall:
    """With its store, and `has_order`: an order that was refused has no row. Raises `NotFound` for an invalid id or another
    hook's call.
    """
    order = Order.objects.filter(pk=OuterRef("order_id"))
    rows = HookCall.objects.filter(definition=definition).annotate(has_order=Exists(order))
    rows = rows.select_related("installation__business")
    return get_or_not_found(rows.defer("installation__webhook_secret"), call_id, "Call not found")


def last_calls(hooks: Iterable[Definition]) -> dict[UUID, HookCall]:
    """By definition id. One statement."""
    return {each.definition_id: each for each in _LAST.rows(hooks=[each.pk for each in hooks])}


def _last_calls() -> QuerySet[HookCall]:
    newest = HookCall.objects.filter(definition=OuterRef("pk")).order_by("-called_at", "-id")
    last = Definition.objects.filter(AmongIds("id", "hooks")).values(last=Subquery(newest.values("pk")[:1]))
    return HookCall.objects.filter(pk__in=last).order_by().defer("answer_excerpt", "request_body")


_LAST: Final = Compiled(_last_calls, prepared_as="extensions_last_calls")


def stores_that_switched_off(hooks: Iterable[Definition]) -> dict[UUID, int]:
    """How many stores with the app have switched each hook off, by definition id. One statement."""
    return dict(_OFF.rows(hooks=[each.pk for each in hooks]))


_OFF: Final[Compiled[Any]] = Compiled(
    lambda: (
        ExtensionState.objects.filter(
            AmongIds("definition", "hooks"), is_on=False, installation__uninstalled_at=None
        )
        .order_by()
        .values_list("definition")
        .annotate(Count("pk"))
    ),
    prepared_as="extensions_switched_off",
)


@dataclass(frozen=True, slots=True)
class RankedHook:
    """One hook of a point in a store, in the order in which they run. Equal ranks run side by side."""

    rank: int
    app_name: str
    priority: int
    timeout_ms: int
    is_own: bool


def running_order(business: Business, point: HookPoint, app: App) -> list[RankedHook]:
    """The hooks that a store asks at this point, other apps' among them."""
    hooks = hooks_at(business, point)
    names = dict(App.objects.filter(pk__in=[hook.app_id for hook in hooks]).values_list("pk", "name"))
    ranks = {
        priority: rank for rank, priority in enumerate(sorted({each.priority for each in hooks}), start=1)
    }
    return [
        RankedHook(
            rank=ranks[hook.priority],
            app_name=names[hook.app_id],
            priority=hook.priority,
            timeout_ms=round(hook.timeout * 1000),
            is_own=hook.app_id == app.pk,
        )
        for hook in hooks
    ]


# --- Breakers ---------------------------------------------------------------------------------------


def troubled(definitions: Iterable[Definition]) -> list[Breaker]:
    """Breakers of active installations whose last call failed; open ones first."""
    found = _TROUBLED.rows(hooks=[each.pk for each in definitions])
    return sorted(found, key=lambda each: (each.open_until is None, each.installation_id))


_TROUBLED: Final = Compiled(
    lambda: (
        Breaker.objects.filter(
            AmongIds("definition", "hooks"), failures__gt=0, installation__uninstalled_at=None
        )
        .select_related("installation__business", "definition")
        .defer("installation__webhook_secret")
        .order_by()
    ),
    prepared_as="extensions_troubled",
)


def is_paused(breaker: Breaker, now: datetime | None = None) -> bool:
    """Whether it is skipped now; an open breaker that isn't skipped makes its trial call next."""
    return breaker.open_until is not None and breaker.open_until > (now or timezone.now())


# --- What a merchant prefers ------------------------------------------------------------------------


def refuses_unvalidated(installation: Installation) -> bool:
    return HookPreference.objects.filter(installation=installation, refuse_unvalidated=True).exists()


def prefer_refusal(*, installation: Installation, refuse: bool) -> None:
    """Refuse orders that this app should have checked but couldn't, or accept them unchecked."""
    HookPreference.objects.update_or_create(
        installation=installation, defaults={"refuse_unvalidated": refuse}
    )
