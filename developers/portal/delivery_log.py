"""Queries for an app's deliveries: filtered, newest first, without counting all of them.

Pages start at an id, and ids are ordered by time. So the list doesn't shift under the reader while new deliveries
arrive, and a late page costs as much as the first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import StrIndex

from common.db.finders import get_or_not_found
from common.ids import parse_id
from marketplace.models import App
from webhooks import catalogue
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, Event, Webhook
from webhooks.services.deliveries import GIVEN_UP

PAGE: Final = 50
MAX_COUNTED: Final = 1000  # counting stops here
MAX_EVENTS_FOUND: Final = 1000  # by a text
SAME_MILLISECOND: Final = 16  # events that may share a time
MAX_ATTEMPTS_SHOWN: Final = 200
MAX_COMPARED: Final = 200  # recent successes among which one of the same type is looked for


@dataclass(frozen=True, slots=True)
class Filters:
    """Search criteria. Empty ones match everything. `text` is an id or an order number."""

    status: str = ""
    event: str = ""
    webhook: UUID | None = None
    installation: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""

    def __bool__(self) -> bool:
        return self != Filters()


@dataclass(frozen=True, slots=True)
class Page:
    deliveries: list[Delivery]  # newest first, each with `last_attempt`
    has_newer: bool
    has_older: bool


def webhooks_of(app: App) -> QuerySet[Webhook]:
    """Every webhook that the app ever registered. Deliveries of deleted ones are kept for 30 days too."""
    return Webhook.objects.filter(installation__app=app)


def some_webhooks(app: App, *, most: int, named: Iterable[object] = ()) -> list[Webhook]:
    """Choices for a drop-down: the newest webhooks, deleted ones last. Always includes those in `named`, which holds
    ids of webhooks or installations.
    """
    rows = webhooks_of(app).select_related("installation__business")
    lean = rows.defer("secret", "installation__webhook_secret")
    found = list(lean.order_by(F("deleted_at").asc(nulls_first=True), "-id")[:most])
    missing = [wanted for wanted in map(parse_id, named) if wanted and not _holds(found, wanted)]
    if missing:
        found[:0] = lean.filter(Q(pk__in=missing) | Q(installation__in=missing))[:most]
    return found


def _holds(webhooks: Iterable[Webhook], wanted: UUID) -> bool:
    return any(wanted in (each.pk, each.installation_id) for each in webhooks)


def own_delivery(app: App, delivery_id: object) -> Delivery:
    """A delivery with its event, webhook, installation and scopes. Raises `NotFound`, also for another app's."""
    rows = Delivery.objects.filter(webhook__installation__app=app).select_related(*_AROUND)
    return get_or_not_found(
        rows.defer("webhook__installation__webhook_secret"), delivery_id, "Delivery not found"
    )


def page(app: App, filters: Filters, *, before: UUID | None = None, after: UUID | None = None) -> Page:
    """The newest page, or the page of deliveries older than `before` or newer than `after`."""
    ids = _ids(app, filters, before=before, after=after, limit=PAGE + 1)
    more, ids = len(ids) > PAGE, ids[:PAGE]
    deliveries = _rows(ids)
    _attach_last_attempts(deliveries)
    if after is not None:
        return Page(deliveries, has_newer=more, has_older=True)
    return Page(deliveries, has_newer=before is not None, has_older=more)


def count(app: App, filters: Filters, *, after: UUID | None = None, most: int = MAX_COUNTED) -> int:
    """The number of deliveries, at most `most`."""
    return len(_ids(app, filters, after=after, limit=most))


def failing(app: App, *, since: datetime, most: int) -> list[Delivery]:
    """Deliveries created since then that are being retried or have failed, at most `most` of each, newest first.

    Each has `last_attempt`. Tests are left out, and so is what can't be resent now.
    """
    ids = [
        found
        for status in (DeliveryStatus.RETRYING, DeliveryStatus.EXHAUSTED)
        for found in _ids(app, Filters(status=status, since=since), limit=most)
    ]
    if not ids:
        return []
    sendable = [each for each in _rows(ids) if _is_sendable(each)]
    _attach_last_attempts(sendable)
    return [each for each in sendable if each.last_attempt]  # type: ignore[attr-defined]


def _is_sendable(delivery: Delivery) -> bool:
    webhook = delivery.webhook
    is_on = webhook.is_active and webhook.deleted_at is None and webhook.installation.paused_at is None
    return is_on and delivery.event.type != catalogue.WEBHOOK_TEST


def last_that_worked(delivery: Delivery) -> Delivery | None:
    """The newest delivery to the same webhook that was answered 2xx; one of the same event type if there is a recent one."""
    worked = Delivery.objects.filter(webhook=delivery.webhook_id, status=DeliveryStatus.SUCCEEDED)
    rows = worked.exclude(pk=delivery.pk).exclude(event__type=catalogue.WEBHOOK_TEST).order_by("-finished_at")
    recent = list(rows.values_list("pk", "event__type")[:MAX_COMPARED])
    same_type = (pk for pk, event_type in recent if event_type == delivery.event.type)
    found = next(same_type, recent[0][0] if recent else None)
    around = Delivery.objects.select_related(*_AROUND).defer("webhook__installation__webhook_secret")
    return around.get(pk=found) if found else None


def webhooks_to_recover(app: App, since: datetime, *, webhook: object = None, most: int) -> list[Webhook]:
    """Active webhooks of apps that run, with failed or held deliveries created since then."""
    rows = (
        webhooks_of(app).filter(is_active=True, deleted_at=None, installation__paused_at=None).defer("secret")
    )
    if wanted := parse_id(webhook):
        rows = rows.filter(pk=wanted)
    return list(rows.filter(Exists(_to_recover(since).filter(webhook=OuterRef("pk")))).order_by("-id")[:most])


def count_to_recover(webhook: Webhook, since: datetime) -> int:
    """The number of failed and held deliveries, at most `MAX_COUNTED`."""
    return len(_to_recover(since).filter(webhook=webhook).values_list("pk")[:MAX_COUNTED])


def _to_recover(since: datetime) -> QuerySet[Delivery]:
    kept = Delivery.objects.filter(status__in=GIVEN_UP, created_at__gte=since)
    return kept.exclude(event__type=catalogue.WEBHOOK_TEST)


def oldest_time(app: App) -> datetime | None:
    """When the oldest kept delivery was created. Costs one index lookup per webhook."""
    first = Delivery.objects.filter(webhook=OuterRef("pk")).order_by("id").values("created_at")[:1]
    times = webhooks_of(app).annotate(first=Subquery(first)).values_list("first", flat=True)
    return min((time for time in times if time is not None), default=None)


def attempts_of(delivery: Delivery) -> list[Attempt]:
    """The newest attempts, ordered oldest first."""
    return list(delivery.attempts.order_by("-number")[:MAX_ATTEMPTS_SHOWN])[::-1]


def last_success(app: App) -> dict[UUID, datetime]:
    """When each webhook last answered 2xx, by webhook; those that never did are left out."""
    last = Delivery.objects.filter(webhook=OuterRef("pk"), status=DeliveryStatus.SUCCEEDED).order_by("-id")
    rows = webhooks_of(app).kept().annotate(at=Subquery(last.values("finished_at")[:1]))  # type: ignore[attr-defined]
    return {pk: at for pk, at in rows.values_list("pk", "at") if at is not None}


# The search


def _ids(
    app: App,
    filters: Filters,
    *,
    before: UUID | None = None,
    after: UUID | None = None,
    limit: int,
) -> list[UUID]:
    """Matching ids, newest first; with `after`, oldest first from there."""
    matching = _matching(filters)
    if before is not None:
        matching = matching.filter(id__lt=before)
    upwards = after is not None
    if upwards:
        matching = matching.filter(id__gt=after)
    sources = _sources(app, filters)
    named = _named_events(app, filters)
    if connection.vendor != "postgresql" or named is not None:
        return _plain(matching, filters.event, sources, named, upwards, limit)
    if not filters.event:
        return _nearest(sources, matching, "id", upwards, limit)
    of_type = matching.filter(event__type=filters.event)
    if filters.status in ("", DeliveryStatus.SUCCEEDED):
        by_event = of_type.filter(event__business=RawSQL("one.business_id", []))
        return _nearest(sources, by_event, "event_id", upwards, limit)
    return _nearest(sources, of_type, "id", upwards, limit)


Source = tuple[UUID, UUID]  # a webhook and its business


def _sources(app: App, filters: Filters) -> list[Source]:
    """The webhooks to search."""
    rows = webhooks_of(app)
    if filters.webhook:
        rows = rows.filter(pk=filters.webhook)
    if filters.installation:
        rows = rows.filter(installation=filters.installation)
    if wanted := parse_id(filters.text.lower()):
        named = rows.filter(Q(pk=wanted) | Q(installation=wanted))
        rows = named if named.exists() else rows
    return list(rows.values_list("pk", "installation__business"))


def _matching(filters: Filters) -> QuerySet[Delivery]:
    """Deliveries that match status and times."""
    rows = Delivery.objects.all()
    if filters.status:
        rows = rows.filter(status=filters.status)
    if filters.since:
        rows = rows.filter(created_at__gte=filters.since)
    return rows.filter(created_at__lt=filters.until) if filters.until else rows


def _named_events(app: App, filters: Filters) -> list[UUID] | None:
    """The newest events that match `text`; None if the text doesn't search for events."""
    events = Event.objects.filter(business__in=app.installations.values("business"))
    if filters.event:
        events = events.filter(type=filters.event)
    found = _named(app, events, filters.text) if filters.text else None
    return (
        None if found is None else list(found.order_by("-id").values_list("pk", flat=True)[:MAX_EVENTS_FOUND])
    )


def _named(app: App, events: QuerySet[Event], text: str) -> QuerySet[Event] | None:
    """Events that match a text; None if it is the id of one of the app's webhooks or installations.

    The text may be the id of a delivery, of the event, or of anything in its data. Otherwise it is an order number.
    """
    wanted = parse_id(text.lower())
    if wanted is None:
        return _containing(events, f'"orderNumber":"{text}"')
    if webhooks_of(app).filter(Q(pk=wanted) | Q(installation=wanted)).exists():
        return None
    itself = events.filter(Q(pk=wanted) | Q(pk__in=Delivery.objects.filter(pk=wanted).values("event")))
    return itself if itself.exists() else _containing(events, f'"{wanted}"')


def _containing(events: QuerySet[Event], part: str) -> QuerySet[Event]:
    """Events whose data contains this text. On PostgreSQL, this takes less than half the time of LIKE."""
    return events.alias(at=StrIndex("data", Value(part))).filter(at__gt=0)


def _plain(
    matching: QuerySet[Delivery],
    event_type: str,
    sources: Sequence[Source],
    events: Sequence[UUID] | None,
    upwards: bool,
    limit: int,
) -> list[UUID]:
    """For given events, and for databases without lateral joins."""
    rows = matching.filter(webhook__in=[webhook_id for webhook_id, _ in sources])
    if event_type:
        rows = rows.filter(event__type=event_type)
    if events is not None:
        rows = rows.filter(event__in=events)
    return list(rows.order_by("id" if upwards else "-id").values_list("pk", flat=True)[:limit])


def _nearest(
    sources: Sequence[Source], matching: QuerySet[Delivery], order: str, upwards: bool, limit: int
) -> list[UUID]:
    """The first `limit` ids of all these webhooks.

    The query makes PostgreSQL read the first rows of each webhook from an index and merge them. Otherwise it may read
    all deliveries of the webhooks, or all newer ones of other apps. `order` selects the index: "id" for the webhook's
    deliveries, "event_id" for the business's events of one type. Both orders agree except within one millisecond, so
    a few more rows are read.
    """
    sign = "" if upwards else "-"
    each = matching.filter(webhook=RawSQL("one.id", [])).order_by(f"{sign}{order}").values("pk")
    inner, params = each[: limit + SAME_MILLISECOND].query.sql_with_params()
    sql = _NEAREST_OF_EACH.format(inner=inner, direction="ASC" if upwards else "DESC")
    webhook_ids, business_ids = [webhook for webhook, _ in sources], [business for _, business in sources]
    with connection.cursor() as cursor:
        cursor.execute(sql, [webhook_ids, business_ids, *params, limit])
        return [row[0] for row in cursor.fetchall()]


_NEAREST_OF_EACH: Final = """
SELECT found.id FROM unnest(%s::uuid[], %s::uuid[]) AS one(id, business_id)
CROSS JOIN LATERAL ({inner}) AS found(id)
ORDER BY found.id {direction} LIMIT %s
"""

_AROUND: Final = (
    "event",
    "webhook__installation__app__approved_version",
    "webhook__installation__business",
)


def _rows(ids: Sequence[UUID]) -> list[Delivery]:
    """Rows for the list, newest first, without secrets and event data."""
    rows = Delivery.objects.filter(pk__in=ids).select_related("event", "webhook__installation__business")
    lean = rows.defer("event__data", "webhook__secret", "webhook__installation__webhook_secret")
    return list(lean.order_by("-id"))


def _attach_last_attempts(deliveries: Iterable[Delivery]) -> None:
    by_id: dict[UUID, Any] = {delivery.pk: delivery for delivery in deliveries}
    last = Attempt.objects.filter(delivery__in=by_id, number=F("delivery__attempt_count"))
    for delivery in by_id.values():
        delivery.last_attempt = None
    for attempt in last.defer("response_excerpt"):
        by_id[attempt.delivery_id].last_attempt = attempt
