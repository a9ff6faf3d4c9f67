"""Keeps slow calls out of database transactions, and reads several things of one moment."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


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


@contextmanager
def one_moment() -> Iterator[None]:
    """Reads of a page that see the same state. On SQLite, where a transaction locks out all writers, and in a transaction that is
    open, each sees what is there at its own time.
    """
    if connection.vendor != "postgresql" or connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        read_one_moment()
        yield


def is_open() -> bool:
    """Whether a transaction is open here, but for the one that a test case has around it."""
    blocks = connection.atomic_blocks
    return bool(blocks) and not blocks[-1]._from_testcase  # type: ignore[attr-defined]  # noqa: SLF001
