"""Counts the rows of a list without counting a long list each time."""

import logging
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final, TypeVar, cast

from django.core.cache import cache
from django.db.models import QuerySet

Row = TypeVar("Row")
Found = TypeVar("Found")
log = logging.getLogger(__name__)

COUNTED_EXACTLY: Final = 10_000  # rows
REMEMBERED: Final = 60  # seconds


def total_of(rows: QuerySet[Any]) -> int:
    """The number of rows. It is exact up to 10,000; above that it may be up to a minute old."""
    rows = rows.order_by()
    counted = rows[: COUNTED_EXACTLY + 1].count()
    if counted <= COUNTED_EXACTLY:
        return counted
    return _remembered(rows.values("pk"), rows.count)


def found_in(rows: QuerySet[Any], found: QuerySet[Any, Row]) -> list[Row]:
    """What a query finds in these rows. Above 10,000 rows it may be up to a minute old."""
    if total_of(rows) <= COUNTED_EXACTLY:
        return list(found)
    return _remembered(found, lambda: list(found))


def _remembered(query: QuerySet[Any, Any], make: Callable[[], Found]) -> Found:
    key = "total:" + sha256(repr(query.query.sql_with_params()).encode()).hexdigest()
    try:
        return cast(Found, cache.get_or_set(key, make, REMEMBERED))
    except Exception as error:  # whatever the cache's client raises; the cache only saves work
        log.debug("The cache can't be reached: %s", error)
        return make()
