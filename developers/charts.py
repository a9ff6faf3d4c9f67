"""The geometry of bar charts by day, for `templates/developers/chart.html`.

Everything is in per cent of the plot, so that a chart takes whatever width there is and its text keeps its size.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil
from typing import Final

BAR: Final = 0.36  # of a day's width; two of them stand side by side


@dataclass(frozen=True, slots=True)
class Bar:
    css: str
    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True, slots=True)
class Day:
    date: date
    values: tuple[int, int]
    notes: tuple[str, ...]  # what happened on it: "Version 1.4.0 approved"
    x: str
    middle: str
    bars: tuple[Bar, ...]  # none for zeros


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    css: str
    total: int


@dataclass(frozen=True, slots=True)
class Chart:
    """Two series of counts over the same days, the last of which is today."""

    ident: str
    title: str
    series: tuple[Series, Series]
    days: tuple[Day, ...]
    day_width: str
    scale: tuple[int, int, int]  # what the gridlines stand for, from the top

    @property
    def today(self) -> Day:
        return self.days[-1]

    @property
    def first(self) -> Day:
        return self.days[0]

    @property
    def is_empty(self) -> bool:
        return not any(series.total for series in self.series)

    @property
    def noted(self) -> list[Day]:
        return [day for day in self.days if day.notes]


def bar_chart(
    ident: str,
    title: str,
    names: tuple[tuple[str, str], tuple[str, str]],
    values: Iterable[tuple[date, int, int]],
    notes: Iterable[tuple[date, str]] = (),
) -> Chart:
    """`names`: name and CSS class of each series; `values`: the days with a count of each."""
    counted = list(values)
    noted = list(notes)
    top = nice_top(max(max(first, second) for _, first, second in counted))
    width = 100 / len(counted)
    days = tuple(
        Day(
            date=day,
            values=(first, second),
            notes=tuple(note for noted_day, note in noted if noted_day == day),
            x=_percent(number * width),
            middle=_percent((number + 0.5) * width),
            bars=tuple(_bars(number * width, width, (first, second), top, [css for _, css in names])),
        )
        for number, (day, first, second) in enumerate(counted)
    )
    totals = (sum(day.values[0] for day in days), sum(day.values[1] for day in days))
    first_series, second_series = (
        Series(name, css, total) for (name, css), total in zip(names, totals, strict=True)
    )
    return Chart(ident, title, (first_series, second_series), days, _percent(width), (top, top // 2, 0))


def nice_top(highest: int) -> int:
    """The next of 2, 4, 10, 20, 40, 100 …, all of which have a whole half."""
    unit = 1
    while True:
        for step in (2, 4, 10):
            if highest <= step * unit:
                return step * unit
        unit *= 10


def _bars(x: float, width: float, values: Sequence[int], top: int, classes: Sequence[str]) -> Iterable[Bar]:
    """A bar is never less than one per cent high, else a day with one failure among a million looks like none."""
    start = x + width * (0.5 - BAR)
    for number, (value, css) in enumerate(zip(values, classes, strict=True)):
        if value:
            height = max(1, ceil(10_000 * value / top) / 100)
            place = _percent(start + number * BAR * width)
            yield Bar(css, place, _percent(100 - height), _percent(BAR * width), _percent(height))


def _percent(number: float) -> str:
    return f"{number:.3f}%"
