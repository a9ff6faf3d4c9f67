"""How far back a dispatcher looks, which PostgreSQL can make expensive (docs/decisions/0050).

While any transaction stays open, the index entries of all deliveries that were due or leased since stay too, and a look at
all that waits steps over each of them. So while such looks take long, most only go back a little.
"""

from time import monotonic
from typing import Final

CHEAP: Final = 0.005, 0.0001  # seconds that a look may take, and more for each row that it changes
PAUSE: Final = 50  # times what an expensive look took: so these take a fiftieth of the time


class Lookback:
    """Which looks go all the way back: all of them, until two that found nothing old were expensive."""

    def __init__(self) -> None:
        self._expensive = (
            0  # looks in a row; a single one may have other reasons, such as a statement's first plan
        )
        self._all_the_way_at = 0.0

    def is_due(self) -> bool:
        """Whether the next look goes all the way back."""
        return monotonic() >= self._all_the_way_at

    def found_nothing_old(self, *, took: float, rows: int) -> None:
        """Note what a look all the way back took in vain, in seconds, and how many recent rows it changed."""
        base, for_each = CHEAP
        self._expensive = self._expensive + 1 if took > base + rows * for_each else 0
        if self._expensive > 1:
            self._all_the_way_at = monotonic() + PAUSE * took
