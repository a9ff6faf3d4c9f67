"""Bars of the small charts in lists: deliveries that succeeded, and on top of them those that failed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

HEIGHT: Final = 24.0
LEAST: Final = 2.0  # a bar that can be seen


@dataclass(frozen=True, slots=True)
class StackedBar:
    """In the units of the drawing, which is `HEIGHT` high."""

    x: int
    y: float
    height: float
    css: str


def stacked(counts: Iterable[tuple[int, int]], step: int) -> list[StackedBar]:
    """Of how many succeeded and failed in each hour or day, which are `step` apart."""
    counts = list(counts)
    most = max((succeeded + failed for succeeded, failed in counts), default=0)
    bars = []
    for number, (succeeded, failed) in enumerate(counts):
        top = HEIGHT
        for count, css in ((succeeded, "ok"), (failed, "bad")):
            if count:
                height = max(LEAST, HEIGHT * count / most)
                top = max(0.0, top - height)
                bars.append(StackedBar(number * step, round(top, 1), round(height, 1), css))
    return bars
