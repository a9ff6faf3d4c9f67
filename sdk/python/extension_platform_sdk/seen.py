"""Which deliveries were processed already.

The platform delivers at least once: an answer that was lost on the way is followed by a retry with the same
``X-Service-Event-Id``. A seen store lets the router tell such a repeat.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Protocol


class SeenStore(Protocol):
    """What the router asks of a store. A database table with a unique column does well across processes."""

    def seen(self, key: str) -> bool:
        """Say whether ``key`` was marked."""

    def mark(self, key: str) -> None:
        """Remember ``key``. Called only once its handler has succeeded."""


class MemorySeen:
    """The newest ``size`` keys, in the memory of this process; safe to use from several threads.

    The default holds more than the 2 hours and 43 minutes of retries bring to most apps. It forgets at a
    restart and is not shared between processes: use a store of your own where a repeat would do harm.
    """

    def __init__(self, size: int = 10_000) -> None:
        self._size = size
        self._keys: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def seen(self, key: str) -> bool:
        """Say whether ``key`` is among the newest."""
        with self._lock:
            return key in self._keys

    def mark(self, key: str) -> None:
        """Remember ``key``, and forget the oldest beyond ``size``."""
        with self._lock:
            self._keys[key] = None
            while len(self._keys) > self._size:
                self._keys.popitem(last=False)
