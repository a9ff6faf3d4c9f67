"""Reading a few rows of each of many ranges in one statement, at a cost that doesn't grow with the ranges."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import DateTimeField, IntegerField, Subquery
from django.db.models.expressions import RawSQL

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
