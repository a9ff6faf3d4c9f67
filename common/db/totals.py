"""Counts the rows of a list without counting a long list each time."""

import logging
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final, TypeVar

from django.core.cache import cache
from django.db.models import QuerySet

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
    if total_of(rows) <= COUNTED_EXACTLY:
        return list(found)
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
