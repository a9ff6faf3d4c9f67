"""The bars of charts, which templates draw."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bar:
    """In the units of the drawing."""

    css: str
    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A drawing, `height` high, with a row of counts every `step`. Bars are `width` wide and begin `start` after the step.

    None is lower than `least`, so that one failure among a million is seen. `top` is what the whole height stands for, by
    default the highest bar.
    """

    height: float = 100
    step: float
    width: float
    start: float = 0
    least: float = 2
    top: int = 0
    is_stacked: bool = False

    def bars(self, rows: Sequence[Sequence[int]], *classes: str) -> list[list[Bar]]:
        """For each row its bars, one of each class, side by side or on top of one another; none for zeros."""
        highest = max((sum(row) if self.is_stacked else max(row) for row in rows), default=0)
        top = self.top or highest
        return [
            list(self._of_row(number * self.step + self.start, row, classes, top))
            for number, row in enumerate(rows)
        ]

    def _of_row(self, x: float, row: Sequence[int], classes: Sequence[str], top: int) -> Iterator[Bar]:
        foot = self.height
        for place, (count, css) in enumerate(zip(row, classes, strict=True)):
            if not count:
                continue
            height = max(self.least, self.height * count / top)
            y = max(0.0, foot - height)
            left = x if self.is_stacked else x + place * self.width
            yield Bar(
                css, *(f"{each:.7g}" for each in (round(left, 3), round(y, 2), self.width, round(height, 2)))
            )
            foot = y if self.is_stacked else foot


def strip(counts: Sequence[tuple[int, int]], *, step: int) -> list[Bar]:
    """The small chart of a list, 24 high: of each hour or day what succeeded, and on top of it what failed."""
    plot = Plot(height=24, step=step, width=step - 2, is_stacked=True)
    return [bar for row in plot.bars(counts, "ok", "bad") for bar in row]
