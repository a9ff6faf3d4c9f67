"""What a figure gives."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tools.soak.run import Run

NONE: Final = "there should be some"
SLOW: Final = 4  # so many times longer may things take on a slow machine


@dataclass(frozen=True, slots=True)
class Finding:
    """A figure, and what is wrong with it; empty if nothing is."""

    name: str
    value: str
    problem: str = ""
    by_speed: bool = False  # a slow or shared machine may be the cause


Figure = Callable[[Run], Iterator[Finding]]


def none_of(name: str, wrong: Sequence[object], *, of: int | None = None, by_speed: bool = False) -> Finding:
    """A figure that has to be 0."""
    value = f"{len(wrong):,}" if of is None else f"{len(wrong):,} of {of:,}"
    return Finding(name, value, "\n    ".join(map(str, wrong[:5])), by_speed=by_speed)


def some_of(name: str, number: int, *, by_speed: bool = False) -> Finding:
    """A figure that must not be 0: nothing would be shown without it."""
    return Finding(name, f"{number:,}", "" if number else NONE, by_speed=by_speed)


def at_most(name: str, seconds: float, limit: float, *, of: str = "") -> Finding:
    """A time. On a slow machine it may be `SLOW` times the limit."""
    problem = f"more than {limit:g} s{of}" if seconds > limit else ""
    return Finding(name, f"{seconds:.2f} s", problem, by_speed=seconds <= SLOW * limit)
