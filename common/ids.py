"""Identifiers: opaque on the wire, ordered by time inside, so that indexes stay compact."""

from datetime import datetime
from uuid import UUID

from uuid_utils.compat import uuid7


def new_id() -> UUID:
    """A fresh version 7 UUID (RFC 9562 section 5.7)."""
    return uuid7()


def id_at(moment: datetime) -> UUID:
    """An id as it would have been made at `moment`, for rows that are written as if long ago."""
    return uuid7(nanoseconds=int(moment.timestamp() * 1000) * 1_000_000)


def parse_id(text: object) -> UUID | None:
    """The id that `text` writes, or None where it is no id at all: to a caller that is "not found".

    An id has one spelling, the one that the service writes: to the world it is opaque text, compared as such.
    """
    spelled = str(text)
    try:
        parsed = UUID(spelled)
    except ValueError:
        return None
    return parsed if str(parsed) == spelled else None
