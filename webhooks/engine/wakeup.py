"""Wakes the dispatcher of a process that writes to SQLite itself, as the demo does, so that it needn't look so often.

Whatever statement changes deliveries wakes it after its commit. The dispatcher finds the rows of other processes within
`LONGEST_REST`. PostgreSQL's dispatchers have other processes to watch, and go on looking (docs/decisions/0111).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.db import connection
from django.db.backends.signals import connection_created
from django.dispatch import receiver

from webhooks.models import Delivery

LONGEST_REST: Final = 1.0  # seconds between two looks for what another process wrote
TABLE: Final = Delivery._meta.db_table

_waiting: Final[set[Callable[[], None]]] = set()


def is_heard() -> bool:
    """Whether this process notices its own writes."""
    return connection.vendor == "sqlite"


@contextmanager
def waking(woken: Callable[[], None]) -> Iterator[None]:
    """Meanwhile `woken` is called, from any thread, when deliveries have changed."""
    _waiting.add(woken)
    try:
        yield
    finally:
        _waiting.discard(woken)


@receiver(connection_created)
def _listen(connection: Any, **_: Any) -> None:
    if connection.vendor == "sqlite" and hear not in connection.execute_wrappers:
        connection.execute_wrappers.append(hear)


def hear(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    result = execute(sql, params, many, context)
    if _waiting and TABLE in sql and not sql.startswith("SELECT"):
        context["connection"].on_commit(wake, robust=True)
    return result


def wake() -> None:
    for each in list(_waiting):
        each()
