"""With `noticed.py`, pytest collects the tests that are to notice mutants, and runs only the test of each mutant."""

import os
from typing import Any

import pytest

from tests.mutants.plan import FOUND, TESTS


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    of_mutants = [each for each in items if each.path.name == "noticed.py"]
    if of_mutants:
        config.stash[TESTS] = {each.nodeid: each for each in items if each not in of_mutants[:1]}
        items[:] = of_mutants


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Each mutant that is found is in a file at once, for a run that is ended before its summary."""
    for name, key in report.user_properties:
        if report.when == "call" and name == "unnoticed" and "PYTEST_XDIST_WORKER" not in os.environ:
            with FOUND.open("a") as file:
                file.write(f"{key}\n")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """A line for each mutant that no test noticed."""
    if config.getoption("tbstyle") == "no":
        for report in terminalreporter.getreports("failed"):
            terminalreporter.write_line(report.longreprtext)
