"""A manifest as text: reading it, writing it, and where in it each path stands."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from extensions.manifest.problems import MAX_BYTES, Problem, find_problems
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
    """`document` is None where the text is no JSON object; without problems it can be saved."""

    document: dict[str, Any] | None
    problems: list[Located] = field(default_factory=list)


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
    places, repeated = places_in(text)
    found = [*repeated, *find_problems(document)]
    located = sorted((_located(text, places, each) for each in found), key=lambda each: each.start)
    return Reading(document if isinstance(document, dict) else None, located)


def written(document: Any) -> str:
    """For people to read and edit."""
    return json.dumps(document, ensure_ascii=False, indent=2)


def repeated_keys(text: str) -> list[Problem]:
    """Keys that an object has twice, of which a reader of JSON keeps only one. The text is valid JSON."""
    return places_in(text)[1]


def places_in(text: str) -> tuple[dict[str, Place], list[Problem]]:
    """Where each path of a valid JSON text stands, and the keys that are repeated. Without recursion."""
    places: dict[str, Place] = {}
    repeated: list[Problem] = []
    for path, place in _Scanner().values(text):
        if path in places and place.key is not None:
            repeated.append(Problem(path, "Stands here twice. Keep one of them.", of_key=True))
        places[path] = place
    return places, repeated


@dataclass(slots=True)
class _Level:
    """An object or array that is being read."""

    path: str
    start: int
    key: tuple[int, int] | None
    in_object: bool
    index: int = 0
    name: str | None = None
    name_at: tuple[int, int] | None = None


class _Scanner:
    def __init__(self) -> None:
        self.open: list[_Level] = []

    def values(self, text: str) -> Iterator[tuple[str, Place]]:
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
                self.open[-1].name, self.open[-1].name_at = json.loads(written), (start, end)
            elif written != ":":
                path, key = self._next()
                yield path, Place(start, end, key)

    def _awaits_name(self) -> bool:
        return bool(self.open) and self.open[-1].in_object and self.open[-1].name is None

    def _next(self) -> tuple[str, tuple[int, int] | None]:
        """Path and key of the value that begins."""
        if not self.open:
            return "", None
        level = self.open[-1]
        if level.in_object and level.name is not None:
            return path_of(level.path, [level.name]), level.name_at
        return path_of(level.path, [level.index]), None


def _located(text: str, places: dict[str, Place], problem: Problem) -> Located:
    """At its path, or at the beginning of what should hold it."""
    place = places.get(problem.path)
    if place is not None:
        start, end = place.key if problem.of_key and place.key else (place.start, place.end)
    else:
        outer = problem.path
        while outer and outer not in places:
            shorter = _LEVEL_OF.sub("", outer)
            outer = shorter if shorter != outer else ""
        place = places.get(outer, Place(0, 1))
        start, end = place.start, min(place.start + 1, place.end)
    return Located(problem, *_line_and_column(text, start), start, end)


def _line_and_column(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _unreadable(text: str, offset: int, message: str) -> Reading:
    line, column = _line_and_column(text, offset)
    return Reading(None, [Located(Problem("", message), line, column, offset, min(offset + 1, len(text)))])
