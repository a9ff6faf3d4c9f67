"""Remembers rows of long lists, so that a page far down doesn't have to count all rows before it.

A row is known by its rank, counted from the oldest row. New rows are added on top, so they change no rank. When a row
is removed, the caller uses another `key`. Each process has its own bookmarks, and losing them only costs time.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any, Final
from uuid import UUID

KEPT: Final = 60  # seconds
LISTS: Final = 256
PER_LIST: Final = 64


class PageBookmarks:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        # For each list its bookmarks, newest last: rank -> (id, expiry).
        self._lists: OrderedDict[Hashable, OrderedDict[int, tuple[UUID, float]]] = OrderedDict()

    def nearest(self, key: Hashable, rank: int) -> tuple[UUID, int] | None:
        """The row at `rank`, or the nearest known one above: its id, and how many rows above `rank` it is."""
        now = time.monotonic()
        with self._lock:
            bookmarks = self._lists.get(key) or OrderedDict()
            known = [each for each, (_, until) in bookmarks.items() if each >= rank and until > now]
            return (bookmarks[min(known)][0], min(known) - rank) if known else None

    def remember(self, key: Hashable, rows: Mapping[int, UUID]) -> None:
        """Remember rows, given as ids by rank."""
        until = time.monotonic() + KEPT
        with self._lock:
            bookmarks = self._lists.setdefault(key, OrderedDict())
            self._lists.move_to_end(key)
            for rank, row_id in rows.items():
                bookmarks[rank] = (row_id, until)
                bookmarks.move_to_end(rank)
            _shorten(bookmarks, PER_LIST)
            _shorten(self._lists, LISTS)


def _shorten(kept: OrderedDict[Any, Any], size: int) -> None:
    while len(kept) > size:
        kept.popitem(last=False)
