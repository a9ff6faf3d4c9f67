"""Queries for an app's deliveries: filtered, newest first, without counting all of them.

Pages start at an id, and ids are ordered by time. So the list doesn't shift under the reader while new deliveries
arrive, and a late page costs as much as the first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import DateTimeField, Exists, F, OuterRef, Q, QuerySet, Subquery, UUIDField, Value
from django.db.models.functions import StrIndex
from django.db.models.lookups import GreaterThan

from common.db.compiled import Compiled, Param
from common.db.long_lists import CountOfSome, ids_among, ids_of_each
from common.errors import NotFound
from common.ids import first_id_at, parse_id
from common.times import shifted
from installations.models import Installation
from marketplace.models import App
from stores.models import Order
from webhooks import catalogue
from webhooks.enums import FAILING, DeliveryStatus
from webhooks.models import Attempt, Delivery, Event, Webhook
from webhooks.queries import DeliveryRow, delivery_rows, of_app_in_order
from webhooks.services.deliveries import GIVEN_UP

PAGE: Final = 25
MAX_COUNTED: Final = 1000  # counting stops here
ABOUT: Final = timedelta(minutes=1)  # that the time of an id may differ from `created_at`
MAX_ATTEMPTS_SHOWN: Final = 200
LOOKED_THROUGH: Final = 50_000  # deliveries among which an event or a status is looked for: 0.2 µs each
SEARCHED: Final = 5_000  # deliveries in whose events a text is looked for: 1.3 µs each, and more to find them
MAX_COMPARED: Final = 200  # recent successes among which one of the same type is looked for


@dataclass(frozen=True, slots=True)
class DeliverySearch:
    """Search criteria. Empty ones match everything. `text` is an id or an order number."""

    status: str = ""
    event: str = ""
    webhook: UUID | None = None
    installation: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""

    def __bool__(self) -> bool:
        return self != DeliverySearch()


@dataclass(frozen=True, slots=True)
class Counted:
    """A number of rows that is counted up to a limit. Reads `1,000`, or `More than 1,000`."""

    number: int
    is_more: bool = False

    def __bool__(self) -> bool:
        return self.number > 0

    def __str__(self) -> str:
        return f"{'More than ' if self.is_more else ''}{self.number:,}"


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    deliveries: list[DeliveryRow]  # newest first
    has_newer: bool
    has_older: bool


def webhooks_of(app: App) -> QuerySet[Webhook]:
    """Every webhook that the app ever registered. Deliveries of deleted ones are kept for 30 days too."""
    return Webhook.objects.filter(installation__app=app)


class EndpointChoice(NamedTuple):
    """A webhook as a choice of a drop-down."""

    pk: UUID
    url: str
    installation_id: UUID
    store: str


_APP: Final[Any] = Param("app", UUIDField())
_ENDPOINT: Final = ("pk", "url", "installation_id", "installation__business__name")
_OF_APP: Final = Compiled(lambda: _newest(_APP).filter(deleted_at=None))
_DELETED_OF_APP: Final = Compiled(lambda: _newest(_APP).filter(deleted_at__isnull=False))


def _newest(app: Any) -> QuerySet[Webhook, Any]:
    return webhooks_of(app).order_by("-id").values_list(*_ENDPOINT)


def endpoints_of(app: App, *, most: int, named: Iterable[object] = ()) -> list[EndpointChoice]:
    """Choices for a drop-down: the newest webhooks, deleted ones last. Always includes those in `named`, which holds
    ids of webhooks or installations.
    """
    # One after the other, since each stops after a few rows of an index. Both at once would sort all.
    rows = _OF_APP.rows(limit=most, app=app.pk)
    if len(rows) < most:
        rows += _DELETED_OF_APP.rows(limit=most - len(rows), app=app.pk)
    found = [EndpointChoice(*row) for row in rows]
    missing = [wanted for wanted in map(parse_id, named) if wanted and not _holds(found, wanted)]
    if missing:
        among = _newest(app).order_by().filter(Q(pk__in=missing) | Q(installation__in=missing))
        found[:0] = [EndpointChoice(*row) for row in among[:most]]
    return found


def _holds(endpoints: Iterable[EndpointChoice], wanted: UUID) -> bool:
    return any(wanted in (each.pk, each.installation_id) for each in endpoints)


def own_delivery(app: App, delivery_id: object) -> Delivery:
    """A delivery with its event, webhook and installation. Raises `NotFound`, also for another app's."""
    wanted = parse_id(delivery_id)
    found = _ONE.first(app=app.pk, delivery=wanted) if wanted else None
    if found is None:
        raise NotFound("Delivery not found")
    found.webhook.installation.app = app
    return found


_ONE: Final = Compiled(
    lambda: (
        Delivery.objects.filter(app_id=_APP, pk=Param("delivery", UUIDField()))
        .select_related("event", "webhook__installation__business")
        .defer("webhook__installation__webhook_secret")
    )
)


def page(
    app: App,
    filters: DeliverySearch,
    *,
    before: UUID | None = None,
    after: UUID | None = None,
    newest: UUID | None = None,
) -> DeliveryPage:
    """The newest page, or the page of deliveries older than `before` or newer than `after`. `newest` is one that was on
    top when the page was opened: none above it is added.
    """
    ids = _ids(app, filters, before=before, after=after, newest=newest, limit=PAGE + 1)
    more, ids = len(ids) > PAGE, ids[:PAGE]
    deliveries = delivery_rows(ids)
    if after is not None:
        return DeliveryPage(deliveries, has_newer=more, has_older=True)
    return DeliveryPage(deliveries, has_newer=before is not None, has_older=more)


def searched(filters: DeliverySearch) -> int | None:
    """The number of deliveries that are looked through for these, at most; None if all are."""
    if filters.text:
        return SEARCHED
    is_of_all = not (filters.webhook or filters.installation)
    return LOOKED_THROUGH if is_of_all and (filters.event or filters.status) else None


def count(app: App, filters: DeliverySearch, *, after: UUID | None = None, most: int = MAX_COUNTED) -> int:
    """The number of deliveries, at most `most`."""
    return len(_ids(app, filters, after=after, limit=most))


def failing(app: App, *, since: datetime, most: int) -> list[DeliveryRow]:
    """Deliveries created since then that are being retried or have failed, at most `most` of each, newest first.

    Tests are left out, and so is what can't be resent now.
    """
    first = first_id_at(shifted(since, -ABOUT))
    ids = ids_of_each([each.sql(app=app.pk, since=since, first=first) for each in _FAILING], most)
    return [each for each in delivery_rows(ids) if each.is_sendable]


def _failing(status: DeliveryStatus) -> QuerySet[Delivery, Any]:
    """The condition is that of an index of what fails, which has few rows."""
    rows = Delivery.objects.filter(app_id=_APP, status=status).exclude(event_type=catalogue.WEBHOOK_TEST)
    rows = rows.filter(created_at__gte=Param("since", DateTimeField()), id__gte=Param("first", UUIDField()))
    return rows.order_by("-id").values_list("pk")


_FAILING: Final = [Compiled(partial(_failing, status)) for status in FAILING]


def last_that_worked(delivery: Delivery) -> Delivery | None:
    """The newest delivery to the same webhook that was answered 2xx; one of the same event type if there is a recent one."""
    worked = Delivery.objects.filter(webhook=delivery.webhook_id, status=DeliveryStatus.SUCCEEDED)
    rows = worked.exclude(pk=delivery.pk).exclude(event_type=catalogue.WEBHOOK_TEST).order_by("-finished_at")
    recent = list(rows.values_list("pk", "event_type")[:MAX_COMPARED])
    same_type = (pk for pk, event_type in recent if event_type == delivery.event_type)
    found = next(same_type, recent[0][0] if recent else None)
    return own_delivery(delivery.webhook.installation.app, found) if found else None


def webhooks_to_recover(app: App, since: datetime, *, webhook: object = None, most: int) -> list[Webhook]:
    """Active webhooks of apps that run, with failed or held deliveries created since then."""
    rows = (
        webhooks_of(app).filter(is_active=True, deleted_at=None, installation__paused_at=None).defer("secret")
    )
    if wanted := parse_id(webhook):
        rows = rows.filter(pk=wanted)
    # Not joined: starting from 100,000 webhooks would cost more than the deliveries.
    failed = _to_recover(since).filter(app_id=app.pk).order_by().values_list("webhook", flat=True).distinct()
    return list(rows.filter(pk__in=list(failed)).order_by("-id")[:most])


def counted(rows: QuerySet[Delivery]) -> Counted:
    """At most `MAX_COUNTED`."""
    return _counted(len(rows.values_list("pk")[: MAX_COUNTED + 1]))


def _counted(found: int) -> Counted:
    return Counted(min(found, MAX_COUNTED), found > MAX_COUNTED)


def counts_to_recover(webhooks: Iterable[Webhook], since: datetime) -> list[Counted]:
    """The number of failed and held deliveries to each."""
    of_each = _to_recover(since).filter(webhook=OuterRef("pk")).values("pk")[: MAX_COUNTED + 1]
    rows = Webhook.objects.filter(pk__in=[each.pk for each in webhooks])
    return [_counted(found) for found in rows.values_list(CountOfSome(of_each), flat=True)]


def _to_recover(since: datetime) -> QuerySet[Delivery]:
    kept = _created(Delivery.objects.filter(status__in=GIVEN_UP), since, None)
    return kept.exclude(event_type=catalogue.WEBHOOK_TEST)


def _created(rows: QuerySet[Delivery], since: datetime | None, until: datetime | None) -> QuerySet[Delivery]:
    """Those created from `since` to before `until`. Their ids say nearly as much, by which an index finds them."""
    if since:
        rows = rows.filter(created_at__gte=since, id__gte=first_id_at(shifted(since, -ABOUT)))
    return rows.filter(created_at__lt=until, id__lt=first_id_at(shifted(until, ABOUT))) if until else rows


def oldest_time_and_installed(app: App) -> tuple[datetime | None, bool]:
    """When the oldest kept delivery was created, and whether a store has the app."""
    return _OLDEST.rows(app=app.pk)[0]


_OLDEST: Final = Compiled(
    lambda: App.objects.filter(pk=_APP).values_list(
        Subquery(of_app_in_order(_APP, oldest_first=True).values("created_at")[:1]),
        Exists(Installation.objects.active().filter(app=_APP)),
    ),
    prepared_as="portal_oldest_delivery",
)


def attempts_of(delivery: Delivery) -> list[Attempt]:
    """The newest attempts, ordered oldest first."""
    return list(delivery.attempts.order_by("-number")[:MAX_ATTEMPTS_SHOWN])[::-1]


# The search

BOUNDS: Final[dict[str, tuple[str, Any]]] = {
    "before": ("id__lt", UUIDField()),
    "after": ("id__gt", UUIDField()),
    "newest": ("id__lte", UUIDField()),
    "since": ("created_at__gte", DateTimeField()),
    "since_id": ("id__gte", UUIDField()),
    "until": ("created_at__lt", DateTimeField()),
    "until_id": ("id__lt", UUIDField()),
}


def _ids(
    app: App,
    filters: DeliverySearch,
    *,
    before: UUID | None = None,
    after: UUID | None = None,
    newest: UUID | None = None,
    limit: int,
) -> list[UUID]:
    """Matching ids, newest first; with `after`, oldest first from there.

    An app's deliveries come from its index, which is in the order of ids, and so do those of one webhook. A text is looked for in as many
    as `SEARCHED` says, and a status or an event among all of an app in as many as `LOOKED_THROUGH` says.
    """
    bounds = {"before": before, "after": after, "newest": newest} | _times(filters)
    given = {name: value for name, value in bounds.items() if value is not None}
    named = _named(app, filters.text)
    columns: dict[str, Any] = {
        "event_type": filters.event,
        "status": filters.status,
        "has_text": bool(named.part),
    }
    columns = {name: value for name, value in columns.items() if value}
    if not named and not filters.webhook and not filters.installation:
        query = _of_all(*given)
        if columns:
            part = query.sql(app=app.pk, **given)
            return ids_among(part, first=LOOKED_THROUGH, columns=columns, most=limit)
        return [pk for pk, *_ in query.rows(limit=limit, app=app.pk, **given)]
    is_of_all = not (filters.webhook or filters.installation or named.webhooks or named.event)
    rows = of_app_in_order(app.pk, oldest_first=after is not None)
    if not is_of_all:
        rows = _narrowed(app, filters, named).order_by("-id" if after is None else "id")
    rows = rows.filter(**{BOUNDS[name][0]: value for name, value in given.items()})
    if named.part:
        has_text = Event.objects.filter(pk=OuterRef("event")).annotate(at=StrIndex("data", Value(named.part)))
        rows = rows.annotate(has_text=Subquery(has_text.values(found=GreaterThan(F("at"), 0))))
        listed = rows.values_list("pk", "event_type", "status", "has_text").query.sql_with_params()
        return ids_among(listed, first=SEARCHED, columns=columns, most=limit)
    matching = rows.filter(**columns).values_list("pk", flat=True)
    return list(matching[:limit])


def _times(filters: DeliverySearch) -> dict[str, Any]:
    """Ids say nearly as much as times, and leave out partitions."""
    since, until = filters.since, filters.until
    return {
        "since": since,
        "since_id": first_id_at(shifted(since, -ABOUT)) if since else None,
        "until": until,
        "until_id": first_id_at(shifted(until, ABOUT)) if until else None,
    }


@cache
def _of_all(*bounds: str) -> Compiled[Any]:
    """An app's deliveries within these bounds, planned once, with what `ids_among` looks at."""
    rows = of_app_in_order(_APP, oldest_first="after" in bounds)
    for name in bounds:
        lookup, field = BOUNDS[name]
        rows = rows.filter(**{lookup: Param(name, field)})
    columns = rows.values_list("pk", "event_type", "status")
    return Compiled(lambda: columns, prepared_as="_".join(["portal_deliveries", *bounds]))


def _narrowed(app: App, filters: DeliverySearch, named: "_Named") -> QuerySet[Delivery]:
    """Those of some webhooks or of one event."""
    rows = Delivery.objects.filter(app_id=app.pk)
    if filters.webhook:
        rows = rows.filter(webhook=filters.webhook)
    if filters.installation:
        rows = rows.filter(webhook__in=_webhooks(app, filters.installation))
    if named.webhooks:
        rows = rows.filter(webhook__in=named.webhooks)
    return rows.filter(event=named.event) if named.event else rows


def _webhooks(app: App, wanted: UUID) -> list[UUID]:
    """The app's webhook with this id, or those of its installation with this id."""
    return [pk for (pk,) in _OF_ID.rows(app=app.pk, wanted=wanted)]


_WANTED: Final[Any] = Param("wanted", UUIDField())
_OF_ID: Final = Compiled(
    lambda: webhooks_of(_APP).filter(Q(pk=_WANTED) | Q(installation=_WANTED)).values_list("pk")
)
_EVENT_OF_ID: Final = Compiled(
    lambda: (
        Delivery.objects.filter(Q(pk=_WANTED) | Q(event=_WANTED), app_id=_APP).order_by().values_list("event")
    )
)


_STORE_OF_ORDER: Final = Compiled(
    lambda: Order.objects.filter(pk=_WANTED).order_by().values_list("business"),
    prepared_as="portal_store_of_order",
)


class _Named(NamedTuple):
    """What a text stands for: webhooks, an event, or a part of the data of events. Nothing without a text."""

    webhooks: Sequence[UUID] = ()
    event: UUID | None = None
    part: str = ""

    def __bool__(self) -> bool:
        return self != _Named()


def _named(app: App, text: str) -> _Named:
    """The id of a webhook, an installation, a delivery, an event or of anything in its data. Anything else is an order number."""
    if not text:
        return _Named()
    wanted = parse_id(text.lower())
    if wanted is None:
        return _Named(part=f'"orderNumber":"{text}"')
    if webhooks := _webhooks(app, wanted):
        return _Named(webhooks)
    if event := _EVENT_OF_ID.first(app=app.pk, wanted=wanted):
        return _Named(event=event[0])
    store = _STORE_OF_ORDER.first(wanted=wanted)
    of_store = webhooks_of(app).filter(installation__business=store[0]) if store else Webhook.objects.none()
    return _Named(list(of_store.values_list("pk", flat=True)), part=f'"{wanted}"')
