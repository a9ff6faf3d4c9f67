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


def total_of(rows: QuerySet[Any]) -> int:
    """The number of rows. It is exact up to 10,000; above that it may be up to a minute old."""
    rows = rows.order_by()
    key = _key(rows.values("pk"))
    remembered: int | None = _asked(lambda: cache.get(key))
    if remembered is not None:
        return remembered
    counted = rows[: COUNTED_EXACTLY + 1].count()
    if counted > COUNTED_EXACTLY:
        counted = rows.count()
        _asked(lambda: cache.set(key, counted, REMEMBERED))
    return counted


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
