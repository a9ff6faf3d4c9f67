"""Which errors mean that the database can't be reached, or can't be written to for the moment."""

from typing import Final

from django.db import InterfaceError, OperationalError

# PostgreSQL's codes for a write to a standby, as in the moments of a failover, and for a transaction that was ended because
# its process paused.
PASSING: Final = ("25006", "25P03")


def is_outage(error: BaseException | None) -> bool:
    """Whether the error, or one that caused it, is transient (connection, failover), so that a retry may succeed."""
    while error is not None:
        if isinstance(error, OperationalError | InterfaceError) or getattr(error, "sqlstate", "") in PASSING:
            return True
        error = error.__cause__ or error.__context__
    return False
