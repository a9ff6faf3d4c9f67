"""Reading an app's deliveries: filtered, newest first, without counting them all.

Pages are cut by id, which is ordered by time: a list that grows at its top does not shift under the reader, and a
late page costs what the first does.
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

from common.errors import NotFound
from common.ids import parse_id
from marketplace.models import App
from webhooks import catalogue
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, Event, Webhook
from webhooks.services.deliveries import GIVEN_UP

PAGE: Final = 50
MOST_COUNTED: Final = 1000  # of what a count stops at
MOST_NAMED: Final = 1000  # events that a text may mean
AT_ONCE: Final = 16  # events that may begin in one millisecond
MAX_ATTEMPTS_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Filters:
    """What is looked for; every empty one lets all through. `text` is an id, or an order's number."""

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
    """Every webhook that the app ever registered, the deleted ones too: their deliveries stay 30 days."""
    return Webhook.objects.filter(installation__app=app)


def some_webhooks(app: App, *, most: int, named: Iterable[object] = ()) -> list[Webhook]:
    """To choose from: the newest, those that were deleted last; and in any case what `named` holds, as ids of
    webhooks or installations.
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
    """With event, webhook, installation and what `effective_scopes` reads. Raises NotFound for another app's."""
    parsed = parse_id(delivery_id)
    rows = Delivery.objects.filter(pk=parsed, webhook__installation__app=app) if parsed else None
    found = rows and rows.select_related(*_AROUND).defer("webhook__installation__webhook_secret").first()
    if not found:
        raise NotFound("Delivery not found")
    return found


def page(app: App, filters: Filters, *, before: UUID | None = None, after: UUID | None = None) -> Page:
    """The newest page; the one that is older than `before`, or newer than `after`."""
    ids = _ids(app, filters, before=before, after=after, limit=PAGE + 1)
    more, ids = len(ids) > PAGE, ids[:PAGE]
    deliveries = _rows(ids)
    _attach_last_attempts(deliveries)
    if after is not None:
        return Page(deliveries, has_newer=more, has_older=True)
    return Page(deliveries, has_newer=before is not None, has_older=more)


def count(app: App, filters: Filters, *, after: UUID | None = None, most: int = MOST_COUNTED) -> int:
    """How many there are, `most` at the most."""
    return len(_ids(app, filters, after=after, limit=most))


def with_given_up(app: App, since: datetime, *, webhook: object = None, most: int) -> list[Webhook]:
    """The active webhooks for which something failed or is held that was created since then."""
    rows = webhooks_of(app).filter(is_active=True, deleted_at=None).defer("secret")
    if wanted := parse_id(webhook):
        rows = rows.filter(pk=wanted)
    return list(rows.filter(Exists(_given_up(since).filter(webhook=OuterRef("pk")))).order_by("-id")[:most])


def count_given_up(webhook: Webhook, since: datetime) -> int:
    """How many were given up or are held, `MOST_COUNTED` at the most."""
    return len(_given_up(since).filter(webhook=webhook).values_list("pk")[:MOST_COUNTED])


def _given_up(since: datetime) -> QuerySet[Delivery]:
    kept = Delivery.objects.filter(status__in=GIVEN_UP, created_at__gte=since)
    return kept.exclude(event__type=catalogue.WEBHOOK_TEST)


def oldest_time(app: App) -> datetime | None:
    """When the oldest delivery that is still kept was made: one look into the index per webhook."""
    first = Delivery.objects.filter(webhook=OuterRef("pk")).order_by("id").values("created_at")[:1]
    times = webhooks_of(app).annotate(first=Subquery(first)).values_list("first", flat=True)
    return min((time for time in times if time is not None), default=None)


def attempts_of(delivery: Delivery) -> list[Attempt]:
    """Oldest first; of a delivery that was sent again and again, the newest."""
    return list(delivery.attempts.order_by("-number")[:MAX_ATTEMPTS_SHOWN])[::-1]


def last_success(app: App) -> dict[UUID, datetime]:
    """When each webhook last answered 2xx, by webhook; those that never did are left out."""
    last = Delivery.objects.filter(webhook=OuterRef("pk"), status=DeliveryStatus.SUCCEEDED).order_by("-id")
    rows = webhooks_of(app).kept().annotate(at=Subquery(last.values("finished_at")[:1]))  # type: ignore[attr-defined]
    return {pk: at for pk, at in rows.values_list("pk", "at") if at is not None}


# How it is found


def _ids(
    app: App,
    filters: Filters,
    *,
    before: UUID | None = None,
    after: UUID | None = None,
    limit: int,
) -> list[UUID]:
    """The ids that fit, nearest first: the newest, or upwards from `after`."""
    matching = _matching(filters)
    if before is not None:
        matching = matching.filter(id__lt=before)
    upwards = after is not None
    if upwards:
        matching = matching.filter(id__gt=after)
    places = _places(app, filters)
    named = _named_events(app, filters)
    if connection.vendor != "postgresql" or named is not None:
        return _plain(matching, filters.event, places, named, upwards, limit)
    if not filters.event:
        return _nearest(places, matching, "id", upwards, limit)
    of_type = matching.filter(event__type=filters.event)
    if filters.status in ("", DeliveryStatus.SUCCEEDED):
        by_event = of_type.filter(event__business=RawSQL("one.business_id", []))
        return _nearest(places, by_event, "event_id", upwards, limit)
    return _nearest(places, of_type, "id", upwards, limit)


Place = tuple[UUID, UUID]  # a webhook and its business


def _places(app: App, filters: Filters) -> list[Place]:
    """The webhooks to look at."""
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
    """What status and times let through."""
    rows = Delivery.objects.all()
    if filters.status:
        rows = rows.filter(status=filters.status)
    if filters.since:
        rows = rows.filter(created_at__gte=filters.since)
    return rows.filter(created_at__lt=filters.until) if filters.until else rows


def _named_events(app: App, filters: Filters) -> list[UUID] | None:
    """The events that `text` means, the newest of them; None where it is no such text."""
    events = Event.objects.filter(business__in=app.installations.values("business"))
    if filters.event:
        events = events.filter(type=filters.event)
    found = _named(app, events, filters.text) if filters.text else None
    return None if found is None else list(found.order_by("-id").values_list("pk", flat=True)[:MOST_NAMED])


def _named(app: App, events: QuerySet[Event], text: str) -> QuerySet[Event] | None:
    """Those of the events that a text means; None where it is the id of one of the app's webhooks or installations.

    It may be the id of a delivery, of the event itself, or of anything that its data tells; else an order's number.
    """
    wanted = parse_id(text.lower())
    if wanted is None:
        return _telling(events, f'"orderNumber":"{text}"')
    if webhooks_of(app).filter(Q(pk=wanted) | Q(installation=wanted)).exists():
        return None
    itself = events.filter(Q(pk=wanted) | Q(pk__in=Delivery.objects.filter(pk=wanted).values("event")))
    return itself if itself.exists() else _telling(events, f'"{wanted}"')


def _telling(events: QuerySet[Event], part: str) -> QuerySet[Event]:
    """Those whose data holds this text. PostgreSQL searches for it in less than half the time of LIKE."""
    return events.alias(at=StrIndex("data", Value(part))).filter(at__gt=0)


def _plain(
    matching: QuerySet[Delivery],
    event_type: str,
    places: Sequence[Place],
    events: Sequence[UUID] | None,
    upwards: bool,
    limit: int,
) -> list[UUID]:
    """Of named events; and of everything where the database has no lateral joins."""
    rows = matching.filter(webhook__in=[webhook_id for webhook_id, _ in places])
    if event_type:
        rows = rows.filter(event__type=event_type)
    if events is not None:
        rows = rows.filter(event__in=events)
    return list(rows.order_by("id" if upwards else "-id").values_list("pk", flat=True)[:limit])


def _nearest(
    places: Sequence[Place], matching: QuerySet[Delivery], order: str, upwards: bool, limit: int
) -> list[UUID]:
    """The first `limit` ids over all these webhooks.

    PostgreSQL is told to take the first of each webhook from an index, and to merge those. Left to itself it may
    read all that the webhooks ever had, or all that happened since at other apps. `order` says which index: that
    of the webhook's deliveries, or by `event_id` that of the business's events of one type. An event is as old
    as its deliveries but for those written in the same millisecond, for which a few more are taken.
    """
    sign = "" if upwards else "-"
    each = matching.filter(webhook=RawSQL("one.id", [])).order_by(f"{sign}{order}").values("pk")
    inner, params = each[: limit + AT_ONCE].query.sql_with_params()
    sql = _NEAREST_OF_EACH.format(inner=inner, direction="ASC" if upwards else "DESC")
    webhook_ids, business_ids = [webhook for webhook, _ in places], [business for _, business in places]
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
    """Newest first, with what a line of the list shows; secrets and data stay where they are."""
    rows = Delivery.objects.filter(pk__in=ids).select_related("event", "webhook__installation__business")
    unread = rows.defer("event__data", "webhook__secret", "webhook__installation__webhook_secret")
    return list(unread.order_by("-id"))


def _attach_last_attempts(deliveries: Iterable[Delivery]) -> None:
    by_id: dict[UUID, Any] = {delivery.pk: delivery for delivery in deliveries}
    last = Attempt.objects.filter(delivery__in=by_id, number=F("delivery__attempt_count"))
    for delivery in by_id.values():
        delivery.last_attempt = None
    for attempt in last.defer("response_excerpt"):
        by_id[attempt.delivery_id].last_attempt = attempt
