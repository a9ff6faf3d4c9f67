"""How many of a process's threads one shop may hold while its apps are asked.

Each flow holds a thread until the apps have answered, ten seconds at most. Apps that answer in time hold none for long,
so only a shop whose apps were slow lately is counted: the pages of all other shops need threads, too.
"""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

SLOW: Final = 3.0  # seconds of one flow
REMEMBERED: Final = 60.0  # seconds after a slow flow
AT_ONCE: Final = 4  # flows of a shop with slow apps, in one process; half of its threads


class Turns:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: Counter[UUID] = Counter()
        self._slow_until: dict[UUID, float] = {}

    @contextmanager
    def taken(self, business_id: UUID) -> Iterator[bool]:
        """Whether this flow may ask; it is counted until it is over."""
        began = time.monotonic()
        with self._lock:
            is_slow = self._slow_until.get(business_id, 0.0) > began
            is_free = not is_slow or self._under_way[business_id] < AT_ONCE
            self._under_way[business_id] += is_free
        try:
            yield is_free
        finally:
            if is_free:
                self._over(business_id, began)

    def _over(self, business_id: UUID, began: float) -> None:
        now = time.monotonic()
        with self._lock:
            self._under_way[business_id] -= 1
            if not self._under_way[business_id]:
                del self._under_way[business_id]
            if now - began > SLOW:
                self._slow_until[business_id] = now + REMEMBERED
            elif self._slow_until.get(business_id, now) < now:
                del self._slow_until[business_id]
