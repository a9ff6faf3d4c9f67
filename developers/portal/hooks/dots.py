"""The newest calls of a hook as dots over time, against its timeout."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from extensions.enums import SKIPPED, CallOutcome
from extensions.models import HookCall

HEADROOM: Final = 1.25  # above the timeout: calls end a little later
EDGE: Final = 2  # per cent of the width that stays free on each side


@dataclass(frozen=True, slots=True)
class Dot:
    """A call that was made. `x` and `y` are in per cent of the plot."""

    call: HookCall
    x: str
    y: str

    @property
    def is_bad(self) -> bool:
        return self.call.outcome != CallOutcome.ANSWERED


@dataclass(frozen=True, slots=True)
class Dots:
    """The oldest first. `timeout_y` is the line's height."""

    dots: tuple[Dot, ...]
    timeout_y: str
    timeout: int

    @property
    def failed(self) -> int:
        return sum(each.is_bad for each in self.dots)


def dots_of(calls: Sequence[HookCall], timeout: int) -> Dots | None:
    """None without a call that was made: a skipped one took no time."""
    made = sorted((each for each in calls if each.outcome not in SKIPPED), key=lambda each: each.called_at)
    if not made:
        return None
    top = max(timeout, *(each.duration_ms for each in made)) * HEADROOM
    first, last = made[0].called_at, made[-1].called_at
    span = (last - first).total_seconds() or 1.0
    return Dots(
        tuple(
            Dot(
                each,
                _percent(EDGE + (100 - 2 * EDGE) * (each.called_at - first).total_seconds() / span),
                _percent(100 - 100 * each.duration_ms / top),
            )
            for each in made
        ),
        _percent(100 - 100 * timeout / top),
        timeout,
    )


def _percent(number: float) -> str:
    return f"{round(number, 2):g}%"
