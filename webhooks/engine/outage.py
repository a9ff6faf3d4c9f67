"""Distinguishes an outage of our own from one of the endpoints (docs/decisions/0011). It never reads a clock.

When our network or name service fails, every attempt fails and would use up one of the delivery's six. So when several
hosts that responded the last time can't be reached, and hardly any other host responds, attempts don't count, and only
a few are made. As soon as a host responds, the number of attempts grows again.
"""

from collections.abc import Iterator
from math import inf
from typing import Final

WINDOW: Final = 15.0  # seconds; longer than an attempt that times out
HOSTS: Final = 5  # must be unreachable, so that one dead host on a small platform doesn't count as an outage
SHARE: Final = 0.8  # of the latest hosts must be unreachable
CANARIES: Final = 3  # attempts at once during an outage
CANARY_PAUSE: Final = 1.0  # seconds after one of them failed
DOUBT: Final = 1.0  # seconds after a failure until it is judged: other failures may take that long


class Guard:
    """Tracks for one dispatcher which hosts respond, and detects outages. Times are seconds of any one clock."""

    def __init__(self, *, room: int) -> None:
        self._full = self._ceiling = room
        self._heard: dict[str, tuple[float, bool]] = {}  # the latest last
        self._began, self._ended = inf, -inf
        self._canary_at = -inf

    @property
    def outage(self) -> bool:
        return self._began < inf == self._ended

    def room(self, in_flight: int, now: float) -> int:
        """How many more attempts may be made."""
        if self.outage and now < self._canary_at:
            return 0
        return max(0, self._ceiling - in_flight)

    def reached(self, host: str, now: float) -> None:
        """Note that the host responded, with any status."""
        self._hear(host, True, now)
        if self.outage:
            self._ended = now
            self._heard.clear()
        # One more for each response doubles the attempts in flight with every round.
        self._ceiling = min(self._full, self._ceiling + 1)

    def missed(self, host: str, now: float, *, answered_before: bool) -> bool:
        """Note that the host could not be reached. Returns whether this begins an outage.

        Hosts that didn't respond the last time either don't count.
        """
        if self.outage:
            self._canary_at = now + CANARY_PAUSE
            return False
        if not answered_before:
            return False
        self._hear(host, False, now)
        if not self._most_are_missed(now):
            return False
        self._began, self._ended = now - DOUBT, inf
        self._ceiling = CANARIES
        self._canary_at = now + CANARY_PAUSE
        return True

    def spares(self, began: float, ended: float) -> bool:
        """Whether an attempt in this period that didn't reach its host must not count."""
        return began <= self._ended and ended >= self._began

    def _hear(self, host: str, reached: bool, now: float) -> None:
        self._heard.pop(host, None)
        self._heard[host] = now, reached
        while self._heard[oldest := next(iter(self._heard))][0] < now - WINDOW:
            del self._heard[oldest]

    def _most_are_missed(self, now: float) -> bool:
        """Whether some number of the latest hosts has at least `HOSTS` and a `SHARE` of unreachable ones."""
        missed = 0
        for count, reached in enumerate(self._latest(now), 1):
            missed += not reached
            if missed >= HOSTS and missed >= SHARE * count:
                return True
        return False

    def _latest(self, now: float) -> Iterator[bool]:
        return (reached for at, reached in reversed(self._heard.values()) if at >= now - WINDOW)
