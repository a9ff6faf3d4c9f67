"""Which errors mean that the database can't be reached, or can't be written to for the moment."""

from typing import Final

from django.db import InterfaceError, OperationalError

# PostgreSQL's codes for a write to a standby, as in the moments of a failover, and for a transaction that was ended because
# its process paused.
PASSING: Final = ("25006", "25P03")
# A lock that another session holds for longer than `lock_timeout`, and a circle of such locks that the server broke.
LOCK_TIMEOUT: Final = "55P03"
LOCKED: Final = (LOCK_TIMEOUT, "40P01")
CANCELED: Final = "57014"  # by `statement_timeout`
# What Django calls operational, but which only this statement met: also a serialization failure.
OF_ONE_STATEMENT: Final = ("40001", *LOCKED, CANCELED)


def sqlstate_of(error: BaseException | None) -> str:
    """PostgreSQL's code for the error, or for the one that caused it. Empty if there is none."""
    while error is not None:
        if code := getattr(error, "sqlstate", None):
            return str(code)
        error = error.__cause__ or error.__context__
    return ""


def is_outage(error: BaseException | None) -> bool:
    """Whether the error, or one that caused it, is transient (connection, failover), so that a retry may succeed."""
    while error is not None:
        if isinstance(error, OperationalError | InterfaceError) or getattr(error, "sqlstate", "") in PASSING:
            return True
        error = error.__cause__ or error.__context__
    return False


def is_of_one_statement(error: BaseException | None) -> bool:
    """Whether the database goes on and only refused what was asked."""
    return sqlstate_of(error) in OF_ONE_STATEMENT
