"""Limits the nesting of JSON documents, without recursion."""

from typing import Any, Final

MAX_DEPTH: Final = 64  # levels of objects and arrays, so that code that walks through JSON may recurse


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
