"""What any JSON document must hold to before somebody looks into it, found without recursion."""

import json
import math
from typing import Any, Final

from common.errors import ErrorDetail
from extensions.schemas.paths import path_of

MAX_BYTES: Final = 64 * 1024  # of a schema (contract section 6), and of the values kept for one
MAX_NUMBER: Final = (
    2**53 - 1
)  # beyond it not every reader is exact (RFC 7493, 2.2), and far beyond ours gives up
MAX_NESTING: Final = 48  # brackets within brackets; a schema of 8 levels needs some 20

TOO_DEEP: Final = "Is nested too deeply."
TOO_LARGE: Final = f"Must be a number from -{MAX_NUMBER} to {MAX_NUMBER}."


def problems_of_json(document: Any, path: str, *, what: str) -> list[ErrorDetail]:
    """Nested too deeply, no JSON, too large, or holding what no database stores. At most one problem is told."""
    step = _bad_part(document)
    if step is not None:
        steps, message = step
        return [{"field": path_of(path, steps), "message": message}]
    if size_of(document) > MAX_BYTES:
        return [{"field": path, "message": f"{what} may be at most {MAX_BYTES // 1024} KiB as JSON."}]
    return []


def size_of(document: Any) -> int:
    """Bytes of a document as compact JSON."""
    return len(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


def is_too_large(value: Any) -> bool:
    """A float too: PostgreSQL gives 1e30 back as a whole number of 31 digits."""
    return isinstance(value, int | float) and abs(value) > MAX_NUMBER


def _bad_part(document: Any) -> tuple[tuple[str | int, ...], str] | None:
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), document)]
    while waiting:
        steps, part = waiting.pop()
        if len(steps) > MAX_NESTING:
            return (steps[:4], TOO_DEEP)
        if isinstance(part, dict):
            for name, value in part.items():
                if not isinstance(name, str) or not _can_be_stored(name):
                    return (steps, "Has a name that can't be stored.")
                waiting.append(((*steps, name), value))
        elif isinstance(part, list):
            waiting += [((*steps, place), value) for place, value in enumerate(part)]
        elif message := _bad_scalar(part):
            return (steps, message)
    return None


def _bad_scalar(value: Any) -> str:
    if isinstance(value, str):
        return "" if _can_be_stored(value) else "Holds a character that can't be stored."
    if isinstance(value, float) and not math.isfinite(value):
        return "Is not a number that JSON knows."
    if is_too_large(value):
        return TOO_LARGE
    return "" if value is None or isinstance(value, bool | int | float) else "Is not JSON."


def _can_be_stored(text: str) -> bool:
    """PostgreSQL keeps neither NUL nor half of a surrogate pair."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
