"""Patterns of third parties, matched by RE2: in time that is linear in the text, whatever the pattern.

JSON Schema has ECMA-262 patterns. RE2 supports those that need no backtracking: no look-ahead, look-behind or
back-references.
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
    """Raises `InvalidPattern`. The library caches the last ones."""
    if len(pattern) > MAX_LENGTH:
        raise InvalidPattern(f"A pattern may have at most {MAX_LENGTH:,} characters.")
    try:
        return re2.compile(_UNICODE_ESCAPE.sub(r"\1\\x{\2}", pattern), OPTIONS)
    except re2.error as error:
        raise InvalidPattern(_message(error)) from None


def _message(error: Exception) -> str:
    reason = error.args[0] if error.args else b""
    return (
        "Is not a pattern that RE2 can match: look-ahead, look-behind, back-references and counts above 1,000 are not "
        f"supported. RE2 reports: {reason.decode(errors='replace')[:200]}."
    )
