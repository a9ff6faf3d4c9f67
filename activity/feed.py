"""What an app did and was sent, newest first: API calls, hook calls and webhook deliveries of the last seven days, merged.

A delivery is one entry, at the time when it was created, with its last attempt. Pages start at the entry before, so the
list doesn't shift under the reader, and a late page costs as much as the first.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import DateTimeField, F, Q, QuerySet, UUIDField
from django.utils import timezone

from activity.models import ApiCall, LogGap
from activity.services.retention import KEPT
from common import places
from common.db.compiled import Compiled, EachOfIds, Param
from common.db.rows import get_or_not_found
from common.ids import first_id_at, moment_of, parse_id
from common.places import Work
from extensions.enums import SKIPPED, CallOutcome, ExtensionType
from extensions.models import Definition, HookCall
from installations.models import Installation, with_versions
from marketplace.models import App
from stores.hookpoints import HookPoint
from webhooks.catalogue import EVENTS
from webhooks.enums import FAILING, DeliveryStatus
from webhooks.models import Delivery, Webhook
from webhooks.queries import delivery_rows, of_app_in_order

PAGE: Final = 50
SEARCHED: Final = 20_000  # calls, for a text
SEEN: Final = 5_000  # calls, for the list of routes

API, HOOK, WEBHOOK = "api", "hook", "webhook"
KINDS: Final = (API, HOOK, WEBHOOK)  # entries of the same time are in this order, newest first

FAILED: Final = "failed"
CLASSES: Final = {"2xx": (200, 299), "3xx": (300, 399), "4xx": (400, 499), "5xx": (500, 599)}


@dataclass(frozen=True, slots=True)
class ActivityQuery:
    """Search criteria. Empty ones match everything.

    `status` is a key of `CLASSES`, or `FAILED`. `endpoint` is a documented path, a hook point or an event. `text` is an id, an
    error code, or a part of a path or message.
    """

    kind: str = ""
    status: str = ""
    endpoint: str = ""
    installation: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""

    def __bool__(self) -> bool:
        return self != ActivityQuery()

    @property
    def is_narrowed(self) -> bool:
        """By more than a kind and a beginning."""
        return bool(self.status or self.endpoint or self.installation or self.until or self.text)


class FeedPosition(NamedTuple):
    """The place of an entry in the list."""

    at: datetime
    kind: str
    id: UUID

    @property
    def order(self) -> tuple[datetime, int, UUID]:
        """Greater is newer."""
        return self.at, -KINDS.index(self.kind), self.id

    def __str__(self) -> str:
        micros = int((self.at - _EPOCH) / timedelta(microseconds=1))
        return f"{micros}.{self.kind}.{self.id}"


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def parse_position(text: str | None) -> FeedPosition | None:
    """None for a malformed one."""
    micros, _, rest = (text or "").partition(".")
    kind, _, spelled = rest.partition(".")
    found = parse_id(spelled)
    if not (micros.isascii() and micros.isdigit() and len(micros) <= 16 and kind in KINDS and found):
        return None
    return FeedPosition(_EPOCH + timedelta(microseconds=int(micros)), kind, found)


@dataclass(frozen=True, slots=True)
class ActivityEntry:
    """One row of the list. `row` is an `ApiCallRow`, a `HookRow` or a `DeliveryRow`."""

    position: FeedPosition
    row: Any

    @property
    def kind(self) -> str:
        return self.position.kind

    @property
    def at(self) -> datetime:
        return self.position.at

    @property
    def id(self) -> UUID:
        return self.position.id


@dataclass(frozen=True, slots=True)
class ActivityPage:
    entries: list[ActivityEntry]
    has_older: bool


def page(
    app: App,
    filters: ActivityQuery,
    *,
    before: FeedPosition | None = None,
    limit: int = PAGE,
    now: datetime | None = None,
) -> ActivityPage:
    """The newest entries, or those before a position."""
    since = max(filters.since or _EPOCH, (now or timezone.now()) - KEPT)
    found = _merged(app, filters, since, before=before, limit=limit + 1)
    return ActivityPage(_read(found[:limit]), has_older=len(found) > limit)


def _read(positions: Sequence[FeedPosition]) -> list[ActivityEntry]:
    """The rows of a page, one statement for each kind. One that retention has just deleted is left out."""
    rows: dict[UUID, Any] = {}
    reads: dict[str, Callable[[list[UUID]], Iterable[Any]]] = {
        API: lambda ids: (ApiCallRow(*row) for row in _CALLS.rows(ids=ids)),
        HOOK: lambda ids: (HookRow(*row) for row in _HOOK_CALLS.rows(ids=ids)),
        WEBHOOK: delivery_rows,
    }
    for kind, read in reads.items():
        if ids := [each.id for each in positions if each.kind == kind]:
            rows |= {row.pk: row for row in read(ids)}
    return [ActivityEntry(each, rows[each.id]) for each in positions if each.id in rows]


class ApiCallRow(NamedTuple):
    pk: UUID
    business_id: UUID
    store: str
    is_test: bool
    duration_ms: int
    method: str
    path: str
    status: int
    message: str


class HookRow(NamedTuple):
    pk: UUID
    business_id: UUID
    store: str
    is_test: bool
    duration_ms: int
    hook_point: str
    outcome: str
    http_status: int | None
    problem: str
    fallback: str
    request_id: UUID | None


# The first fields of both.
_COMMON: Final = (
    "pk", "installation__business", "installation__business__name", "installation__is_test", "duration_ms",
)  # fmt: skip
_CALLS: Final = Compiled(
    lambda: ApiCall.objects.filter(EachOfIds("id", "ids")).values_list(*_COMMON, *ApiCallRow._fields[5:]),
    prepared_as="activity_calls",
)
_HOOK_CALLS: Final = Compiled(
    lambda: HookCall.objects.filter(EachOfIds("id", "ids")).values_list(*_COMMON, *HookRow._fields[5:]),
    prepared_as="activity_hook_calls",
)


def count_newer(app: App, filters: ActivityQuery, *, after: FeedPosition, most: int) -> int:
    """How many entries are newer than a position, at most `most`."""
    found = _merged(app, filters, after.at, before=None, limit=most + 1)
    return min(most, sum(each.order > after.order for each in found))


def gaps_of(app: App) -> list[LogGap]:
    """What the log of the last seven days lacks, newest first."""
    return _GAPS.rows(limit=10, app=app.pk, since=timezone.now() - KEPT)


def endpoints_of(app: App, kind: str = "") -> dict[str, list[str]]:
    """By kind, or of one kind: the routes among the newest calls, the hooks of the manifest, and all events."""
    reads: dict[str, Callable[[], list[str]]] = {
        API: lambda: sorted({route for (route,) in _ROUTES.rows(limit=SEEN, app=app.pk) if route}),
        HOOK: lambda: [key for _, key in _HOOKS.rows(app=app.pk)],
        WEBHOOK: lambda: list(EVENTS),
    }
    return {each: read() for each, read in reads.items() if kind in ("", each)}


def call_of_app(app: App, call_id: object) -> ApiCall:
    """A call of the app, with its installation and store. Raises `NotFound`, also for another app's."""
    rows = ApiCall.objects.filter(app=app).select_related(
        *with_versions("installation__"), "installation__business"
    )
    return get_or_not_found(rows.defer("installation__webhook_secret"), call_id, "Request not found")


# The sources


def _merged(
    app: App, filters: ActivityQuery, since: datetime, *, before: FeedPosition | None, limit: int
) -> list[FeedPosition]:
    """By values alone: most rows are of entries that the page doesn't show."""
    kinds = [filters.kind] if filters.kind else list(KINDS)
    of_endpoint = _kind_of(filters.endpoint)
    sources = {API: _calls, HOOK: _hook_calls, WEBHOOK: _deliveries}
    found: list[FeedPosition] = []
    for kind in kinds:
        if of_endpoint in ("", kind):
            rows = sources[kind](app, filters, since, before, limit)
            found += [FeedPosition(at, kind, pk) for at, pk in rows]
    return sorted(found, key=lambda each: each.order, reverse=True)[:limit]


def _kind_of(endpoint: str) -> str:
    if not endpoint:
        return ""
    if endpoint in EVENTS:
        return WEBHOOK
    return HOOK if endpoint in HookPoint.__members__.values() else API


def _before(kind: str, at: str, before: FeedPosition | None) -> Q:
    """The rows of a kind that come after a position in the list."""
    if before is None:
        return Q()
    earlier = Q(**{f"{at}__lt": before.at})
    if KINDS.index(kind) < KINDS.index(before.kind):
        return earlier
    if kind == before.kind:
        return earlier | Q(**{at: before.at, "id__lt": before.id})
    return Q(**{f"{at}__lte": before.at})


def _calls(
    app: App, filters: ActivityQuery, since: datetime, before: FeedPosition | None, limit: int
) -> Iterable[tuple[datetime, UUID]]:
    if before is None and not filters.is_narrowed:
        return _NEWEST_CALLS.rows(limit=limit, app=app.pk, since=since)
    rows = ApiCall.objects.filter(_before(API, "at", before), app=app, at__gte=since)
    if filters.installation:
        rows = rows.filter(installation=filters.installation)
    if filters.until:
        rows = rows.filter(at__lt=filters.until)
    if filters.endpoint:
        rows = rows.filter(route=filters.endpoint)
    if filters.status:
        low, high = CLASSES.get(filters.status, (400, 599))
        rows = rows.filter(status__range=(low, high))
    if filters.text:
        rows = _with_text(rows, filters.text)
    return rows.order_by("-at", "-id").values_list("at", "pk")[:limit]


def _with_text(rows: QuerySet[ApiCall], text: str) -> QuerySet[ApiCall]:
    """An id finds its call and its trace. Any other text is looked for in the newest calls."""
    wanted = parse_id(text.lower())
    if wanted:
        return rows.filter(Q(pk=wanted) | Q(trace_id=wanted) | Q(path__contains=str(wanted)))
    places.require(Work.SEARCH)
    newest = rows.order_by("-at", "-id").values("pk")[:SEARCHED]
    part = Q(path__icontains=text) | Q(message__icontains=text) | Q(error_code=text) | Q(idempotency_key=text)
    return ApiCall.objects.filter(part, pk__in=newest)


def _hook_calls(
    app: App, filters: ActivityQuery, since: datetime, before: FeedPosition | None, limit: int
) -> Iterable[tuple[datetime, UUID]]:
    """One query for each hook, since the index is by hook. An id is made after its call, and leaves out older partitions."""
    if before is None and not filters.is_narrowed:
        values: dict[str, Any] = {"since": since, "first": first_id_at(since)}
        hooks = [pk for pk, _ in _HOOKS.rows(app=app.pk)]
        return [row for pk in hooks for row in _NEWEST_HOOK_CALLS.rows(limit=limit, definition=pk, **values)]
    rows = HookCall.objects.filter(
        _before(HOOK, "called_at", before), called_at__gte=since, id__gte=first_id_at(since)
    )
    if filters.installation:
        rows = rows.filter(installation=filters.installation)
    if filters.until:
        rows = rows.filter(called_at__lt=filters.until)
    if filters.status == FAILED:
        rows = rows.exclude(outcome__in=(CallOutcome.ANSWERED, *SKIPPED))
    elif filters.status:
        rows = rows.filter(http_status__range=CLASSES[filters.status])
    if filters.text:
        wanted = parse_id(filters.text.lower())
        rows = rows.filter(
            Q(pk=wanted) | Q(request_id=wanted) | Q(order_id=wanted)
            if wanted
            else Q(problem__icontains=filters.text) | Q(hook_point__icontains=filters.text)
        )
    found: list[tuple[datetime, UUID]] = []
    for pk, key in _HOOKS.rows(app=app.pk):
        if filters.endpoint in ("", key):
            of_hook = rows.filter(definition=pk).order_by("-called_at", "-id")
            found += of_hook.values_list("called_at", "pk")[:limit]
    return found


def _deliveries(
    app: App, filters: ActivityQuery, since: datetime, before: FeedPosition | None, limit: int
) -> Iterable[tuple[datetime, UUID]]:
    """By id, which begins with the time, to the millisecond: an index has the ids of an app in this order."""
    if before is None and not filters.is_narrowed:
        newest = _NEWEST_DELIVERIES.rows(limit=limit, app=app.pk, first=first_id_at(since))
        return [(moment_of(pk), pk) for (pk,) in newest]
    rows = Delivery.objects.filter(app_id=app.pk, id__gte=first_id_at(since))
    if filters.until:
        rows = rows.filter(id__lt=first_id_at(filters.until))
    if before is not None:
        behind = first_id_at(before.at + timedelta(milliseconds=1))
        rows = rows.filter(id__lt=before.id if before.kind == WEBHOOK else behind)
    if filters.installation:
        own = Webhook.objects.filter(installation=filters.installation, installation__app=app)
        rows = rows.filter(webhook__in=list(own.values_list("pk", flat=True)))
    ids = _matching(rows, filters).order_by("-id").values_list("pk", flat=True)[:limit]
    return [(moment_of(pk), pk) for pk in ids]


def _matching(rows: QuerySet[Delivery], filters: ActivityQuery) -> QuerySet[Delivery]:
    if filters.endpoint:
        rows = rows.filter(event_type=filters.endpoint)
    if filters.status == "2xx":
        rows = rows.filter(status=DeliveryStatus.SUCCEEDED)
    elif filters.status:
        rows = rows.filter(status__in=FAILING)
        if filters.status != FAILED:
            rows = rows.filter(
                attempts__number=F("attempt_count"), attempts__http_status__range=CLASSES[filters.status]
            )
    wanted = parse_id(filters.text.lower())
    if wanted:
        of_event = Q(event=wanted) | Q(event__request_id=wanted) | Q(event__trace_id=wanted)
        return rows.filter(Q(pk=wanted) | of_event | Q(webhook=wanted))
    if filters.text:
        rows = rows.filter(event_type__in=[name for name in EVENTS if filters.text.lower() in name])
    return rows


def stores_of(app: App, *, most: int, named: object = None) -> list[tuple[UUID, str]]:
    """Choices for a drop-down: the newest installations with their store's name, and always the one that is named."""
    found = _STORES.rows(limit=most, app=app.pk)
    wanted = parse_id(named)
    if wanted and all(pk != wanted for pk, _ in found):
        found[:0] = app.installations.filter(pk=wanted).values_list("pk", "business__name")
    return found


# What every list of them asks.
_APP: Final[Any] = Param("app", UUIDField())
_STORES: Final = Compiled(
    lambda: Installation.objects.filter(app=_APP).order_by("-id").values_list("pk", "business__name")
)
_ROUTES: Final = Compiled(
    lambda: ApiCall.objects.filter(app=_APP).order_by("-at", "-id").values_list("route"),
    prepared_as="activity_routes",
)
_HOOKS: Final = Compiled(
    lambda: (
        Definition.objects.filter(app=_APP, type=ExtensionType.HOOK).order_by("key").values_list("pk", "key")
    ),
    prepared_as="activity_hooks",
)
_SINCE: Final[Any] = Param("since", DateTimeField())
_FIRST: Final[Any] = Param("first", UUIDField())
_NEWEST_CALLS: Final = Compiled(
    lambda: ApiCall.objects.filter(app=_APP, at__gte=_SINCE).order_by("-at", "-id").values_list("at", "pk"),
    prepared_as="activity_newest_calls",
)
_NEWEST_HOOK_CALLS: Final = Compiled(
    lambda: (
        HookCall.objects.filter(
            definition=Param("definition", UUIDField()), called_at__gte=_SINCE, id__gte=_FIRST
        )
        .order_by("-called_at", "-id")
        .values_list("called_at", "pk")
    ),
    prepared_as="activity_newest_hook_calls",
)
_NEWEST_DELIVERIES: Final = Compiled(
    lambda: of_app_in_order(_APP).filter(id__gte=_FIRST).values_list("pk"),
    prepared_as="activity_newest_deliveries",
)
_GAPS: Final = Compiled(
    lambda: LogGap.objects.filter(app=_APP, until__gte=_SINCE).order_by("-until"),
    prepared_as="activity_gaps",
)
