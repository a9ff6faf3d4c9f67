"""Identifiers: opaque to API users, and ordered by time so that indexes stay compact."""

from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Final
from uuid import UUID

from uuid_utils.compat import uuid7

_TIME: Final = ((1 << 48) - 1) << 80
_VERSION_AND_VARIANT: Final = 7 << 76 | 2 << 62
_REST: Final = ((1 << 12) - 1) << 64 | ((1 << 62) - 1)


def new_id() -> UUID:
    """A new version 7 UUID (RFC 9562, section 5.7)."""
    return uuid7()


def id_at(moment: datetime) -> UUID:
    """An id as it would have been created at `moment`, for sample rows and for finding rows by age."""
    return uuid7(nanoseconds=int(moment.timestamp() * 1000) * 1_000_000)


def id_from(first: UUID, second: UUID) -> UUID:
    """The id of what belongs to two others, always the same for the same two. It has the time of the first."""
    digest = int.from_bytes(blake2b(first.bytes + second.bytes, digest_size=10).digest())
    return UUID(int=first.int & _TIME | _VERSION_AND_VARIANT | digest & _REST)


def first_id_at(moment: datetime) -> UUID:
    """A bound for ids: none of this moment or later is less, none of an earlier millisecond is greater."""
    return UUID(int=int(moment.timestamp() * 1000) << 80)


def moment_of(id_: UUID) -> datetime:
    """When an id was created, to the millisecond."""
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=id_.int >> 80)


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
