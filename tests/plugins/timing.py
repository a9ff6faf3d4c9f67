"""Tests that depend on how fast other processes are: browsers, workers, whole demos. One that waited in vain runs once more.

On a busy machine a browser or a new process may need longer than a test waits. Only such a wait is a reason to run it again: what
was lost, doubled, badly signed or over a limit fails at the first try. The summary counts the tests that ran again and names them,
with the first try's traceback. All other tests have one try.
"""

import traceback
from typing import Any

import pytest

from tests.waiting import TimedOut

BOUND_TO_TIME = ("timed", "browser", "fault", "benchmark")


def waited_in_vain(error: BaseException | None) -> bool:
    """Whether `wait_until`, an action of Playwright or its `expect`, a plain AssertionError, ran out of time."""
    if error is None or isinstance(error, TimedOut):
        return error is not None
    if isinstance(error, AssertionError):
        *_, (innermost, _) = traceback.walk_tb(error.__traceback__)
        return _is_of_playwright(innermost.f_globals.get("__name__", ""))
    return type(error).__name__ == "TimeoutError" and _is_of_playwright(type(error).__module__)


def _is_of_playwright(module: str) -> bool:
    return module.partition(".")[0] == "playwright"


@pytest.hookimpl(trylast=True)  # after those that set the markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.get_closest_marker("flaky") and any(
            item.get_closest_marker(name) for name in BOUND_TO_TIME
        ):
            item.add_marker(pytest.mark.flaky(reruns=1, condition=waited_in_vain))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    again = [report.nodeid for report in terminalreporter.getreports("rerun")]
    if again:
        terminalreporter.write_line(f"Waited in vain, and ran again: {len(again)} ({', '.join(again)})")
