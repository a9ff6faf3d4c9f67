"""Work that one thread of all processes does at a time, by an advisory lock of PostgreSQL that ends with its session."""

import logging
import threading
from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar

from django.db import DatabaseError, connection

log = logging.getLogger(__name__)

SKIPPED: Final = "%s is still running, so this run does nothing."

Work = TypeVar("Work", bound=Callable[[], object])


def alone(work: Work) -> Work:
    """Decorate a periodic task: a run that begins while another one goes on ends at once. SQLite serves one process anyway."""
    name = f"{work.__module__}.{work.__qualname__}"
    here = threading.Lock()

    @wraps(work)
    def run() -> object:
        return _alone(work, name, here)

    return run  # type: ignore[return-value]


def _alone(work: Callable[[], object], name: str, here: threading.Lock) -> object:
    if not here.acquire(blocking=False):
        log.info(SKIPPED, name)
        return None
    try:
        return work() if connection.vendor != "postgresql" else _elsewhere(work, name)
    finally:
        here.release()


def _elsewhere(work: Callable[[], object], name: str) -> object:
    """Unless another process does it."""
    if not _asked("SELECT pg_try_advisory_lock(hashtext(%s))", name):
        log.info(SKIPPED, name)
        return None
    try:
        return work()
    finally:
        try:
            _asked("SELECT pg_advisory_unlock(hashtext(%s))", name)
        except DatabaseError:
            connection.close()  # the lock ends with it


def _asked(statement: str, name: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, [name])
        ((answer,),) = cursor.fetchall()
    return bool(answer)
