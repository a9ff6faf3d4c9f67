"""Work that one process at a time does, by an advisory lock of PostgreSQL that ends with its session."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from django.db import DatabaseError, connection

log = logging.getLogger(__name__)

Work = TypeVar("Work", bound=Callable[[], object])


def alone(work: Work) -> Work:
    """Decorate a periodic task: a run that begins while another one goes on ends at once. SQLite serves one process anyway."""
    name = f"{work.__module__}.{work.__qualname__}"

    @wraps(work)
    def run() -> object:
        if connection.vendor != "postgresql":
            return work()
        if not _asked("SELECT pg_try_advisory_lock(hashtext(%s))", name):
            log.warning("%s is still running, so this run does nothing.", name)
            return None
        try:
            return work()
        finally:
            try:
                _asked("SELECT pg_advisory_unlock(hashtext(%s))", name)
            except DatabaseError:
                connection.close()  # the lock ends with it

    return run  # type: ignore[return-value]


def _asked(statement: str, name: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, [name])
        ((answer,),) = cursor.fetchall()
    return bool(answer)
