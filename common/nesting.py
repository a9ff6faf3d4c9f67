"""How deep a JSON document is nested, found without recursion."""

from typing import Any, Final

MAX_DEPTH: Final = (
    64  # objects and arrays inside each other; whatever walks through JSON may do so by recursion
)


def is_too_deep(written: bytes, document: Any) -> bool:
    """Whether JSON that was read from `written` is nested more than `MAX_DEPTH` levels deep."""
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
