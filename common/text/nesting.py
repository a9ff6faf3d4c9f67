"""Limits what JSON documents of strangers cost: their nesting, the number of their values, their indentation.

A value of two bytes takes up to a hundred times as much once it is read, so the bytes of a text don't bound its memory.
"""

import json
import re
from itertools import islice
from typing import Any, Final

MAX_DEPTH: Final = 64  # levels of objects and arrays, so that code that walks through JSON may recurse
MAX_VALUES: Final = 50_000

_INDENTED: Final = json.JSONEncoder(indent=2, ensure_ascii=False)
# A text never fails once it has begun, so one that doesn't end isn't searched again and again.
_TEXT_OR_SEPARATOR: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|([,\[{])', re.DOTALL)


def has_too_many_values(written: bytes) -> bool:
    """Whether a JSON text has more than `MAX_VALUES`. Call it before the text is read.

    There is a separator before each value but the outermost, except that `[` and `{` may have none inside.
    """
    if sum(map(written.count, (b",", b"[", b"{"))) <= MAX_VALUES:
        return False
    separators = (found for found in _TEXT_OR_SEPARATOR.finditer(written) if found[1])
    return next(islice(separators, MAX_VALUES, None), None) is not None


def is_too_deep(written: bytes, document: Any) -> bool:
    """Whether a document, read from the JSON text `written`, has more than `MAX_DEPTH` levels."""
    return written.count(b"{") + written.count(b"[") > MAX_DEPTH and _is_deeper(document, MAX_DEPTH)


def _is_deeper(document: Any, limit: int) -> bool:
    """Level by level."""
    level = [document]
    for _ in range(limit + 1):
        nested = [each for each in level if isinstance(each, dict | list)]
        if not nested:
            return False
        level = [inner for each in nested for inner in (each.values() if isinstance(each, dict) else each)]
    return True


def indented(text: str) -> str:
    """JSON with line breaks; the text itself if it isn't JSON, or so nested that it would be more than four times as long."""
    room, pieces = 4 * len(text) + 4096, []
    try:
        for piece in _INDENTED.iterencode(json.loads(text)):
            room -= len(piece)
            if room < 0:
                return text
            pieces.append(piece)
    except (ValueError, RecursionError):
        return text
    return "".join(pieces)
