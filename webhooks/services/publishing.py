"""Writing events, and a delivery for each webhook that gets them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, F, UUIDField, When
from django.utils import timezone

from common.db.compiled import Compiled, Param
from common.db.inserts import insert, insertion
from common.db.prepared import BoundStatement, rows_of_each
from common.ids import sql_id_from
from installations.models import Installation
from webhooks import catalogue
from webhooks.enums import DeliveryStatus, HeldReason
from webhooks.feed import Horizon, Position
from webhooks.filters.judging import passed
from webhooks.models import Delivery, Event, Webhook
from webhooks.queries import entitled_to, naming

# What becomes a delivery, and the filter that decides it.
_COPIED: Final = "webhook uuid, app uuid, endpoint bigint, is_active bool, is_held bool, filter text"
# Filters that are judged before the statement that copies the deliveries: for so many stores and events, and so many characters for
# each. That is at most 8 MiB in a process.
MET_AT: Final = 128
MOST_MET: Final = 65_536
# Between two filters in a parameter: as JSON texts they have no such character.
_BETWEEN: Final = "\x1f"


# Without a savepoint: if the event can't be written, the change that caused it must roll back too.
@transaction.atomic(savepoint=False)
def publish(
    *, business_id: UUID, event_type: str, data: dict[str, Any], now: datetime | None = None
) -> Event | None:
    """Write an event for the feed, and its deliveries, to be sent once the transaction around has committed.

    Returns the event, or None where no installed app may learn of it: nothing is written then, unless `RECORD_ALL_EVENTS` is set. `data` is made text here,
    once, and sent so to all. On PostgreSQL two round trips at most, however many apps and webhooks there are; one more if an
    app that may learn of it is paused, and one if the event passes a filter that this process hasn't met there before.
    """
    learning = _learning(event_type).first(of=business_id)
    if learning is None and not settings.RECORD_ALL_EVENTS:
        return None
    _, paused_at = learning or (None, None)
    event = Event(business_id=business_id, type=event_type)
    listeners = _Listeners(event_type, "business", business_id)
    _write(event, data, listeners, now or timezone.now(), any_paused=paused_at is not None)
    return event


@transaction.atomic(savepoint=False)
def publish_to(
    *, installation: Installation, event_type: str, data: dict[str, Any], now: datetime | None = None
) -> tuple[Event, int]:
    """Write an event that one installation alone sees. Returns it and the number of its deliveries.

    The rules are those of every event: a webhook named it, is switched on, its filter lets it pass, and its app holds the scope.
    Without such a webhook the event is written all the same.
    """
    event = Event(business=installation.business, type=event_type, installation=installation)
    listeners = _Listeners(event_type, "pk", installation.pk)
    any_paused = installation.paused_at is not None
    _write(event, data, listeners, now or timezone.now(), any_paused=any_paused)
    return event, Delivery.objects.filter(event=event).count()


class _Listener(NamedTuple):
    """A webhook that gets an event."""

    webhook_id: UUID
    app_id: UUID
    endpoint: int
    is_active: bool
    installation_id: UUID
    filter_text: str | None


@dataclass(frozen=True, slots=True)
class _Listeners:
    """The receivers of an event: of the installations of which `column` is the value `of`."""

    event_type: str
    column: str
    of: UUID

    def paused(self) -> list[UUID]:
        """Those that are paused, locked until the end of the transaction: a resume waits, and finds what is held for them.

        Other events don't wait. So a checkout that counts its order first and an edit that counts its product last can't
        block each other here.
        """
        return [pk for (pk,) in _paused(self.column).rows(shared=True, of=self.of)]

    def webhooks(self) -> Compiled[Any]:
        """To be read with `of`. The columns are those of a `_Listener`."""
        return _webhooks(self.event_type, self.column)


def _write(
    event: Event, data: dict[str, Any], listeners: _Listeners, now: datetime, *, any_paused: bool
) -> None:
    is_held = any_paused and event.type not in catalogue.THROUGH_A_PAUSE
    paused = listeners.paused() if is_held else []
    event.data, event.occurred_at = orjson.dumps(data).decode(), now
    event.position, event.horizon = Position(), Horizon()
    if connection.vendor == "postgresql":
        _insert_with_deliveries(event, listeners, paused, now)
        return
    insert(event)
    rows = [_Listener(*row) for row in listeners.webhooks().rows(of=listeners.of)]
    passing = _passing(event, {each.filter_text for each in rows if each.filter_text is not None})
    wanted = [each for each in rows if each.filter_text is None or each.filter_text in passing]
    Delivery.objects.bulk_create(_delivery(event, each, paused, now) for each in wanted)


def _insert_with_deliveries(
    event: Event, listeners: _Listeners, paused: Sequence[UUID], now: datetime
) -> None:
    """The deliveries in one statement: with a thousand webhooks, reading and writing them in Python takes twice as long.

    The filters that an earlier event has met are judged before it, and the statement compares the webhooks' filters with these. It
    returns the webhooks that have another one. A second statement writes for those that the event passes, as the first has read them.
    """
    met = met_filters(listeners)
    found, of_found = listeners.webhooks().sql(of=listeners.of)
    passes, of_passes = _comparison(event, list(met))
    copy, of_copy = _insertion(event, now, "listener WHERE filter IS NULL OR passes")
    met_again = "(SELECT json_agg(filter)::text FROM listener WHERE passes IS NOT NULL)" if met else "'[]'"
    statement = f"""
        WITH listener AS MATERIALIZED (
            SELECT *, NOT is_active OR installation = ANY(%s::uuid[]) AS is_held, {passes} AS passes
            FROM ({found}) AS found (webhook, app, endpoint, is_active, installation, filter)
        ), copied AS ({copy})
        SELECT {met_again}, json_agg(listener)::text FROM listener WHERE filter IS NOT NULL AND passes IS NULL
    """  # noqa: S608
    inserted = insertion([event])
    copied = BoundStatement(statement, [list(paused), *of_passes, *of_found, *of_copy])
    returned, ((kept, others),) = rows_of_each(inserted.statement, copied)
    inserted.settle(returned)
    if others is None:
        return
    with connection.cursor() as cursor:
        filters = {each["filter"] for each in orjson.loads(others)}
        _remember(met, {*filters, *orjson.loads(kept or "[]")})
        if passing := _passing(event, filters):
            source = f"json_to_recordset(%s) AS listener ({_COPIED}) WHERE filter = ANY(%s)"
            copy, of_copy = _insertion(event, now, source)
            cursor.execute(copy, [*of_copy, others, list(passing)])


def _comparison(event: Event, filters: Collection[str]) -> tuple[str, list[str]]:
    """In SQL, whether the event passes a webhook's filter, which is NULL if that is none of these; with its parameters."""
    if not filters:
        return "NULL::boolean", []
    passing = _passing(event, filters)
    among = f"filter = ANY(string_to_array(%s, E'\\x{ord(_BETWEEN):x}'))"
    stopping = [each for each in filters if each not in passing]
    case = f"CASE WHEN {among} THEN true WHEN {among} THEN false END"
    return case, [_BETWEEN.join(passing), _BETWEEN.join(stopping)]


def _passing(event: Event, filters: Collection[str]) -> set[str]:
    """Those of these filters that the event passes, by its data as it is sent."""
    return passed(filters, event.type, orjson.loads(event.data)) if filters else set()


@lru_cache(maxsize=MET_AT)
def met_filters(listeners: _Listeners) -> list[str]:
    """The filters of these webhooks when this process last met one that it didn't know. Some may be gone since.

    That decides nothing: what an event does to a webhook follows from the filter that its row has then.
    """
    return []


def _remember(met: list[str], filters: Collection[str]) -> None:
    total = accumulate(map(len, filters))
    met[:] = [text for text, length in zip(filters, total, strict=True) if length <= MOST_MET]


def _insertion(event: Event, now: datetime, source: str) -> tuple[str, list[Any]]:
    """A delivery for each row of `source`, which has the columns `_COPIED`. Parameters of `source` come last."""
    id_, of_id = sql_id_from(event.id, "webhook")
    statement = f"""
        INSERT INTO webhooks_delivery
            (id, event_id, event_type, webhook_id, app_id, business_id, endpoint, status, held_reason, due_at,
            attempts_made, attempt_count, fence, created_at)
        SELECT {id_}, %s, %s, webhook, app, %s, endpoint,
            CASE WHEN is_held THEN 'HELD' ELSE 'PENDING' END,
            CASE WHEN is_active AND is_held THEN '{HeldReason.PAUSED}' ELSE '{HeldReason.DISABLED}' END,
            CASE WHEN NOT is_held THEN %s END, 0, 0, 0, %s
        FROM {source}
    """  # noqa: S608
    return statement, [*of_id, event.id, event.type, event.business_id, now, now]


def _delivery(event: Event, listener: _Listener, paused: Collection[UUID], now: datetime) -> Delivery:
    is_held = not listener.is_active or listener.installation_id in paused
    return Delivery(
        event=event,
        webhook_id=listener.webhook_id,
        app_id=listener.app_id,
        business_id=event.business_id,
        event_type=event.type,
        endpoint=listener.endpoint,
        status=DeliveryStatus.HELD if is_held else DeliveryStatus.PENDING,
        held_reason=HeldReason.PAUSED if is_held and listener.is_active else HeldReason.DISABLED,
        due_at=None if is_held else now,
        created_at=now,
    )


@cache
def _learning(event_type: str) -> Compiled[Any]:
    """The installations of a business whose app may learn of the event, with `paused_at`, paused ones first."""
    of = Installation.objects.filter(business=Param("of", UUIDField()))
    paused_first = F("paused_at").asc(nulls_last=True)
    return Compiled(lambda: entitled_to(event_type, of).order_by(paused_first).values_list("pk", "paused_at"))


@cache
def _paused(column: str) -> Compiled[Any]:
    rows = Installation.objects.active().filter(**{column: Param("of", UUIDField())}, paused_at__isnull=False)
    return Compiled(lambda: rows.order_by("pk").values_list("pk"))


@cache
def _webhooks(event_type: str, column: str) -> Compiled[Any]:
    """Their webhooks that get the event and are not switched off by the app."""
    of = Installation.objects.filter(**{column: Param("of", UUIDField())})
    rows = Webhook.objects.kept().receiving().filter(installation__in=entitled_to(event_type, of))
    columns = ("id", "installation__app_id", "endpoint", "is_active", "installation_id", "filter_in_force")
    in_force = Case(When(is_app_defined=True, then="installation__app__webhook_filter"), default="filter")
    named = naming(event_type, rows).annotate(filter_in_force=in_force)
    return Compiled(lambda: named.order_by().values_list(*columns))
