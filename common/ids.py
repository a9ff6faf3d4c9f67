"""Identifiers: opaque to API users, and ordered by time so that indexes stay compact."""

from datetime import datetime
from uuid import UUID

from uuid_utils.compat import uuid7


def new_id() -> UUID:
    """A new version 7 UUID (RFC 9562, section 5.7)."""
    return uuid7()


def id_at(moment: datetime) -> UUID:
    """An id as it would have been created at `moment`, for sample rows and for finding rows by age."""
    return uuid7(nanoseconds=int(moment.timestamp() * 1000) * 1_000_000)


def parse_id(text: object) -> UUID | None:
    """The id in `text`, or None if it is malformed, which callers report as "not found".

    Ids are opaque to API users, so only the spelling that the service itself writes is accepted.
    """
    spelling = str(text)
    try:
        parsed = UUID(spelling)
    except ValueError:
        return None
    return parsed if str(parsed) == spelling else None
