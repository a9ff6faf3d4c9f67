"""Moments of a run in which hours pass at once. All moments are of `time.monotonic`, all lengths are seconds."""

from dataclasses import dataclass, field
from math import inf
from typing import Final

LEAP: Final = 12 * 3600.0
WEEK: Final = 14  # leaps
ERASED_AFTER: Final = 48 * 3600.0


@dataclass(frozen=True, slots=True)
class Leap:
    """Every row that was there when it began is older by `seconds` since it ended."""

    began: float
    ended: float
    seconds: float = LEAP


@dataclass
class Clock:
    """Without leaps, it is the usual one."""

    leaps: list[Leap] = field(default_factory=list)

    def real(self, moment: float, seen: float = inf) -> float:
        """When it was, for a time that a row had at `seen`. A thing that fell due within a leap was due when the leap ended."""
        for leap in reversed([each for each in self.leaps if each.ended <= seen]):
            if moment >= leap.began:
                return moment
            if moment >= leap.began - leap.seconds:
                return leap.ended
            moment += leap.seconds
        return moment

    def later(self, since: float, seconds: float) -> float:
        """The first moment at which so much time has passed for the rows, if no other leap comes."""
        for leap in self.leaps:
            if leap.began < since:
                continue
            if leap.began - since >= seconds:
                break
            seconds -= leap.ended - since + leap.seconds
            if seconds <= 0:
                return leap.ended
            since = leap.ended
        return since + seconds

    @property
    def passed(self) -> float:
        """What all leaps brought."""
        return sum(each.seconds for each in self.leaps)
