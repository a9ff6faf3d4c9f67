"""A manifest as text: reading it, writing it, and where in it each path stands."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from extensions.manifest.problems import MAX_BYTES, MAX_DEPTH, MAX_PROBLEMS, Problem, every_problem, too_many
from extensions.schemas.paths import path_of

MAX_TEXT: Final = 4 * MAX_BYTES  # bytes; indented, a manifest is longer than without white space
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_LEVEL_OF: Final = re.compile(r'(?:\.[^.\[\]]+|\[\d+\]|\["(?:[^"\\]|\\.)*"\])$')


@dataclass(frozen=True, slots=True)
class Place:
    """Offsets in the text, counted in characters: of a value, and of its key where it has one."""

    start: int
    end: int
    key: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Located:
    """A problem and where it stands. `line` and `column` count from 1."""

    problem: Problem
    line: int
    column: int
    start: int
    end: int

    @property
    def fix(self) -> str | None:
        """What to write there instead."""
        suggestion = self.problem.suggestion
        return None if suggestion is None else json.dumps(suggestion, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Reading:
    """`document` is None where the text is no JSON object; without problems it can be saved. `problems` are the first
    of `total`, and then one that says so."""

    document: dict[str, Any] | None
    problems: list[Located]
    total: int


def read(text: str) -> Reading:
    """Text that somebody typed in, with everything that is wrong with it."""
    if not text.strip():
        return _unreadable(text, 0, "Enter a JSON object. An app without extensions has {}.")
    if len(text.encode(errors="surrogatepass")) > MAX_TEXT:
        return _unreadable("", 0, f"The text is too long. A manifest may have {MAX_BYTES:,} bytes.")
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return _unreadable(text, error.pos, f"This is not JSON: {error.msg}.")
    found = every_problem(document)
    repeated, places = places_in(text, (each.path for each in found[:MAX_PROBLEMS]))
    lines = _Lines(text)
    located = [lines.located(each, *span) for each, span in repeated.told]
    located += [lines.located(each, *_span(places, each)) for each in found[: MAX_PROBLEMS - len(located)]]
    located.sort(key=lambda each: each.start)
    total = len(found) + repeated.count
    if total > MAX_PROBLEMS:
        located.append(lines.located(too_many(total), 0, 1))
    return Reading(document if isinstance(document, dict) else None, located, total)


def written(document: Any) -> str:
    """For people to read and edit."""
    return json.dumps(document, ensure_ascii=False, indent=2)


def repeated_keys(text: str) -> list[Problem]:
    """Keys that an object has twice, of which a reader of JSON keeps only one. The text is valid JSON."""
    repeated, _ = places_in(text, ())
    told = [problem for problem, _ in repeated.told]
    return told if repeated.count <= MAX_PROBLEMS else [*told, too_many(repeated.count)]


@dataclass(slots=True)
class Repeated:
    """How many keys are repeated, and the first of them with the offsets of the later key."""

    count: int = 0
    told: list[tuple[Problem, tuple[int, int]]] = field(default_factory=list)


def places_in(text: str, paths: Iterable[str]) -> tuple[Repeated, dict[str, Place]]:
    """The repeated keys of a valid JSON text, and where these paths and what holds them stand. Without recursion."""
    scanner = _Scanner(paths)
    places = {path: place for path, place in scanner.values(text) if path is not None}
    return scanner.repeated, places


@dataclass(slots=True)
class _Level:
    """An object or array that is being read. `path` is None where nothing below it is looked for."""

    path: str | None
    start: int
    key: tuple[int, int] | None
    in_object: bool
    index: int = 0
    name: str | None = None
    name_at: tuple[int, int] | None = None
    names: set[str] = field(default_factory=set)

    @property
    def step(self) -> str | int:
        """To the value that is being read."""
        return self.index if self.name is None else self.name


class _Scanner:
    """Makes the paths that are looked for and no others: those of all values can be far longer than the text."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.open: list[_Level] = []
        self.repeated = Repeated()
        self.holders = {above for path in paths for above in _all_above(path)}

    def values(self, text: str) -> Iterator[tuple[str | None, Place]]:
        """Each value when it ends, inner ones first."""
        for match in _TOKEN.finditer(text):
            written, (start, end) = match[0], match.span()
            if written in "{[":
                path, key = self._next()
                self.open.append(_Level(path, start, key, in_object=written == "{"))
            elif written in "}]":
                level = self.open.pop()
                yield level.path, Place(level.start, end, level.key)
            elif written == ",":
                self.open[-1].index += 1
                self.open[-1].name = None
            elif written != ":" and self._awaits_name():
                self._name(json.loads(written), (start, end))
            elif written != ":":
                path, key = self._next()
                yield path, Place(start, end, key)

    def _awaits_name(self) -> bool:
        return bool(self.open) and self.open[-1].in_object and self.open[-1].name is None

    def _name(self, name: str, at: tuple[int, int]) -> None:
        level = self.open[-1]
        level.name, level.name_at = name, at
        if name in level.names:
            self.repeated.count += 1
            if self.repeated.count <= MAX_PROBLEMS:
                path = path_of("", [each.step for each in self.open[:MAX_DEPTH]])
                problem = Problem(path, "Stands here twice. Keep one of them.", of_key=True)
                self.repeated.told.append((problem, at))
        level.names.add(name)

    def _next(self) -> tuple[str | None, tuple[int, int] | None]:
        """Path and key of the value that begins."""
        if not self.open:
            return "", None
        level = self.open[-1]
        is_wanted = level.path is not None and level.path in self.holders
        path = path_of(level.path or "", [level.step]) if is_wanted else None
        return path, level.name_at if level.in_object else None


class _Lines:
    """Lines and columns of offsets in a text."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def located(self, problem: Problem, start: int, end: int) -> Located:
        line = bisect_right(self.starts, start)
        return Located(problem, line, start - self.starts[line - 1] + 1, start, end)


def _span(places: dict[str, Place], problem: Problem) -> tuple[int, int]:
    """Of its path, or the beginning of what should hold it."""
    place = places.get(problem.path)
    if place is not None:
        return place.key if problem.of_key and place.key else (place.start, place.end)
    holder = next((places[each] for each in _all_above(problem.path) if each in places), Place(0, 1))
    return holder.start, min(holder.start + 1, holder.end)


def _all_above(path: str) -> Iterator[str]:
    """The paths of what holds it, the nearest first; the whole document's is empty."""
    while path:
        shorter = _LEVEL_OF.sub("", path)
        path = shorter if shorter != path else ""
        yield path


def _unreadable(text: str, offset: int, message: str) -> Reading:
    end = min(offset + 1, len(text))
    return Reading(None, [_Lines(text).located(Problem("", message), offset, end)], 1)
