"""What a benchmark says: rows of a table, each held against the project's goals."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final


@dataclass(frozen=True, slots=True)
class Goal:
    """The figure to reach: `least` is what the project promises itself, `better` what it would be proud of."""

    least: float
    better: float
    more_is_better: bool = False
    unit: str = ""

    def verdict(self, figure: float) -> str:
        if self._reached(figure, self.better):
            return "better"
        return "at least" if self._reached(figure, self.least) else "MISSED"

    def _reached(self, figure: float, goal: float) -> bool:
        return figure >= goal if self.more_is_better else figure <= goal

    def columns(self) -> tuple[str, str]:
        sign = "≥" if self.more_is_better else "≤"
        return f"{sign} {number(self.least)}{self.unit}", f"{sign} {number(self.better)}{self.unit}"


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement. `baseline` and `ours` say it in words with units; `figure` is what the goal is about."""

    what: str
    baseline: str
    ours: str
    figure: float | None = None
    goal: Goal | None = None
    reached: str = ""  # overrules the goal's own verdict
    doubt: str = ""  # why the figure must not be trusted
    note: str = ""

    def cells(self) -> tuple[str, ...]:
        least, better = self.goal.columns() if self.goal else ("", "")
        figure = "" if self.figure is None else number(self.figure) + (self.goal.unit if self.goal else "")
        return (self.what, self.baseline, self.ours, figure, least, better, self.verdict())

    def verdict(self) -> str:
        if self.doubt:
            return f"invalid: {self.doubt}"
        if self.reached or not self.goal or self.figure is None:
            return self.reached
        return self.goal.verdict(self.figure)


HEAD: Final = ("what", "baseline", "ours", "figure", "at least", "better", "reached")
WIDTHS: Final = (56, 18, 18, 9, 9, 9, 9)


def line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)) + " |"


def heading() -> str:
    return line(HEAD) + "\n" + line(["-" * width for width in WIDTHS])


def number(figure: float) -> str:
    """Three digits that count."""
    if figure >= 100:
        return f"{figure:,.0f}"
    return f"{figure:.3g}"


def milliseconds(seconds: float) -> str:
    return f"{number(seconds * 1000)} ms"


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of all values do not exceed (nearest rank)."""
    ordered = sorted(values)
    rank = max(0, -(-len(ordered) * share // 1) - 1)
    return ordered[int(rank)]


def paired(ours: Sequence[float], baselines: Sequence[float]) -> float:
    """The median of the ratios of runs that followed each other."""
    return median(mine / theirs for mine, theirs in zip(ours, baselines, strict=True))
