"""Reading a few rows of each of many ranges in one statement, at a cost that doesn't grow with the ranges."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet


def of_each(parts: Sequence[QuerySet[Any, Any]]) -> list[tuple[Any, ...]]:
    """The rows of all querysets, each of which has its own limit. They give numbers and short texts alone, by `values_list`.

    `QuerySet.union` does the same on PostgreSQL; SQLite has no limits within a union, unless each part is a subquery.
    """
    if not parts:
        return []
    selects: list[str] = []
    given: list[Any] = []
    for part in parts:
        sql, params = part.query.sql_with_params()
        selects.append(f"SELECT * FROM ({sql}) AS part")  # noqa: S608  what Django writes, with its parameters
        given += params
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(selects), given)
        return list(cursor.fetchall())


def ids_of_each(parts: Sequence[QuerySet[Any, Any]]) -> list[UUID]:
    """The same for parts of one column, an id."""
    return [found if isinstance(found, UUID) else UUID(found) for (found,) in of_each(parts)]
