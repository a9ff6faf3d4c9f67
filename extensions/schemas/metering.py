"""A fixed amount of work for looking at a third party's schema, however it is made.

Every keyword of every subschema that is applied to a value costs a unit, and one more for each thing that it looks
through. A harmless schema with harmless values takes some thousands.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

UNITS: Final = 100_000  # about a second of one core, at most
TEXT_PER_UNIT: Final = 256  # characters that one unit matches, or that the words of an error may have

Keyword = Callable[[Any, Any, Any, Any], Any]

_left: ContextVar[int] = ContextVar("units left")


class TooMuchWork(Exception):
    """The work that a schema may cause is used up."""


@contextmanager
def metered() -> Iterator[None]:
    """What is validated inside shares one allowance. Raises `TooMuchWork` when it is used up."""
    before = _left.set(UNITS)
    try:
        yield
    finally:
        _left.reset(before)


def spend(units: int) -> None:
    left = _left.get() - units
    if left < 0:
        raise TooMuchWork
    _left.set(left)


def weight(thing: Any) -> int:
    """How much there is to look through in a value, one level deep."""
    if isinstance(thing, str):
        return len(thing) // TEXT_PER_UNIT
    return len(thing) if isinstance(thing, dict | list) else 0


def paid(keyword: Keyword) -> Keyword:
    """A keyword of the jsonschema library that pays for each use, and for the words of its errors: those quote
    the value, and an error within an error quotes it again."""

    def paying(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        spend(1 + weight(value) + weight(instance))
        for error in keyword(validator, value, instance, schema) or ():
            spend(1 + weight(error.message))
            error.message = ""
            yield error

    return paying
