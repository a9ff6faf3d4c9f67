"""Patterns of third parties, matched by RE2: in time that is linear in the text, whatever the pattern.

JSON Schema takes ECMA-262 patterns. RE2 knows all of these that need no backtracking: not look-ahead, look-behind
and back-references.
"""

import re
from typing import Any, Final

import re2

MAX_LENGTH: Final = 1000
MAX_MEMORY: Final = 512 * 1024  # bytes for one compiled pattern and its states

_UNICODE_ESCAPE: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u([0-9a-fA-F]{4})")


class InvalidPattern(ValueError):
    """A pattern that is refused; `str()` of it says why."""


def _options() -> Any:
    options = re2.Options()
    options.max_mem = MAX_MEMORY
    options.log_errors = False
    return options


OPTIONS: Final = _options()


def compiled(pattern: str) -> Any:
    """Raises `InvalidPattern`. The library remembers the last ones."""
    if len(pattern) > MAX_LENGTH:
        raise InvalidPattern(f"A pattern may have at most {MAX_LENGTH:,} characters.")
    try:
        return re2.compile(_UNICODE_ESCAPE.sub(r"\1\\x{\2}", pattern), OPTIONS)
    except re2.error as error:
        raise InvalidPattern(_words(error)) from None


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text, as JSON Schema means it."""
    return compiled(pattern).search(text) is not None


def _words(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    if isinstance(reason, bytes):
        reason = reason.decode(errors="replace")
    return (
        "Is not a pattern that can be matched in linear time, without look-ahead, look-behind, back-references "
        f"and counts above 1,000: {reason[:200]}."
    )
