"""Copies the events of all stores, batch by batch, in the order of the feed (`webhooks.feed`).

1. Choose a batch: all events from the stream's position up to another one. It ends before the oldest transaction that is
   running now, so nothing is added to it later. Its end is committed before anything is written.
2. Write it. A process that dies meanwhile leaves the end behind, and the next one writes exactly the same batch again.
3. Confirm it: the position moves to the end.

So each event is written at least once, and again only with its whole batch. No transaction is open while a batch is written.
"""

import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from django.conf import settings
from django.utils import timezone

from common.errors import Conflict
from common.ids import moment_of
from common.times import iso
from streams.models import Stream
from webhooks.feed import current_horizon
from webhooks.models import Event
from webhooks.services.retention import KEPT, removed_before

log = logging.getLogger(__name__)

CHUNK: Final = 1000
IDLE_NOTED_EVERY: Final = timedelta(minutes=1)
COLUMNS: Final = (
    "id", "type", "occurred_at", "business_id", "business__is_sandbox", "installation_id", "position", "data",
)  # fmt: skip

Write = Callable[[str, Iterator[bytes]], None]


class Written(NamedTuple):
    """The number of events, and whether there was nothing behind them."""

    events: int
    is_last: bool


def write_next(name: str, write: Write, *, limit: int, now: datetime | None = None) -> Written:
    """Write the stream's next batch, if there is an event.

    `write` gets the name of the batch, the same if it is written again, and its lines. A batch has `limit` events, or more where
    the last ones were written by one transaction. Raises what `write` raises, and `Conflict` if another process writes the
    same stream.
    """
    now = now or timezone.now()
    stream = _stream(name, now)
    horizon = current_horizon()
    if stream.until is None:
        end = _choose_end(stream, horizon, limit)
        if end is None:
            _note_idle(stream, horizon, now)
            return Written(0, is_last=True)
        _move(stream, until=end)
    lines = _Lines(stream)
    # A restored database may give positions again that its lost part had given.
    write(f"{settings.FEED_EPOCH}/{stream.position:019}", iter(lines))
    _confirm(stream, lines)
    return Written(lines.count, is_last=stream.position == horizon)


def forget(name: str) -> None:
    """One of the same name begins with the oldest event that is kept."""
    Stream.objects.filter(name=name).delete()


def _stream(name: str, now: datetime) -> Stream:
    begin: dict[str, Any] = {"complete_at": lambda: _oldest(now)}
    stream, is_new = Stream.objects.get_or_create(name=name, defaults=begin)
    if is_new or stream.complete_at >= now - KEPT:
        return stream
    removed = removed_before(now)
    if stream.complete_at < removed:
        lost = f"of before {iso(removed)} are no longer kept, and it had come to {iso(stream.complete_at)}"
        log.error("Stream %s has a gap: events %s.", name, lost)
        _move(stream, gaps=stream.gaps + 1, complete_at=removed)
    return stream


def _oldest(now: datetime) -> datetime:
    """When the oldest event was made that is kept; now if there is none."""
    first = Event.objects.order_by("id").values_list("id", flat=True).first()
    return max(moment_of(first), removed_before(now)) if first else now


def _choose_end(stream: Stream, horizon: int, limit: int) -> int | None:
    """The position before which the next batch ends. None if there is no event."""
    if stream.position > horizon:
        raise Conflict(
            f"Stream {stream.name} is at position {stream.position}, and the database only at {horizon}: it was restored from a "
            "dump, which numbers transactions from the beginning. Run this with --delete, then begin again."
        )
    waiting = Event.objects.filter(position__gte=stream.position, position__lt=horizon)
    positions = waiting.order_by("position").values_list("position", flat=True)
    first = positions.first()
    if first is None:
        return None
    beyond = positions[limit : limit + 1].first()
    return horizon if beyond is None else max(beyond, first + 1)


def _note_idle(stream: Stream, horizon: int, now: datetime) -> None:
    if stream.complete_at < now - IDLE_NOTED_EVERY:
        _move(stream, position=horizon, complete_at=now)


def _confirm(stream: Stream, written: "_Lines") -> None:
    _move(
        stream,
        position=stream.until,
        until=None,
        complete_at=max(stream.complete_at, moment_of(written.newest)),
        events_written=stream.events_written + written.count,
    )


def _move(stream: Stream, **changes: Any) -> None:
    """Raises `Conflict` if another process has moved it."""
    mine = Stream.objects.filter(pk=stream.pk, position=stream.position, until=stream.until)
    if not mine.update(**changes):
        raise Conflict(f"Another process writes stream {stream.name}. Stop one, or give it another name.")
    for field, value in changes.items():
        setattr(stream, field, value)


class _Lines:
    """The lines of the batch, made while they are written. Counts them."""

    def __init__(self, stream: Stream) -> None:
        batch = Event.objects.filter(position__gte=stream.position, position__lt=stream.until)
        self._rows = batch.order_by("position", "id").values_list(*COLUMNS)
        self.count, self.newest = 0, UUID(int=0)

    def __iter__(self) -> Iterator[bytes]:
        for row in self._rows.iterator(chunk_size=CHUNK):
            self.count, self.newest = self.count + 1, max(self.newest, row[0])
            yield line(*row)


def line(
    id_: UUID,
    event_type: str,
    occurred_at: datetime,
    business_id: UUID,
    is_sandbox: bool,
    installation_id: UUID | None,
    position: int,
    data: str,
) -> bytes:
    """One event as a line of JSON. `installationId` is set where only one installation sees the event."""
    event = {
        "id": id_,
        "event": event_type,
        "timestamp": iso(occurred_at),
        "businessId": business_id,
        "isSandbox": is_sandbox,
        "installationId": installation_id,
        "position": position,
        "data": orjson.Fragment(data),
    }
    return orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)


# --- For operators -----------------------------------------------------------------------------------


class StreamProgress(NamedTuple):
    """`lag`: seconds since the oldest event that is still to be written was made; 0 if there is none."""

    name: str
    lag: float
    gaps: int


def progress(now: datetime) -> Iterator[StreamProgress]:
    """Of each stream."""
    for stream in Stream.objects.order_by("name"):
        waiting = Event.objects.filter(position__gte=stream.position).order_by("position")
        oldest = waiting.values_list("id", flat=True).first()
        lag = (now - moment_of(oldest)).total_seconds() if oldest else 0.0
        yield StreamProgress(stream.name, max(0.0, lag), stream.gaps)
