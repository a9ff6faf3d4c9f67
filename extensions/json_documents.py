"""JSON from third parties: limits that hold before anything looks into it, paths such as `blocks[2].renderUrl`, and "Did you mean …?", the known
word closest to a misspelt one.
"""

import json
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Final

from common.errors import ErrorDetail

MAX_BYTES: Final = 64 * 1024  # of a settings schema (contract, section 6), and of the values of one
MAX_NESTING: Final = 48  # objects and arrays inside each other; a schema of 8 levels needs some 20
MAX_NUMBER: Final = 2**53 - 1  # beyond it JSON readers differ (RFC 7493, section 2.2)
MAX_NAME: Final = 100  # characters of a name that a path shows

_PLAIN_NAME: Final = re.compile(rf"[A-Za-z_$][\w$-]{{0,{MAX_NAME - 1}}}")
_NOT_STORED: Final = re.compile("[\x00\ud800-\udfff]")  # PostgreSQL refuses both

Steps = tuple[str | int, ...]


def path_of(base: str, steps: Iterable[str | int]) -> str:
    """`base` and the steps below it: names after a dot, positions and other names in brackets."""
    path = base
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif _PLAIN_NAME.fullmatch(step):
            path += f".{step}" if path else step
        else:
            path += f"[{json.dumps(step[:MAX_NAME], ensure_ascii=False)}]"
    return path


def problems_of_json(
    document: Any, path: str, *, what: str, most: int = MAX_BYTES, nesting: int = MAX_NESTING
) -> list[ErrorDetail]:
    """At most one problem: nested more than `nesting` levels, over `most` bytes as compact JSON, or not storable.

    Works without recursion. `what` begins the sentence about the size.
    """
    waiting: list[tuple[Steps, Any]] = [((), document)]
    while waiting:
        steps, part = waiting.pop()
        if len(steps) > nesting:
            return [
                {"field": path_of(path, steps[:4]), "message": f"Is nested more than {nesting} levels deep."}
            ]
        if message := _problem_of(part):
            return [{"field": path_of(path, steps), "message": message}]
        inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        waiting += [((*steps, step), value) for step, value in inner]
    size = len(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())
    if size > most:
        return [
            {
                "field": path,
                "message": f"{what} is {size:,} bytes as JSON; at most {most:,} ({most // 1024} KiB) are allowed.",
            }
        ]
    return []


def _problem_of(part: Any) -> str:
    """What is wrong with one value, without those inside it; with an object, of its names."""
    match part:
        case dict():
            fit = all(isinstance(name, str) and not _NOT_STORED.search(name) for name in part)
            return (
                ""
                if fit
                else "Has a key with a character that can't be stored (NUL or half a surrogate pair)."
            )
        case str():
            return (
                "Contains a character that can't be stored (NUL or half a surrogate pair)."
                if _NOT_STORED.search(part)
                else ""
            )
        case int() | float():
            return "" if abs(part) <= MAX_NUMBER else f"Must be a number from -{MAX_NUMBER} to {MAX_NUMBER}."
        case list() | None:
            return ""
    return "Is not JSON."


MAX_LENGTH: Final = 60  # characters; no known word is longer, and comparing takes time


def closest(word: str, known: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """The closest of the known words, which differ in more than case. `likeness` is at most 1."""
    if len(word) > MAX_LENGTH:
        return None
    by_small = {each.lower(): each for each in known}
    found = get_close_matches(word.lower(), by_small, n=1, cutoff=likeness)
    return by_small[found[0]] if found else None


def quoted(text: str) -> str:
    """As JSON, shortened if long."""
    return json.dumps(text if len(text) <= MAX_LENGTH else text[:MAX_LENGTH] + "…", ensure_ascii=False)
