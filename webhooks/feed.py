"""The feed: an installation's events, in an order to which nothing is ever added in front (contract, section 5).

Neither ids nor times give that order, since both are made before the commit: a long transaction commits events that are
older than some that a reader has seen. So an event keeps two numbers:

1. `position`: the transaction that wrote it.
2. `horizon`: the oldest transaction that was still running then.

A page ends before the oldest transaction that is running now, in any database of the server. All earlier ones are over, so their
events are all there. A long transaction delays the feed and loses nothing.

A `Cursor` names a place between two events. Apps get it sealed, since the numbers of transactions tell how much the platform
writes. `settings.FEED_EPOCH` is raised after a restore, since transactions are then
numbered from an earlier one again: cursors of an earlier epoch are too old.
"""

import base64
import re
import struct
from binascii import b2a_base64
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final, NamedTuple
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from django.conf import settings
from django.db import connection
from django.db.models import BigIntegerField, DateTimeField, Func, Q, QuerySet, UUIDField
from django.utils.crypto import salted_hmac

from common.db.compiled import Compiled, Param
from common.db.fields import IsoText
from common.errors import Gone, Invalid
from installations.models import Installation
from webhooks import catalogue
from webhooks.models import Event
from webhooks.services.retention import KEPT

MADE_UP: Final = "This is not a cursor of the feed. Leave `after` out to read from the installation on."
_BEFORE_ALL: Final = UUID(int=0)
_PLACE: Final = struct.Struct(">IQQ16s")  # epoch, position, milliseconds, event
_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_OF_VERSION_0_1: Final = re.compile(rb"\d+\.\d+\.\d+\..{16}", re.DOTALL)  # which sealed none


class FeedEvent(NamedTuple):
    """The columns of `Event` that the feed shows, its time as the text of the API."""

    id: UUID
    type: str
    data: str
    timestamp: str
    position: int

    @property
    def place(self) -> tuple[int, UUID, datetime]:
        """That of its cursor."""
        return self.position, self.id, datetime.fromisoformat(self.timestamp)


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in the feed: behind the event `event_id` of `position`, or before all events of that position.

    `made_at` is the time of that event, or when the cursor was made. It says whether events behind it may be gone.
    """

    position: int
    event_id: UUID
    made_at: datetime

    @classmethod
    def behind(cls, event: FeedEvent) -> "Cursor":
        return cls(*event.place)

    @classmethod
    def before(cls, position: int, now: datetime) -> "Cursor":
        return cls(position, _BEFORE_ALL, now)

    @property
    def place(self) -> tuple[int, UUID]:
        return self.position, self.event_id

    def __str__(self) -> str:
        return cursor_texts([(self.position, self.event_id, self.made_at)])[0]


def cursor_texts(places: Iterable[tuple[int, UUID, datetime]]) -> list[str]:
    """Of positions, events and times. A page seals all of its cursors at once, which takes half as long."""
    seal = _seals((settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))[0].encrypt
    epoch, pack = settings.FEED_EPOCH, _PLACE.pack
    sealed = (
        seal(pack(epoch, position, _milliseconds(made_at), event_id.bytes), None)
        for position, event_id, made_at in places
    )
    return [b2a_base64(each, newline=False).translate(_URL_SAFE, b"=").decode() for each in sealed]


def _milliseconds(moment: datetime) -> int:
    """Since 1970, cut as the API cuts times: a product with a fraction of seconds may be one less."""
    return int(moment.timestamp()) * 1000 + moment.microsecond // 1000


@lru_cache(maxsize=2)
def _seals(keys: tuple[str, ...]) -> list[AESSIV]:
    """The first seals, all open. An earlier `SECRET_KEY` is kept for as long as cursors count (docs/operations-run.md)."""
    return [
        AESSIV(salted_hmac("webhooks.feed", "cursor", secret=key, algorithm="sha256").digest())
        for key in keys
    ]


@dataclass(frozen=True, slots=True)
class FeedPage:
    """`next` is where to go on, behind an empty page too."""

    events: Sequence[FeedEvent]
    next: Cursor
    has_more: bool

    def cursors(self) -> list[str]:
        """Of each event."""
        return cursor_texts(event.place for event in self.events)


def read_feed(
    *, installation: Installation, after: str | None, types: Collection[str] | None, limit: int, now: datetime
) -> FeedPage:
    """The events behind a cursor that the installation's scopes allow now, oldest first.

    `types` narrows them. The horizon is read before the rows, so that no event of an earlier transaction can be missing among
    them. Raises `Invalid` for a cursor that the feed never gave, and `Gone`, with the oldest cursor
    in its message, for one behind which events have been removed.
    """
    horizon = current_horizon()
    start = _start(installation, after, horizon, now)
    wanted = tuple(name for name in _visible(installation) if types is None or name in types)
    events = _read(start, horizon, installation, wanted, limit + 1, now)
    if len(events) > limit:
        return FeedPage(events[:limit], Cursor.behind(events[limit - 1]), has_more=True)
    end = max(start.place, (_behind_newest(installation, horizon), _BEFORE_ALL))
    return FeedPage(events, Cursor(*end, now), has_more=False)


def _behind_newest(installation: Installation, horizon: int) -> int:
    """The position behind the store's newest event that is complete; 0 without any.

    The horizon itself may be given out twice: after a crash PostgreSQL reuses the numbers of transactions of which nothing was on disk.
    """
    of_store = _NEWEST.rows(limit=1, business=installation.business_id, horizon=horizon)
    return next((position + 1 for (position,) in of_store), 0)


def _visible(installation: Installation) -> list[str]:
    """Without the data erasure, which concerns an installation that has ended and reads nothing any more."""
    return [
        name for name in catalogue.allowed_by(installation.effective_scopes) if name != catalogue.DATA_ERASURE
    ]


def _read(
    start: Cursor, horizon: int, installation: Installation, types: tuple[str, ...], limit: int, now: datetime
) -> list[FeedEvent]:
    if not types:
        return []
    rows = _behind(types).rows(
        limit=limit,
        position=start.position,
        event=start.event_id,
        horizon=horizon,
        # Older rows may still be there, but their cursors are too old.
        since=max(installation.installed_at, now - KEPT),
        business=installation.business_id,
        installation=installation.pk,
    )
    return list(map(FeedEvent._make, rows))


@lru_cache(maxsize=200)
def _behind(types: tuple[str, ...]) -> Compiled[tuple[Any, ...]]:
    def query() -> QuerySet[Event, tuple[Any, ...]]:
        position, event = Param("position", BigIntegerField()), Param("event", UUIDField())
        installation = Param("installation", UUIDField())
        return (
            Event.objects.filter(
                Q(position__gt=position) | Q(position=position, id__gt=event),
                Q(installation=None) | Q(installation=installation),
                business=Param("business", UUIDField()),
                type__in=types,
                position__gte=position,
                position__lt=Param("horizon", BigIntegerField()),
                occurred_at__gte=Param("since", DateTimeField()),
            )
            .order_by("position", "id")
            .values_list("id", "type", "data", IsoText("occurred_at"), "position")
        )

    return Compiled(query)


_NEWEST: Final[Compiled[tuple[int]]] = Compiled(
    lambda: (
        Event.objects.filter(
            business=Param("business", UUIDField()), position__lt=Param("horizon", BigIntegerField())
        )
        .order_by("-position")
        .values_list("position")
    )
)


def _start(installation: Installation, after: str | None, horizon: int, now: datetime) -> Cursor:
    if after is None:
        return Cursor.before(0, now)
    epoch, cursor = _parse(after)
    if epoch < settings.FEED_EPOCH or cursor.made_at < now - KEPT:
        oldest = _oldest(installation, horizon, now)
        raise Gone(
            f"Events right after this cursor are no longer kept. The oldest cursor is {oldest}",
            code="cursor_too_old",
        )
    if epoch > settings.FEED_EPOCH or cursor.position > horizon:
        raise Invalid.field("after", MADE_UP)
    return cursor


def _oldest(installation: Installation, horizon: int, now: datetime) -> Cursor:
    """Before the first event that is kept. Good for an hour, in which no more events behind it are removed."""
    kept = Event.objects.filter(business=installation.business_id, occurred_at__gte=now - KEPT)
    first = kept.order_by("position", "id").values_list("position", flat=True).first()
    return Cursor.before(horizon if first is None else first, now - KEPT + timedelta(hours=1))


def _parse(text: str) -> tuple[int, Cursor]:
    """The epoch, and the cursor. Raises `Invalid` for any text that the feed can't have given."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        epoch, position, milliseconds, event = _PLACE.unpack(_opened(raw))
        return epoch, Cursor(position, UUID(bytes=event), datetime.fromtimestamp(milliseconds / 1000, UTC))
    except InvalidTag as error:
        if _OF_VERSION_0_1.fullmatch(raw):
            return -1, Cursor.before(0, datetime.fromtimestamp(0, UTC))  # too old in every epoch
        raise Invalid.field("after", MADE_UP) from error
    except ValueError as error:
        raise Invalid.field("after", MADE_UP) from error


def _opened(sealed: bytes) -> bytes:
    """Raises `InvalidTag` for what none of the keys has sealed."""
    for seal in _seals((settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)):
        try:
            return seal.decrypt(sealed, None)
        except InvalidTag:
            continue
    raise InvalidTag


# --- The numbers that order the feed -----------------------------------------------------------------

# PostgreSQL: 64-bit transaction ids, which never repeat within a cluster. SQLite has one writer at a time, so a counter
# does; what it wrote is committed before the next writer counts on.

_AFTER_THE_LAST: Final = "(SELECT COALESCE(MAX(position), 0) + 1 FROM webhooks_event)"


class Position(Func):
    """The transaction that inserts the event."""

    template = "pg_current_xact_id()::text::bigint"
    arity = 0
    output_field = BigIntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, tuple[()]]:
        return _AFTER_THE_LAST, ()


class Horizon(Position):
    """The oldest transaction that is still running, or the next one: the first position that can still get events."""

    template = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"


def current_horizon() -> int:
    """The horizon now."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_AFTER_THE_LAST if connection.vendor == 'sqlite' else Horizon.template}")
        return int(cursor.fetchone()[0])
