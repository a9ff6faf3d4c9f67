"""Plots that the server draws: bars and lines over days or hours, all on one axis.

`chart` places everything, and `templates/components/chart.html` draws it above a table of the same figures. Positions are in
per cent of the plot, so that it fits any width while its text keeps its size.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Final, NamedTuple

LEAST: Final = 2.0  # per cent of the height: one failure among a million is seen
FILLED: Final = 0.72  # of a point's width, by its bars
TICKS: Final = 4  # names below the plot
WEEK: Final = 7  # that many points have a name each
STEPS: Final = (10, 12, 16, 20, 30, 40, 50, 60, 80)
PATTERNS: Final = ("", "hatch", "dots")  # of the first, second and third series, for those who see no colors
STRIP: Final = 24  # the height of a strip, in its own units
OUTLIER: Final = 5  # times the highest of all others: a point above that ends at the edge of the plot
OTHERS: Final = 3  # points that an outlier needs beside it
LONE: Final = 100  # points, of which one may be an outlier, so that the scale ends near the 99th percentile
HIGH: Final = 95  # per cent: rates that are all this high are drawn from here to 100
ABOVE: Final = "Above the scale"
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

Number = int | float


@dataclass(frozen=True, slots=True)
class Point:
    """A day, or an hour where it's a `datetime`. `link` leads to what its bars count."""

    at: date
    link: str = ""

    @property
    def is_hour(self) -> bool:
        return isinstance(self.at, datetime)

    @property
    def name(self) -> str:
        return f"{self._day}, {self._time}" if self.is_hour else self._day

    @property
    def full(self) -> str:
        return f"{self._day} {self.at.year}, {self._time}" if self.is_hour else f"{self._day} {self.at.year}"

    @property
    def tick(self) -> str:
        return self._time if self.is_hour else self._day

    # Not by `strftime`, which takes four times as long.
    @property
    def _day(self) -> str:
        return f"{self.at.day} {MONTHS[self.at.month - 1]}"

    @property
    def _time(self) -> str:
        return f"{self.at.hour:02}:{self.at.minute:02}" if isinstance(self.at, datetime) else ""


@dataclass(frozen=True, slots=True)
class Series:
    """One figure of each point; None where nothing is known. `css` is its color in `css/charts.css`: `first` (of what went well,
    and of all volume), `second`, `third`, `warn` or `bad`.

    `total` is shown beside the name; by default it is the sum, and of a line nothing.
    """

    name: str
    css: str
    values: Sequence[Number | None]
    is_line: bool = False
    total: str | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at a point: `Version 1.4.0 approved`."""

    at: date
    text: str


class Bar(NamedTuple):
    """In the units of the drawing."""

    css: str
    x: str
    y: str
    width: str
    height: str
    pattern: str = ""


class PlacedPoint(NamedTuple):
    """A point with its bars and its texts."""

    point: Point
    cells: tuple[str, ...]  # its figures as they are written
    notes: tuple[str, ...]
    summary: str  # all of it in one sentence
    bars: tuple[Bar, ...]
    x: str
    middle: str
    is_above: bool  # it has a figure beyond the scale


@dataclass(frozen=True, slots=True)
class Key:
    """A series in the legend. Of a line, also what is drawn: points beside each other, and those alone."""

    name: str
    css: str
    total: str
    is_line: bool
    pattern: str
    path: str = ""
    alone: str = ""


@dataclass(frozen=True, slots=True)
class Tick:
    text: str
    x: str
    anchor: str
    is_last: bool


@dataclass(frozen=True, slots=True)
class Chart:
    ident: str
    title: str
    keys: tuple[Key, ...]
    points: tuple[PlacedPoint, ...]  # the oldest first, and today or this hour last unless it `is_over`
    ticks: tuple[Tick, ...]
    scale: tuple[str, str, str]  # what the lines of the grid stand for, from the top
    step: str  # a point's width
    empty: str  # why there is nothing, if there is nothing
    link: str  # where the rows are listed that it counts
    is_over: bool

    @property
    def last(self) -> PlacedPoint:
        return self.points[-1]

    @property
    def first(self) -> PlacedPoint:
        return self.points[0]

    @property
    def noted(self) -> list[PlacedPoint]:
        return [point for point in self.points if point.notes]

    @property
    def inside(self) -> str:
        return _inside(self.title)

    @property
    def unit(self) -> str:
        return "Hour" if self.last.point.is_hour else "Day"


def chart(
    ident: str,
    title: str,
    points: Sequence[Point],
    series: Sequence[Series],
    *,
    empty: str,
    marks: Iterable[Mark] = (),
    link: str = "",
    is_stacked: bool = False,
    is_over: bool = False,
    write: Callable[[Number], str] = "{:,}".format,
    scale: "Scale | None" = None,
) -> Chart:
    """`ident` is unique on its page. Bars are side by side, or on top of one another with `is_stacked`; lines lie above them.
    `write` says a figure, and the lines of the grid too, unless there is a `scale`. It `is_over` if its last point isn't today
    or this hour. `empty` is shown instead where all figures are zero or None.
    """
    drawing = _Drawing(points, series, tuple(marks), is_stacked, is_over, write, scale or Scale())
    return Chart(
        ident=ident,
        title=title,
        keys=tuple(drawing.keys()),
        points=tuple(drawing.placed(number) for number in range(len(points))),
        ticks=tuple(drawing.ticks()),
        scale=drawing.grid(),
        step=_percent(drawing.step),
        empty="" if any(value for each in series for value in each.values) else empty,
        link=link,
        is_over=is_over,
    )


def nice_top(highest: Number) -> int:
    """The next round number whose half is a whole number too: 2, 4, 6, 8, 10, 12, 16, 20, 30 …"""
    for small in (2, 4, 6, 8):
        if highest <= small:
            return small
    unit = 1
    while True:
        for step in STEPS:
            if highest <= step * unit:
                return step * unit
        unit *= 10


@dataclass(frozen=True, slots=True)
class Scale:
    """How the grid's lines are written, for figures that need other words there: `write` gets a line and the top one. The top is a
    round number of `unit`s, so that half of it needs no fractions. A scale of rates is one of per cent.
    """

    write: Callable[[Number, Number], str] | None = None
    unit: int = 1
    is_rate: bool = False

    def ends(self, values: Iterable[Number], heights: Iterable[Number]) -> tuple[int, int]:
        """Where it begins and ends, for all figures, and the highest of each point."""
        if self.is_rate:
            return (HIGH if min(values, default=0) >= HIGH else 0), 100
        return 0, nice_top(_highest(heights) / self.unit) * self.unit


def _highest(heights: Iterable[Number]) -> Number:
    """That of all points, but for outliers that would press all others onto the ground."""
    known = sorted(filter(None, heights))
    others = known[: len(known) - -(-len(known) // LONE)]
    if len(others) >= OTHERS and known[-1] > OUTLIER * others[-1]:
        return others[-1]
    return known[-1] if known else 0


def line(values: Sequence[Number | None], *, width: int, height: int) -> str:
    """The path of a small line without an axis, from the lowest figure to the highest. Points without one are passed over."""
    known = [(number, value) for number, value in enumerate(values) if value is not None]
    if len(known) < 2:
        return ""
    low, high = min(value for _, value in known), max(value for _, value in known)
    step, share = (width - 2) / (len(values) - 1), (height - 2) / ((high - low) or 1)
    places = [
        f"{_shown(1 + number * step)},{_shown(height - 1 - (value - low) * share)}" for number, value in known
    ]
    return f"M{'L'.join(places)}"


def strip(counts: Sequence[tuple[int, int, int]], *, step: int) -> list[Bar]:
    """The small chart of a list, `STRIP` high: of each hour or day what succeeded, and on top of it what is retried and what failed."""
    most = max((sum(row) for row in counts), default=0)
    return [
        Bar(css, _shown(number * step), _shown(y), _shown(step - 2), _shown(height))
        for number, row in enumerate(counts)
        if any(row)
        for css, (y, height) in zip(("first", "warn", "bad"), _stack(row, most, STRIP), strict=True)
        if height
    ]


@dataclass(frozen=True)
class _Drawing:
    points: Sequence[Point]
    series: Sequence[Series]
    marks: tuple[Mark, ...]
    is_stacked: bool
    is_over: bool
    write: Callable[[Number], str]
    scale: Scale

    @cached_property
    def step(self) -> float:
        return 100 / len(self.points)

    @cached_property
    def names(self) -> list[str]:
        return [_inside(each.name) for each in self.series]

    @cached_property
    def columns(self) -> list[tuple[int, Series]]:
        """The series that are bars, each with its place among all."""
        return [(place, each) for place, each in enumerate(self.series) if not each.is_line]

    @cached_property
    def width(self) -> tuple[float, str]:
        """Of a bar, also as it is written."""
        width = self.step * FILLED / (1 if self.is_stacked else len(self.columns) or 1)
        return width, _percent(width)

    @cached_property
    def heights(self) -> list[Number]:
        """Of each point its highest line, bar or stack."""
        rows = [[each.values[number] or 0 for each in self.series] for number in range(len(self.points))]
        bars = [place for place, _ in self.columns] if self.is_stacked else []
        alone = [place for place in range(len(self.series)) if place not in bars]
        return [max(sum([row[place] for place in bars]), *[row[place] for place in alone], 0) for row in rows]

    @cached_property
    def ends(self) -> tuple[int, int]:
        known = (value for each in self.series for value in each.values if value is not None)
        return self.scale.ends(known, self.heights)

    def grid(self) -> tuple[str, str, str]:
        """What its lines stand for, from the top."""
        floor, top = self.ends
        middle: Number = (floor + top) / 2
        lines = top, int(middle) if middle == int(middle) else middle, floor
        high, half, low = (
            self.scale.write(each, top) if self.scale.write else self.write(each) for each in lines
        )
        return high, half, low

    def placed(self, number: int) -> PlacedPoint:
        point, left = self.points[number], number * self.step
        values = [each.values[number] for each in self.series]
        notes = tuple(mark.text for mark in self.marks if mark.at == point.at)
        cells = ["–" if value is None else self.write(value) for value in values]
        named = zip(self.names, cells, values, strict=True)
        said = [f"{name} {cell}" for name, cell, value in named if value is not None]
        is_above = self.heights[number] > self.ends[1]
        return PlacedPoint(
            point=point,
            cells=tuple(cells),
            notes=notes,
            summary=". ".join(
                [f"{point.name}: {', '.join(said) or 'nothing'}", *([ABOVE] if is_above else ()), *notes]
            ),
            bars=tuple(self._bars(number)),
            x=_percent(left),
            middle=_percent(left + self.step / 2),
            is_above=is_above,
        )

    def _bars(self, number: int) -> Iterator[Bar]:
        """None for zeros."""
        left = (number + (1 - FILLED) / 2) * self.step
        top: Number = self.ends[1]
        foot, width, shown_width = 100.0, *self.width
        if self.is_stacked:  # one that ends beyond the scale keeps its shares
            top = max(top, sum([each.values[number] or 0 for _, each in self.columns]))
        for column, (place, each) in enumerate(self.columns):
            if value := each.values[number]:
                height = _height(value, top, 100)
                foot = max(0.0, (foot if self.is_stacked else 100) - height)
                x = left if self.is_stacked else left + column * width
                yield Bar(
                    each.css, _percent(x), _percent(foot), shown_width, _percent(height), PATTERNS[place]
                )

    def keys(self) -> Iterator[Key]:
        for place, each in enumerate(self.series):
            total = each.total
            if total is None:
                total = "" if each.is_line else self.write(sum(value or 0 for value in each.values))
            runs = list(self._runs(each)) if each.is_line else []
            path = " ".join(f"M{'L'.join(run)}" for run in runs if len(run) > 1)
            alone = " ".join(
                f"M{run[0]}h0" for run in runs if len(run) == 1
            )  # a line of no length: its round ends
            yield Key(each.name, each.css, total, each.is_line, PATTERNS[place], path, alone)

    def _runs(self, series: Series) -> Iterator[list[str]]:
        """Places in a drawing of 100 by 100, of points without one between them of which nothing is known."""
        for is_known, run in groupby(enumerate(series.values), lambda point: point[1] is not None):
            if is_known:
                yield [
                    f"{_shown((number + 0.5) * self.step)},{_shown(self._y(value or 0))}"
                    for number, value in run
                ]

    def _y(self, value: Number) -> float:
        floor, top = self.ends
        return 100 - 100 * (min(value, top) - floor) / (top - floor)

    def ticks(self) -> Iterator[Tick]:
        """Some points by name, counted back from the last."""
        number = len(self.points)
        every = 1 if number <= WEEK else -(-number // TICKS)
        for place in sorted(range(number - 1, -1, -every)):
            point, is_last = self.points[place], place == number - 1
            is_now = is_last and not self.is_over
            text = ("Now" if point.is_hour else "Today") if is_now else point.tick
            if every == 1 and not self.is_over and not is_last and not point.is_hour:
                text = f"{point.at:%a}"  # a week's days, which have to fit on a phone
            at_edge = number > WEEK and is_last
            yield Tick(
                text=text,
                x="100%" if at_edge else _percent((place + 0.5) * self.step),
                anchor="end" if at_edge else "middle",
                is_last=is_now,
            )


def _stack(values: Sequence[Number], top: Number, height: float) -> Iterator[tuple[float, float]]:
    """Where each part of a stack begins, and its height."""
    foot = height
    for value in values:
        part = _height(value, top, height)
        foot = max(0.0, foot - part)
        yield foot, part


def _height(value: Number, top: Number, height: float) -> float:
    return min(height, max(LEAST, height * value / top)) if value else 0


def _inside(name: str) -> str:
    """A name within a sentence: `API calls` stays as it is."""
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


@lru_cache(maxsize=4096)
def _percent(number: float) -> str:
    return f"{_shown(number)}%"


@lru_cache(maxsize=4096)
def _shown(number: float) -> str:
    """Charts of the same span have the same places."""
    return f"{round(number, 3):g}"
