"""Work that only one worker has: a whole task by `@alone`, and a row by a lease.

A leased row is one worker's until a moment, so a worker that dies loses nothing.

    tried_until = LeaseField(null=True)

    until = take(Export.objects.filter(pk=pk), lasts=LEASE, now=now)  # None: another worker has it
    held(Export.objects.filter(pk=pk), until).update(status=READY, tried_until=None)

The end of a lease also names the try: a worker that was overtaken finds another end there, and changes nothing. Deliveries alone have
leases of their own, which end with a dispatcher's heartbeat (`webhooks.engine`).
"""

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from typing import Any, Final, TypeVar

from django.db import DatabaseError, connection, models, transaction
from django.db.models import Q, QuerySet

Row = TypeVar("Row", bound=models.Model)
Work = TypeVar("Work", bound=Callable[[], object])

log = logging.getLogger(__name__)

SKIPPED: Final = "%s is still running, so this run does nothing."


class LeaseField(models.DateTimeField):
    """When the row is free again. Empty: it is free. A model has one, with `null=True`."""

    def deconstruct(self) -> Any:
        name, _path, args, options = super().deconstruct()
        return name, "django.db.models.DateTimeField", args, options


def take(rows: QuerySet[Row], *, lasts: timedelta, now: datetime, **changes: Any) -> datetime | None:
    """Take those of the rows that are free, by one statement. Returns the end of the lease; None if none was free."""
    until = now + lasts
    taken = _free(rows, now).update(**{_column(rows): until}, **changes)
    return until if taken else None


@transaction.atomic
def take_first(rows: QuerySet[Row], *, lasts: timedelta, now: datetime) -> Row | None:
    """Take the first row that is free and that no transaction has locked."""
    skip = connection.features.has_select_for_update_skip_locked
    row = _free(rows, now).select_for_update(skip_locked=skip).first()
    if row is not None:
        setattr(row, _column(rows), take(rows.filter(pk=row.pk), lasts=lasts, now=now))
    return row


def held(rows: QuerySet[Row], until: datetime | None) -> QuerySet[Row]:
    """Those of the rows whose lease is still the one that ends at this moment."""
    return rows.filter(**{_column(rows): until})


def _free(rows: QuerySet[Row], now: datetime) -> QuerySet[Row]:
    column = _column(rows)
    return rows.filter(Q(**{column: None}) | Q(**{f"{column}__lte": now}))


def _column(rows: QuerySet[Row]) -> str:
    return next(field.name for field in rows.model._meta.fields if isinstance(field, LeaseField))


def alone(work: Work) -> Work:
    """Decorate a periodic task: a run that begins while another one goes on ends at once.

    Across processes by an advisory lock of PostgreSQL, which ends with its session. SQLite serves one process anyway.
    """
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
