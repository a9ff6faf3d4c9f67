"""Queries for an app's deliveries: filtered, newest first, without counting all of them.

Pages start at an id, and ids are ordered by time. So the list doesn't shift under the reader while new deliveries
arrive, and a late page costs as much as the first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet, Value
from django.db.models.functions import StrIndex

from common.db.finders import get_or_not_found
from common.ids import first_id_at, parse_id
from common.times import shifted
from installations.models import with_versions
from marketplace.models import App
from webhooks import catalogue
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, Webhook
from webhooks.queries import attach_last_attempts
from webhooks.services.deliveries import GIVEN_UP

PAGE: Final = 50
MAX_COUNTED: Final = 1000  # counting stops here
ABOUT: Final = timedelta(minutes=1)  # that the time of an id may differ from `created_at`
MAX_ATTEMPTS_SHOWN: Final = 200
SEARCHED: Final = 50_000  # deliveries in whose events a text is looked for: 2 µs each
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
class DeliveryPage:
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
    newest = lean.order_by("-id")
    # One after the other, since each stops after a few rows of an index. Both at once would sort all.
    found = list(newest.filter(deleted_at=None)[:most])
    found += newest.filter(deleted_at__isnull=False)[: most - len(found)]
    missing = [wanted for wanted in map(parse_id, named) if wanted and not _holds(found, wanted)]
    if missing:
        found[:0] = lean.filter(Q(pk__in=missing) | Q(installation__in=missing))[:most]
    return found


def _holds(webhooks: Iterable[Webhook], wanted: UUID) -> bool:
    return any(wanted in (each.pk, each.installation_id) for each in webhooks)


def own_delivery(app: App, delivery_id: object) -> Delivery:
    """A delivery with its event, webhook, installation and scopes. Raises `NotFound`, also for another app's."""
    rows = Delivery.objects.filter(app_id=app.pk).select_related(*_AROUND)
    return get_or_not_found(
        rows.defer("webhook__installation__webhook_secret"), delivery_id, "Delivery not found"
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
    deliveries = _rows(ids)
    attach_last_attempts(deliveries)
    if after is not None:
        return DeliveryPage(deliveries, has_newer=more, has_older=True)
    return DeliveryPage(deliveries, has_newer=before is not None, has_older=more)


def count(app: App, filters: DeliverySearch, *, after: UUID | None = None, most: int = MAX_COUNTED) -> int:
    """The number of deliveries, at most `most`."""
    return len(_ids(app, filters, after=after, limit=most))


def failing(app: App, *, since: datetime, most: int) -> list[Delivery]:
    """Deliveries created since then that are being retried or have failed, at most `most` of each, newest first.

    Each has `last_attempt`. Tests are left out, and so is what can't be resent now.
    """
    ids = [
        found
        for status in (DeliveryStatus.RETRYING, DeliveryStatus.EXHAUSTED)
        for found in _ids(app, DeliverySearch(status=status, since=since), limit=most)
    ]
    if not ids:
        return []
    sendable = [each for each in _rows(ids) if _is_sendable(each)]
    attach_last_attempts(sendable)
    return [each for each in sendable if each.last_attempt]  # type: ignore[attr-defined]


def _is_sendable(delivery: Delivery) -> bool:
    webhook = delivery.webhook
    is_on = webhook.is_active and webhook.deleted_at is None and webhook.installation.paused_at is None
    return is_on and delivery.event.type != catalogue.WEBHOOK_TEST


def last_that_worked(delivery: Delivery) -> Delivery | None:
    """The newest delivery to the same webhook that was answered 2xx; one of the same event type if there is a recent one."""
    worked = Delivery.objects.filter(webhook=delivery.webhook_id, status=DeliveryStatus.SUCCEEDED)
    rows = worked.exclude(pk=delivery.pk).exclude(event_type=catalogue.WEBHOOK_TEST).order_by("-finished_at")
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
    # Not joined: starting from 100,000 webhooks would cost more than the deliveries.
    failed = _to_recover(since).filter(app_id=app.pk).order_by().values_list("webhook", flat=True).distinct()
    return list(rows.filter(pk__in=list(failed)).order_by("-id")[:most])


def count_to_recover(webhook: Webhook, since: datetime) -> int:
    """The number of failed and held deliveries, at most `MAX_COUNTED`."""
    return len(_to_recover(since).filter(webhook=webhook).values_list("pk")[:MAX_COUNTED])


def _to_recover(since: datetime) -> QuerySet[Delivery]:
    kept = _created(Delivery.objects.filter(status__in=GIVEN_UP), since, None)
    return kept.exclude(event_type=catalogue.WEBHOOK_TEST)


def _created(rows: QuerySet[Delivery], since: datetime | None, until: datetime | None) -> QuerySet[Delivery]:
    """Those created from `since` to before `until`. Their ids say nearly as much, by which an index finds them."""
    if since:
        rows = rows.filter(created_at__gte=since, id__gte=first_id_at(shifted(since, -ABOUT)))
    return rows.filter(created_at__lt=until, id__lt=first_id_at(shifted(until, ABOUT))) if until else rows


def oldest_time(app: App) -> datetime | None:
    """When the oldest kept delivery was created."""
    first = Delivery.objects.filter(app_id=app.pk).order_by("id").values_list("created_at", flat=True)
    return first[:1].first()


def attempts_of(delivery: Delivery) -> list[Attempt]:
    """The newest attempts, ordered oldest first."""
    return list(delivery.attempts.order_by("-number")[:MAX_ATTEMPTS_SHOWN])[::-1]


# The search


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

    One webhook's deliveries come from its index, all others from the app's, which is in the order of ids too.
    """
    rows = _matching(app, filters)
    if before is not None:
        rows = rows.filter(id__lt=before)
    if after is not None:
        rows = rows.filter(id__gt=after)
    if newest is not None:
        rows = rows.filter(id__lte=newest)
    ordered = rows.order_by("-id" if after is None else "id")
    return list(ordered.values_list("pk", flat=True)[:limit])


def _matching(app: App, filters: DeliverySearch) -> QuerySet[Delivery]:
    rows = _created(Delivery.objects.filter(app_id=app.pk), filters.since, filters.until)
    if filters.status:
        rows = rows.filter(status=filters.status)
    if filters.event:
        rows = rows.filter(event_type=filters.event)
    if filters.webhook:
        rows = rows.filter(webhook=filters.webhook)
    if filters.installation:
        rows = rows.filter(webhook__in=_ids_of(webhooks_of(app).filter(installation=filters.installation)))
    return _named(app, rows, filters.text) if filters.text else rows


def _ids_of(webhooks: QuerySet[Webhook]) -> list[UUID]:
    return list(webhooks.values_list("pk", flat=True))


def _named(app: App, rows: QuerySet[Delivery], text: str) -> QuerySet[Delivery]:
    """Those that match a text: the id of a webhook, an installation, a delivery, an event or of anything in its data.

    Anything else is an order number.
    """
    wanted = parse_id(text.lower())
    if wanted is None:
        return _containing(rows, f'"orderNumber":"{text}"')
    if webhooks := _ids_of(webhooks_of(app).filter(Q(pk=wanted) | Q(installation=wanted))):
        return rows.filter(webhook__in=webhooks)
    own = Delivery.objects.filter(app_id=app.pk)
    if delivery := own.filter(pk=wanted).first():
        return rows.filter(event=delivery.event_id)
    if own.filter(event=wanted).exists():
        return rows.filter(event=wanted)
    return _containing(rows, f'"{wanted}"')


def _containing(rows: QuerySet[Delivery], part: str) -> QuerySet[Delivery]:
    """Those among the newest whose event's data contains this text. On PostgreSQL, this takes less than half the time of
    LIKE."""
    for last in rows.order_by("-id").values_list("pk", flat=True)[SEARCHED : SEARCHED + 1]:
        rows = rows.filter(id__gt=last)
    return rows.alias(at=StrIndex("event__data", Value(part))).filter(at__gt=0)


_AROUND: Final = (
    "event",
    *with_versions("webhook__installation__"),
    "webhook__installation__business",
)


def _rows(ids: Sequence[UUID]) -> list[Delivery]:
    """Rows for the list, newest first, without secrets and event data."""
    rows = Delivery.objects.filter(pk__in=ids).select_related("event", "webhook__installation__business")
    lean = rows.defer("event__data", "webhook__secret", "webhook__installation__webhook_secret")
    return list(lean.order_by("-id"))
