"""Tests that depend on how fast other processes are: browsers, workers, whole demos. They may run a second time.

On a busy machine a browser or a new process may need longer than a test waits. Such a test runs again once, by itself,
and the summary says under "rerun" why the first try failed. All other tests have one try.
"""

import pytest

BOUND_TO_TIME = ("timed", "browser", "fault", "benchmark")


@pytest.hookimpl(trylast=True)  # after those that set the markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.get_closest_marker("flaky") and any(
            item.get_closest_marker(name) for name in BOUND_TO_TIME
        ):
            item.add_marker(pytest.mark.flaky(reruns=1))
