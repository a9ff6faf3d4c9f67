"""What operators see of streams."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from common.ids import moment_of
from streams.models import Stream
from webhooks.models import Event


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
