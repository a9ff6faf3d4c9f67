"""Wakes a dispatcher when deliveries have changed, so that it finds them before its next look.

Whatever statement changes deliveries wakes one after its commit: on SQLite, where all processes are one, in the process itself, else
with a hint by Redis (`common.processes.wakeups`). A dispatcher finds what has no hint at its next look, as it finds retries
(docs/decisions/0111).
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.db import connection
from django.db.backends.signals import connection_created
from django.dispatch import receiver

from common.processes import wakeups
from webhooks.models import Delivery

LONGEST_REST: Final = 1.0  # seconds between two looks for what another process wrote; on SQLite
TABLE: Final = Delivery._meta.db_table
HINT: Final = "deliveries"

_waiting: Final[set[Callable[[], None]]] = set()


def is_heard() -> bool:
    """Whether this process notices its own writes, and there are no others."""
    return connection.vendor == "sqlite"


@contextmanager
def waking(woken: Callable[[], None], *, resting: threading.Event) -> Iterator[None]:
    """Meanwhile `woken` is called, from any thread, when deliveries have changed. A hint of another process is for one dispatcher, and
    for one that is `resting`."""
    if not is_heard():
        ended = threading.Event()
        threading.Thread(target=_listen, args=(woken, resting, ended), name="hints", daemon=True).start()
        try:
            yield
        finally:
            ended.set()
        return
    _waiting.add(woken)
    try:
        yield
    finally:
        _waiting.discard(woken)


def _listen(woken: Callable[[], None], resting: threading.Event, ended: threading.Event) -> None:
    while not ended.is_set():
        if not resting.wait(wakeups.patience()) or not wakeups.wait(HINT, wakeups.patience()):
            continue
        if resting.is_set() and not ended.is_set():
            woken()
        else:
            wakeups.wake(HINT)  # for another one, or until this one rests


@receiver(connection_created)
def _hear_all(connection: Any, **_: Any) -> None:
    if hear not in connection.execute_wrappers:
        connection.execute_wrappers.append(hear)


def hear(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    result = execute(sql, params, many, context)
    if TABLE in sql and not sql.startswith(("SELECT", "PREPARE")):
        session = context["connection"]
        if all(each[1] is not wake for each in session.run_on_commit):  # one hint for a transaction
            session.on_commit(wake, robust=True)
    return result


def wake() -> None:
    """Have a dispatcher look now."""
    if not is_heard():
        wakeups.wake(HINT)
    for each in list(_waiting):
        each()
