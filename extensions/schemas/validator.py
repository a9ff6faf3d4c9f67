"""The jsonschema library for hostile schemas: a fixed amount of work, linear patterns, no references.

This library and not a faster one, because its keywords are functions that can be wrapped or replaced one by one.

Every keyword that is applied to a value costs a unit, and one more for each entry or each `TEXT_PER_UNIT` characters
that it may look at. Ordinary settings cost some thousands.
"""

import re
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from fractions import Fraction
from itertools import islice
from typing import Any, Final

import re2
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import create

from extensions.schemas.keywords import CHECKER, KEYWORDS, Schema

MAX_PATTERN: Final = 1000
PATTERN_MEMORY: Final = 512 * 1024  # bytes for one compiled pattern and its states
_UNICODE_ESCAPE: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u([0-9a-fA-F]{4})")
UNITS: Final = 100_000  # about a second of one core, at most
TEXT_PER_UNIT: Final = 256
MAX_ERRORS: Final = 1000
Keyword = Callable[[Any, Any, Any, Any], Any]
Errors = Iterator[ValidationError]
_left: ContextVar[int] = ContextVar("units left")


class TooMuchWork(Exception):
    """The work that one check may cause is used up."""


def errors_of(schema: Any, value: Any) -> list[ValidationError]:
    """The errors of a value under a resolved schema, at most 1,000. Raises `TooMuchWork`."""
    before = _left.set(UNITS)
    try:
        return list(islice(_Validator(schema, format_checker=CHECKER).iter_errors(value), MAX_ERRORS))
    finally:
        _left.reset(before)


def _spend(units: int) -> None:
    left = _left.get() - units
    if left < 0:
        raise TooMuchWork
    _left.set(left)


def _weight(thing: Any) -> int:
    """How much there is to look at in a value, one level deep."""
    if isinstance(thing, str):
        return len(thing) // TEXT_PER_UNIT
    return len(thing) if isinstance(thing, dict | list) else 0


def _paid(keyword: Keyword) -> Keyword:
    """The keyword, paying for each use, and for the message of each error, which quotes the value."""

    def paying(validator: Any, wanted: Any, value: Any, schema: Schema) -> Errors:
        _spend(1 + _weight(wanted) + _weight(value))
        for error in keyword(validator, wanted, value, schema) or ():
            _spend(1 + _weight(error.message))
            yield error

    return paying


# The library's own `required` and `additionalProperties` don't give the path of the property, `pattern` backtracks,
# `multipleOf` divides floats, and `const`, `enum` and `uniqueItems` compare without a limit.


def _required(validator: Any, names: Any, value: Any, schema: Schema) -> Errors:
    if isinstance(value, dict):
        yield from (_error_at(name) for name in names if name not in value)


def _additional_properties(validator: Any, subschema: Any, value: Any, schema: Schema) -> Errors:
    if isinstance(value, dict):
        named = schema.get("properties", {})
        for name in (each for each in value if each not in named):
            if subschema is False:
                yield _error_at(name)
            else:
                yield from validator.descend(value[name], subschema, path=name)


def _error_at(name: str) -> ValidationError:
    error = ValidationError("")
    error.path.append(name)
    return error


def _pattern(validator: Any, pattern: Any, value: Any, schema: Schema) -> Errors:
    if isinstance(value, str) and not compiled(pattern).search(value):
        yield ValidationError("")


def _const(validator: Any, wanted: Any, value: Any, schema: Schema) -> Errors:
    return _enum(validator, [wanted], value, schema)


def _enum(validator: Any, wanted: Any, value: Any, schema: Schema) -> Errors:
    if _comparable(value) not in map(_comparable, wanted):
        yield ValidationError("")


def _multiple_of(validator: Any, step: Any, value: Any, schema: Schema) -> Errors:
    """By floats, 0.07 is no multiple of 0.01."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and (Fraction(repr(value)) / Fraction(repr(step))).denominator != 1:
        yield ValidationError("")


def _unique_items(validator: Any, unique: Any, value: Any, schema: Schema) -> Errors:
    if unique and isinstance(value, list) and len(set(map(_comparable, value))) < len(value):
        yield ValidationError("")


def _comparable(value: Any) -> Any:
    """Equal and hashable for equal JSON values. 1 and 1.0 are the same number, 1 and true are not."""
    if isinstance(value, dict | list):
        _spend(len(value))
    if isinstance(value, dict):
        return frozenset((name, _comparable(each)) for name, each in value.items())
    return tuple(map(_comparable, value)) if isinstance(value, list) else (isinstance(value, bool), value)


_OWN: Final[dict[str, Keyword]] = {
    "required": _required,
    "additionalProperties": _additional_properties,
    "pattern": _pattern,
    "const": _const,
    "enum": _enum,
    "multipleOf": _multiple_of,
    "uniqueItems": _unique_items,
}
_LIBRARY: Final = {name: rule for name, rule in Draft202012Validator.VALIDATORS.items() if name in KEYWORDS}
_Validator: Final = create(
    {}, {name: _paid(rule) for name, rule in (_LIBRARY | _OWN).items() if name != "$ref"}
)


# Patterns of third parties, matched by RE2: in time that is linear in the text, whatever the pattern.
#
# JSON Schema has ECMA-262 patterns. RE2 supports those that need no backtracking: no look-ahead, look-behind
# or back-references.


class InvalidPattern(ValueError):
    """A pattern that is refused; `str()` of it says why."""


def _options() -> Any:
    options = re2.Options()
    options.max_mem = PATTERN_MEMORY
    options.log_errors = False
    return options


RE2_OPTIONS: Final = _options()


def compiled(pattern: str) -> Any:
    """Raises `InvalidPattern`. The library caches the last ones."""
    if len(pattern) > MAX_PATTERN:
        raise InvalidPattern(f"A pattern may have at most {MAX_PATTERN:,} characters.")
    try:
        return re2.compile(_UNICODE_ESCAPE.sub(r"\1\\x{\2}", pattern), RE2_OPTIONS)
    except re2.error as error:
        raise InvalidPattern(_message(error)) from None


def _message(error: Exception) -> str:
    reason = error.args[0] if error.args else b""
    return (
        "Is not a pattern that RE2 can match: look-ahead, look-behind, back-references and counts above 1,000 are not "
        f"supported. RE2 reports: {reason.decode(errors='replace')[:200]}."
    )
