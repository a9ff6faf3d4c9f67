"""Counts the rows of a list without counting a long list each time."""

import logging
from hashlib import sha256
from typing import Any, Final

from django.core.cache import cache
from django.db.models import QuerySet

log = logging.getLogger(__name__)

COUNTED_EXACTLY: Final = 10_000  # rows
REMEMBERED: Final = 60  # seconds


def total_of(rows: QuerySet[Any]) -> int:
    """The number of rows. It is exact up to 10,000; above that it may be up to a minute old."""
    rows = rows.order_by()
    counted = rows[: COUNTED_EXACTLY + 1].count()
    if counted <= COUNTED_EXACTLY:
        return counted
    key = "total:" + sha256(repr(rows.values("pk").query.sql_with_params()).encode()).hexdigest()
    try:
        return int(cache.get_or_set(key, rows.count, REMEMBERED) or 0)
    except Exception as error:  # whatever the cache's client raises; the cache only saves work
        log.debug("The cache can't be reached: %s", error)
        return rows.count()
