"""A bulkhead: how many of a process's threads one store may use while its apps are asked.

Each flow holds a thread until the apps have answered, for at most ten seconds. Apps that answer in time hold none for
long, so only a store whose apps were slow recently is limited: the pages of all other stores need threads too.
"""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

SLOW: Final = 3.0  # seconds of one flow between two checks
REMEMBERED: Final = 60.0  # seconds after a slow flow
AT_ONCE: Final = 4  # flows of a store with slow apps, in one process; half of its threads


class Bulkhead:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: Counter[UUID] = Counter()
        self._slow_until: dict[UUID, float] = {}

    @contextmanager
    def taken(self, business_id: UUID) -> Iterator["Turn"]:
        """A flow's turn, counted until the flow ends."""
        turn = Turn(self, business_id)
        try:
            yield turn
        finally:
            turn.end()

    def begin(self, business_id: UUID) -> bool:
        """Count a flow, unless its store is slow and already has its share. Returns whether it is counted."""
        with self._lock:
            is_free = not self._is_slow(business_id) or self._under_way[business_id] < AT_ONCE
            self._under_way[business_id] += is_free
            return is_free

    def go_on(self, business_id: UUID, seconds: float) -> bool:
        """Whether a counted flow may continue after its last part took `seconds`. If not, it is no longer counted."""
        with self._lock:
            self._note(business_id, seconds)
            is_over = self._is_slow(business_id) and self._under_way[business_id] > AT_ONCE
            if is_over:
                self._leave(business_id)
            return not is_over

    def end(self, business_id: UUID, seconds: float) -> None:
        with self._lock:
            self._note(business_id, seconds)
            self._leave(business_id)

    def _is_slow(self, business_id: UUID) -> bool:
        return self._slow_until.get(business_id, 0.0) > time.monotonic()

    def _note(self, business_id: UUID, seconds: float) -> None:
        now = time.monotonic()
        if seconds > SLOW:
            self._slow_until[business_id] = now + REMEMBERED
        elif self._slow_until.get(business_id, now) < now:
            del self._slow_until[business_id]

    def _leave(self, business_id: UUID) -> None:
        self._under_way[business_id] -= 1
        if not self._under_way[business_id]:
            del self._under_way[business_id]


class Turn:
    """One flow's permission to ask apps; used only by the flow's thread."""

    def __init__(self, bulkhead: Bulkhead, business_id: UUID) -> None:
        self._bulkhead = bulkhead
        self._business_id = business_id
        self._looked_at = time.monotonic()
        self._is_counted = bulkhead.begin(business_id)

    def may_ask(self) -> bool:
        """Whether the flow may ask apps from here on. A flow that may not has given up its turn."""
        if self._is_counted:
            self._is_counted = self._bulkhead.go_on(self._business_id, self._seconds())
        return self._is_counted

    def end(self) -> None:
        if self._is_counted:
            self._bulkhead.end(self._business_id, self._seconds())

    def _seconds(self) -> float:
        """Since the last check."""
        before, self._looked_at = self._looked_at, time.monotonic()
        return self._looked_at - before
