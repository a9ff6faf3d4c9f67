"""Leases: a row is one worker's until a moment, so a worker that dies loses nothing.

    tried_until = LeaseField(null=True)

    until = take(Export.objects.filter(pk=pk), lasts=LEASE, now=now)  # None: another worker has it
    held(Export.objects.filter(pk=pk), until).update(status=READY, tried_until=None)

The end of a lease also names the try: a worker that was overtaken finds another end there, and changes nothing. Deliveries alone have
leases of their own, which end with a dispatcher's heartbeat (`webhooks.engine`).
"""

from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import connection, models, transaction
from django.db.models import Q, QuerySet

Row = TypeVar("Row", bound=models.Model)


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
