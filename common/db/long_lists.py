"""Reads long lists at a cost that doesn't grow with them: how many rows a list has, and a few rows of each of many ranges in one statement."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, TypeVar
from uuid import UUID

from django.core.cache import cache
from django.db import connection
from django.db.models import DateTimeField, IntegerField, QuerySet, Subquery
from django.db.models.expressions import RawSQL

Row = TypeVar("Row")
Found = TypeVar("Found")
log = logging.getLogger(__name__)

COUNTED_EXACTLY: Final = 10_000  # rows
REMEMBERED: Final = 60  # seconds


def total_of(rows: QuerySet[Any], *, is_long: bool = False) -> int:
    """The number of rows. It is exact up to 10,000; above that it may be up to a minute old.

    With `is_long` the cache is asked first: counting to 10,000 takes longer.
    """
    rows = rows.order_by()
    if is_long and (remembered := _asked(lambda: cache.get(_key(rows.values("pk"))))) is not None:
        return int(remembered)
    counted = rows[: COUNTED_EXACTLY + 1].count()
    if counted <= COUNTED_EXACTLY:
        return counted
    remembered = _asked(lambda: cache.get_or_set(_key(rows.values("pk")), rows.count, REMEMBERED))
    return rows.count() if remembered is None else int(remembered)


def found_in(rows: QuerySet[Any], found: QuerySet[Any, Row]) -> list[Row]:
    """What a query finds in these rows. Above 10,000 rows it may be up to a minute old."""
    return list(found) if total_of(rows) <= COUNTED_EXACTLY else found_lately(found)


def found_lately(found: QuerySet[Any, Row]) -> list[Row]:
    """What a query of a list above 10,000 rows finds, or found in the last minute."""
    remembered: list[Row] | None = _asked(
        lambda: cache.get_or_set(_key(found), lambda: list(found), REMEMBERED)
    )
    return list(found) if remembered is None else remembered


def _key(query: QuerySet[Any, Any]) -> str:
    return "total:" + sha256(repr(query.query.sql_with_params()).encode()).hexdigest()


def _asked(cached: Callable[[], Found]) -> Found | None:
    """None where the cache can't be reached, which only saves work."""
    try:
        return cached()
    except Exception as error:  # whatever the cache's client raises
        log.debug("The cache can't be reached: %s", error)
        return None


# --- A few rows of each of many ranges ---------------------------------------------------------------

BEGIN: Final = RawSQL("ranges.begins", (), DateTimeField())
END: Final = RawSQL("ranges.ends", (), DateTimeField())


Part = tuple[str, Sequence[Any]]
"""SQL with its parameters: `queryset.query.sql_with_params()`, or `Compiled.sql()`. Without a limit."""


def of_each(parts: Sequence[Part], most: int) -> list[tuple[Any, ...]]:
    """The first `most` rows of each part. They have numbers and short texts alone, by `values_list`.

    `QuerySet.union` does the same on PostgreSQL; SQLite has no limits within a union, unless each part is a subquery.
    """
    if not parts:
        return []
    selects = [f"SELECT * FROM ({sql} LIMIT {most:d}) AS part" for sql, _ in parts]  # noqa: S608  what Django writes
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(selects), [value for _, params in parts for value in params])
        return list(cursor.fetchall())


def ids_among(part: Part, *, first: int, columns: Mapping[str, Any], most: int) -> list[UUID]:
    """Of the first so many rows of a part, the ids of those whose columns have these values, at most `most`, in its order.

    The part selects the id as `pk`, and the columns by their names. It is read no further than these rows or ids are found.
    """
    sql, params = part
    conditions = " AND ".join(f"{name} = %s" for name in columns)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT pk FROM ({sql} LIMIT {first:d}) AS part"  # noqa: S608  as above
            f" WHERE {conditions} LIMIT {most:d}",
            [*params, *columns.values()],
        )
        return _ids(cursor.fetchall())


def _ids(rows: Iterable[tuple[Any, ...]]) -> list[UUID]:
    return [found if isinstance(found, UUID) else UUID(found) for (found,) in rows]


def ids_of_each(parts: Sequence[Part], most: int) -> list[UUID]:
    """The same for parts of one column, an id."""
    return _ids(of_each(parts, most))


def counts_of_each(
    ranges: Sequence[tuple[datetime, datetime]], parts: Sequence[Part]
) -> list[tuple[int, ...]]:
    """Of each range, how many rows each part has. A part filters a time by `BEGIN` and `END`, so that an index has nothing else to read."""
    moment = DateTimeField()
    given: list[Any] = [
        value
        for number, (begin, end) in enumerate(ranges)
        for value in (
            number,
            moment.get_db_prep_value(begin, connection),
            moment.get_db_prep_value(end, connection),
        )
    ]
    given += [value for _, params in parts for value in params]
    counts = ", ".join(f"(SELECT COUNT(*) FROM ({sql}) AS part)" for sql, _ in parts)  # noqa: S608  as above
    values = ", ".join(["(%s, %s, %s)"] * len(ranges))
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH ranges (number, begins, ends) AS (VALUES {values})"  # noqa: S608
            f" SELECT {counts} FROM ranges ORDER BY number",
            given,
        )
        return list(cursor.fetchall())


class CountOfSome(Subquery):
    """The number of rows of a subquery, which has a limit."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()
