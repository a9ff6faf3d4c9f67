"""Reads long lists at a cost that doesn't grow with them: how many rows a list has, and a few rows of each of many ranges in one statement."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, TypeVar
from uuid import UUID

import orjson
from django.core.cache import cache
from django.db import connection
from django.db.models import DateTimeField, IntegerField, QuerySet, Subquery
from django.db.models.expressions import RawSQL

from common.db.compiled import Compiled

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
    is_short = total_of(rows) <= COUNTED_EXACTLY
    return list(found) if is_short else _lately(_key(found), lambda: list(found))


def number_of(rows: Compiled[Any], **values: Any) -> int:
    """`total_of` with `is_long`, of a compiled query without an order."""
    sql, params = rows.sql(**values)

    def counted(limit: str = "") -> int:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT COUNT(*) FROM ({sql}{limit}) AS part", params)  # noqa: S608  what Django writes
            return int(cursor.fetchone()[0])

    key = _key_of(sql, params)
    remembered = _asked(lambda: cache.get(key))
    number = counted(f" LIMIT {COUNTED_EXACTLY + 1:d}") if remembered is None else int(remembered)
    return number if remembered is not None or number <= COUNTED_EXACTLY else _lately(key, counted)


def found_lately(
    found: Compiled[Row], *, limit: int | None = None, offset: int = 0, **values: Any
) -> list[Row]:
    """What a query of a list above 10,000 rows finds, or found in the last minute."""
    key = _key_of(*found.sql(**values), limit, offset)
    return _lately(key, lambda: found.rows(limit=limit, offset=offset, **values))


def _lately(key: str, read: Callable[[], Found]) -> Found:
    remembered: Found | None = _asked(lambda: cache.get_or_set(key, read, REMEMBERED))
    return read() if remembered is None else remembered


def _key(query: QuerySet[Any, Any]) -> str:
    return _key_of(*query.query.sql_with_params())


def _key_of(*parts: Any) -> str:
    return "total:" + sha256(repr(parts).encode()).hexdigest()


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
# All as one value, whose writing takes a tenth of the time of one for each.
_RANGES: Final = {
    "postgresql": """(SELECT number, (value ->> 0)::timestamptz AS begins, (value ->> 1)::timestamptz AS ends
        FROM jsonb_array_elements(%s) WITH ORDINALITY AS ranges (value, number)) AS ranges""",
    "sqlite": """(SELECT key AS number, datetime(json_extract(value, '$[0]')) AS begins,
        datetime(json_extract(value, '$[1]')) AS ends FROM json_each(%s)) AS ranges""",
}


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
    counts = ", ".join(f"(SELECT COUNT(*) FROM ({sql}) AS part)" for sql, _ in parts)  # noqa: S608  as above
    given = [value for _, params in parts for value in params]
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {counts} FROM {_RANGES[connection.vendor]} ORDER BY number",  # noqa: S608
            [*given, orjson.dumps(ranges).decode()],
        )
        return list(cursor.fetchall())


class CountOfSome(Subquery):
    """The number of rows of a subquery, which has a limit."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()
