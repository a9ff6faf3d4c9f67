"""Keeps slow calls out of database transactions."""

from django.db import connection


def forbid_transaction() -> None:
    """Raise RuntimeError inside an open transaction. Call it before waiting for another server.

    Otherwise rows would stay locked for as long as that server takes. The transaction that Django's `TestCase` wraps
    around a test doesn't count, as with `atomic(durable=True)`.
    """
    blocks = connection.atomic_blocks
    if blocks and not blocks[-1]._from_testcase:  # type: ignore[attr-defined]  # noqa: SLF001
        raise RuntimeError("This waits for another server and must not run inside a transaction.")
