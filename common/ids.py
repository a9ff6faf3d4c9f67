"""Identifiers: opaque on the wire, ordered by time inside, so that indexes stay compact."""

from uuid import UUID

from uuid_utils.compat import uuid7


def new_id() -> UUID:
    """A fresh version 7 UUID (RFC 9562 section 5.7)."""
    return uuid7()


def parse_id(text: object) -> UUID | None:
    """The id that `text` writes, or None where it is no id at all: to a caller that is "not found"."""
    try:
        return UUID(str(text))
    except ValueError:
        return None
