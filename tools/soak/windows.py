"""What each fault may cause, and for how long. The table of docs/faults.md; a test compares the two."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

ATTEMPT: Final = 10.0  # seconds that an attempt takes at most
LOOK: Final = 2.0  # seconds, for the look at what is in flight and the fault after it


@dataclass(frozen=True, slots=True)
class Bound:
    """Seconds after the repair in which the fault may still be felt; None where it must not be felt at all."""

    requests: float | None  # until no request is a 503, or has no answer
    deliveries: float  # until deliveries are as quick as ever
    doubles: bool = (
        False  # ends or stops a dispatcher, or cuts it off from the database, so that answers are lost
    )


BOUNDS: Final = {
    "worker is killed": Bound(None, 5, doubles=True),
    "worker is paused": Bound(None, 5, doubles=True),
    "scheduler is killed": Bound(None, 5),
    "web server is killed": Bound(2, 2),
    "proxy is killed": Bound(2, 2),
    "broker is emptied": Bound(None, 5),
    "sessions are ended": Bound(5, 5, doubles=True),
    "PostgreSQL crashes": Bound(5, 10, doubles=True),
    "upgrade": Bound(None, 10),
    "restore": Bound(5, 10, doubles=True),
    "hours pass": Bound(None, 5),
    "restart with another key": Bound(None, 5),
}


@dataclass(frozen=True, slots=True)
class Window:
    """A fault, from its beginning to the end of the repair."""

    kind: str  # of BOUNDS
    began: float  # of `time.monotonic`
    ended: float  # when all web processes were ready again
    in_flight: frozenset[str] | None = None  # deliveries that were leased; None if it may double nothing
    what: str = ""  # the process

    @property
    def requests(self) -> tuple[float, float] | None:
        """From when to when a 503 may be its consequence."""
        bound = BOUNDS[self.kind].requests
        return None if bound is None else (self.began, self.ended + bound)

    @property
    def deliveries(self) -> tuple[float, float]:
        """From when to when deliveries may be late."""
        return self.began, self.ended + BOUNDS[self.kind].deliveries

    def explains(self, delivery: str, first: float, again: float) -> bool:
        """Whether it may have lost the answer to the first arrival: the delivery was in flight, maybe since the look."""
        if self.in_flight is None or again < self.began:
            return False
        if delivery in self.in_flight:
            return self.began - ATTEMPT <= first <= self.deliveries[1]
        return self.began <= first <= self.began + LOOK


class Windows:
    """All faults of a run."""

    def __init__(self, faults: Iterable[Window], *, began: float, ended: float) -> None:
        self.faults = list(faults)
        self._length = max(ended - began, 1.0)

    def __iter__(self) -> Iterator[Window]:
        return iter(self.faults)

    def excuse_request(self, at: float) -> bool:
        return _touch(self._spans(requests=True), at, at)

    def excuse_delivery(self, since: float, until: float) -> bool:
        """Whether a fault has to do with what took from `since` to `until`."""
        return _touch(self._spans(), since, until)

    def excuse_line(self, at: float) -> bool:
        """Whether an error in a log may come of a fault. Its line may be a second older than the look at the clock."""
        return _touch([*self._spans(), *self._spans(requests=True)], at, at + 1)

    def of(self, *kinds: str) -> "Windows":
        chosen = [each for each in self.faults if each.kind in kinds]
        return Windows(chosen, began=0, ended=self._length)

    def share(self, *, requests: bool = False) -> str:
        """Of the time, as text."""
        covered, end = 0.0, float("-inf")
        for since, until in sorted(self._spans(requests=requests)):
            covered += max(0.0, until - max(since, end))
            end = max(end, until)
        return f"{covered / self._length:.0%}"

    def _spans(self, *, requests: bool = False) -> list[tuple[float, float]]:
        if requests:
            return [each.requests for each in self.faults if each.requests]
        return [each.deliveries for each in self.faults]


def _touch(spans: Iterable[tuple[float, float]], since: float, until: float) -> bool:
    return any(began <= until and since <= ended for began, ended in spans)
