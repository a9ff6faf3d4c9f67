"""Who pressed the bell of the widget: the last presses of every store, in the memory of this process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque

from .times import now_text

KEPT = 20
STORES = 1000
PAUSE = 2.0
"""Seconds for which a store's bell stays silent: anybody can press it, and a script can press fast."""


class Rings:
    """Times by store; safe to use from several threads. They are gone at a restart."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rings: OrderedDict[str, deque[str]] = OrderedDict()
        self._silent_until: dict[str, float] = {}

    def ring(self, business_id: str) -> bool:
        """Ring, and say whether it was heard: false where it has just rung."""
        with self._lock:
            now = time.monotonic()
            if now < self._silent_until.get(business_id, 0):
                return False
            self._silent_until[business_id] = now + PAUSE
            self._rings.setdefault(business_id, deque(maxlen=KEPT)).append(now_text())
            self._rings.move_to_end(business_id)
            while len(self._rings) > STORES:
                self._silent_until.pop(self._rings.popitem(last=False)[0], None)
            return True

    def of(self, business_id: str) -> list[str]:
        """When it rang, the last first."""
        with self._lock:
            return list(reversed(self._rings.get(business_id, ())))

    def forget(self, business_id: str) -> None:
        """Delete what is kept of a store."""
        with self._lock:
            self._rings.pop(business_id, None)
            self._silent_until.pop(business_id, None)
