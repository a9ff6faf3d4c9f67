"""Where rows of long lists were last seen, so that a page far down need not count all rows before it.

A row is known by its rank: how many rows there are from the oldest up to it. New rows come on top, and so
change no rank; when one is taken away, whoever remembers changes the `key`. Each process remembers for itself,
and loses nothing with its memory but time.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any, Final
from uuid import UUID

KEPT: Final = 60  # seconds
LISTS: Final = 256
PLACES: Final = 64  # of one list


class Places:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        # For each list its places, the newest last: rank -> (id, when to forget it).
        self._lists: OrderedDict[Hashable, OrderedDict[int, tuple[UUID, float]]] = OrderedDict()

    def nearest(self, key: Hashable, rank: int) -> tuple[UUID, int] | None:
        """The row at `rank` or the nearest one known above it: its id, and how many rows it lies above."""
        now = time.monotonic()
        with self._lock:
            places = self._lists.get(key) or OrderedDict()
            known = [each for each, (_, until) in places.items() if each >= rank and until > now]
            return (places[min(known)][0], min(known) - rank) if known else None

    def remember(self, key: Hashable, rows: Mapping[int, UUID]) -> None:
        """Ids by rank."""
        until = time.monotonic() + KEPT
        with self._lock:
            places = self._lists.setdefault(key, OrderedDict())
            self._lists.move_to_end(key)
            for rank, row_id in rows.items():
                places[rank] = (row_id, until)
                places.move_to_end(rank)
            _shorten(places, PLACES)
            _shorten(self._lists, LISTS)


def _shorten(kept: OrderedDict[Any, Any], size: int) -> None:
    while len(kept) > size:
        kept.popitem(last=False)
