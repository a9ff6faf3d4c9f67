"""Keeps slow calls out of database transactions, and reads several things of one moment."""

from collections.abc import Callable
from typing import TypeVar

from django.db import NotSupportedError, connection, transaction

from common.db.prepared import Prepared

Found = TypeVar("Found")


def forbid_transaction() -> None:
    """Raise RuntimeError inside an open transaction. Call it before waiting for another server.

    Otherwise rows would stay locked for as long as that server takes. The transaction that Django's `TestCase` wraps
    around a test doesn't count, as with `atomic(durable=True)`.
    """
    if is_open():
        raise RuntimeError("This waits for another server and must not run inside a transaction.")


def read_one_moment() -> None:
    """Let all reads of the transaction that has just begun see the database as it is now, as SQLite does anyway."""
    if connection.vendor == "postgresql" and not connection.atomic_blocks[0]._from_testcase:  # type: ignore[attr-defined]  # noqa: SLF001
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


def of_one_moment(read: Callable[[], Found]) -> Found:
    """What `read` finds while all that it reads is of the same moment. On SQLite, where a transaction locks out all writers, and in a
    transaction that is open, each part is of its own time. `read` is called again if a migration came between.
    """
    if connection.vendor != "postgresql" or connection.in_atomic_block:
        return read()
    try:
        return _read_once(read)
    except NotSupportedError:  # of a prepared statement
        Prepared.forget_all()
        return _read_once(read)


def _read_once(read: Callable[[], Found]) -> Found:
    with _OneMoment(using=None, savepoint=True, durable=True):
        read_one_moment()
        return read()


class _OneMoment(transaction.Atomic):
    """A transaction that can be repeated."""


def do_not_wait_for_the_disk() -> None:
    """For the transaction that is open: what its commit writes may be lost if the database crashes at that moment."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit TO off")


def is_repeatable() -> bool:
    """Whether the transaction that is open here only reads, and is repeated when a statement fails."""
    return isinstance(connection.atomic_blocks[-1], _OneMoment)


def is_open() -> bool:
    """Whether a transaction is open here, but for the one that a test case has around it."""
    blocks = connection.atomic_blocks
    return bool(blocks) and not blocks[-1]._from_testcase  # type: ignore[attr-defined]  # noqa: SLF001
