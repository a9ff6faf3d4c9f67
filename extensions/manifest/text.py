"""A manifest as text: reading it, writing it, and the place of each problem in it.

The server finds the places: the editor shows them with and without JavaScript.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

from common import places
from common.places import Work
from common.text.nesting import has_too_many_values
from extensions.json_documents import path_of
from extensions.manifest.problems import MAX_BYTES, MAX_DEPTH, MAX_PROBLEMS, Problem, every_problem, too_many

MAX_TEXT: Final = 4 * MAX_BYTES  # bytes; indented, a manifest is longer than without white space
SHORT: Final = 32 * 1024  # characters, which are read within a tenth of a second
_MARK: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]|[^\s{}\[\],:"]+')
_LAST_STEP: Final = re.compile(r'(?:\.[^.\[\]]+|\[\d+\]|\["[^"\\]*+(?:\\.[^"\\]*+)*+"\])$')


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Offsets in the text, counted in characters: of a value, and of its key if it has one."""

    start: int
    end: int
    key: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Located:
    """A problem and its place. `line` and `column` count from 1."""

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
    """Text that somebody typed in, with everything that is wrong with it. Raises `places.Busy`."""
    if not text.strip():
        return _unreadable(text, 0, "Enter a JSON object. An app without extensions has {}.")
    encoded = text.encode(errors="surrogatepass")
    if len(encoded) > MAX_TEXT or has_too_many_values(encoded):
        return _unreadable("", 0, f"The text is too long. A manifest may have {MAX_BYTES:,} bytes.")
    _take_place(text)
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return _unreadable(text, error.pos, f"This is not JSON: {error.msg}.")
    found = every_problem(document)
    scan = _Scan(text, (each.path for each in found[:MAX_PROBLEMS]))
    lines = _Lines(text)
    located = [lines.located(each, *at) for each, at in scan.repeated]
    located += [
        lines.located(each, *_span(scan.spans, each)) for each in found[: MAX_PROBLEMS - len(located)]
    ]
    located.sort(key=lambda each: each.start)
    total = len(found) + scan.repeated_count
    if total > MAX_PROBLEMS:
        located.append(lines.located(too_many(total), 0, 1))
    return Reading(document if isinstance(document, dict) else None, located, total)


def written(document: Any) -> str:
    """For people to read and edit."""
    return json.dumps(document, ensure_ascii=False, indent=2)


def repeated_keys(text: str) -> list[Problem]:
    """Keys that an object of a valid JSON text has twice, of which a JSON reader keeps only one. Raises `places.Busy`."""
    _take_place(text)
    scan = _Scan(text)
    found = [problem for problem, _ in scan.repeated]
    return found if scan.repeated_count <= MAX_PROBLEMS else [*found, too_many(scan.repeated_count)]


def _take_place(text: str) -> None:
    if len(text) > SHORT:
        places.require(Work.MANIFEST)


@dataclass(slots=True)
class _Container:
    """An object or array that is being read. `names` is None in an array, `name` None before an object's next key."""

    path: str | None
    start: int
    key: tuple[int, int] | None
    names: set[str] | None
    index: int = 0
    name: str | None = None
    name_at: tuple[int, int] | None = None

    @property
    def step(self) -> str | int:
        """To the value that is being read."""
        return self.index if self.name is None else self.name


class _Scan:
    """One pass over a valid JSON text, without recursion.

    `spans` are those of the given paths and of what holds them: the paths of all values can be far longer than the
    text. `repeated` are the first `MAX_PROBLEMS` keys that one object has twice, at the offsets of the later one.
    """

    def __init__(self, text: str, paths: Iterable[str] = ()) -> None:
        self.spans: dict[str, TextSpan] = {}
        self.repeated: list[tuple[Problem, tuple[int, int]]] = []
        self.repeated_count = 0
        self._wanted = {each for path in paths for each in (path, *_holders(path))}
        self._open: list[_Container] = []
        for match in _MARK.finditer(text):
            self._read(match[0], *match.span())

    def _read(self, mark: str, start: int, end: int) -> None:
        inside = self._open[-1] if self._open else None
        if inside and mark in "}]":
            self._keep(self._open.pop(), end)
        elif inside and mark == ",":
            inside.index, inside.name = inside.index + 1, None
        elif inside and inside.names is not None and inside.name is None:
            self._read_name(inside, inside.names, json.loads(mark), (start, end))
        elif mark != ":":
            value = self._begin(inside, start, set() if mark == "{" else None)
            if mark in "{[":
                self._open.append(value)
            else:
                self._keep(value, end)

    def _begin(self, inside: _Container | None, start: int, names: set[str] | None) -> _Container:
        if inside is None:
            return _Container("", start, None, names)
        path = None if inside.path is None else path_of(inside.path, [inside.step])
        return _Container(path if path in self._wanted else None, start, inside.name_at, names)

    def _keep(self, value: _Container, end: int) -> None:
        if value.path is not None:
            self.spans[value.path] = TextSpan(value.start, end, value.key)

    def _read_name(self, inside: _Container, names: set[str], name: str, at: tuple[int, int]) -> None:
        inside.name, inside.name_at = name, at
        if name in names:
            self.repeated_count += 1
            if self.repeated_count <= MAX_PROBLEMS:
                path = path_of("", [each.step for each in self._open[:MAX_DEPTH]])
                self.repeated.append(
                    (Problem(path, "Is in this object twice. Keep one of them.", of_key=True), at)
                )
        names.add(name)


class _Lines:
    """Lines and columns of offsets in a text."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def located(self, problem: Problem, start: int, end: int) -> Located:
        line = bisect_right(self.starts, start)
        return Located(problem, line, start - self.starts[line - 1] + 1, start, end)


def _span(spans: dict[str, TextSpan], problem: Problem) -> tuple[int, int]:
    """Of its path, or the beginning of what should hold it."""
    if span := spans.get(problem.path):
        return span.key if problem.of_key and span.key else (span.start, span.end)
    holder = next((spans[each] for each in _holders(problem.path) if each in spans), TextSpan(0, 1))
    return holder.start, min(holder.start + 1, holder.end)


def _holders(path: str) -> Iterator[str]:
    """The paths of what holds it, the nearest first; the whole document's is empty."""
    while path:
        shorter = _LAST_STEP.sub("", path)
        path = shorter if shorter != path else ""
        yield path


def _unreadable(text: str, offset: int, message: str) -> Reading:
    end = min(offset + 1, len(text))
    return Reading(None, [_Lines(text).located(Problem("", message), offset, end)], 1)
