"""For commands that go on through what passes: a platform that is deployed, and a network that comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from extension_platform_sdk.errors import ApiError, PlatformError, RateLimited

T = TypeVar("T")

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 15.0  # seconds between two tries


class Say(Protocol):
    def __call__(self, text: str, *, wait: float = 0.0) -> None: ...


def passes(error: PlatformError) -> bool:
    """Whether the same call may be answered in a while: no answer came, or 429, or one of 500 and above."""
    return not isinstance(error, ApiError) or isinstance(error, RateLimited) or error.status_code >= 500


def patiently(
    call: Callable[[], T],
    *,
    say: Say,
    wait: Callable[[float], object],
    is_over: Callable[[], bool] = lambda: False,
) -> T:
    """Return what the call does, however long it fails for what passes. Raises any other error, and each once ``is_over``."""
    pause, lost = FIRST_PAUSE, False
    while True:
        try:
            found = call()
        except PlatformError as error:
            if is_over() or not passes(error):
                raise
            if isinstance(error, RateLimited):
                pause = error.retry_after or LONGEST_PAUSE
                say(f"{error.message} Trying again in {pause:.0f} s.", wait=pause)
            elif not lost:
                lost = True
                say(f"Lost the connection ({error}). Trying again until it works.")
        else:
            if lost:
                say("The platform can be reached again.")
            return found
        wait(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
