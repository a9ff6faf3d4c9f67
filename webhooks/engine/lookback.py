"""How far back a dispatcher looks, which PostgreSQL can make expensive (docs/decisions/0050).

While any transaction stays open, the index entries of all deliveries that were due or leased since stay too, and a look at
all that waits steps over each of them. So while such looks take long, most only go back a little.
"""

from collections import deque
from time import monotonic
from typing import Final

CHEAP: Final = 0.005  # seconds
FOR_EACH_ROW: Final = 0.0005  # that the look changes
LOOKS: Final = 10  # of which the cheapest counts: on a busy machine many take long for other reasons
PAUSE: Final = 30  # times what an expensive look took: so these take a thirtieth of the time
LONGEST_PAUSE: Final = 60.0  # seconds, in case the machine was frozen during a look


class Lookback:
    """Which looks go all the way back: all of them, until the last ones that found nothing old were all expensive."""

    def __init__(self) -> None:
        self._took: deque[float] = deque(maxlen=LOOKS)
        self._all_the_way_at = 0.0

    def is_due(self) -> bool:
        """Whether the next look goes all the way back."""
        return monotonic() >= self._all_the_way_at

    @property
    def is_expensive(self) -> bool:
        """Whether all of the last looks that found nothing old were."""
        return len(self._took) == LOOKS and min(self._took) > CHEAP

    @property
    def last_was_expensive(self) -> bool:
        return bool(self._took) and self._took[-1] > CHEAP

    @property
    def expected(self) -> float:
        """How long the next look may take, in seconds: twice as long as the last one that went all the way back. Zero if the
        next one doesn't go all the way back.
        """
        return 2 * self._took[-1] if self._took and self.is_due() else 0.0

    def found_nothing_old(self, *, took: float, rows: int = 0) -> None:
        """Note what a look all the way back took in vain, in seconds, and how many recent rows it changed."""
        self._took.append(took - rows * FOR_EACH_ROW)
        if self.is_expensive:
            self._all_the_way_at = monotonic() + min(PAUSE * took, LONGEST_PAUSE)
