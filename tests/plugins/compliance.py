"""Writes the compliance matrix: which test holds which rule of the specification.

A test carries `@pytest.mark.spec("section", "rule")`, once for each rule. `make compliance` collects the tests and
runs none: it passes `--compliance build/compliance.md`.
"""

from collections import defaultdict
from pathlib import Path

import pytest

HEAD = """# Compliance

Every rule below is held by the tests beside it; `make compliance` writes this page from the markers of the tests.

"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--compliance", metavar="FILE", help="write the matrix of rules and tests to FILE, and run nothing"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run before `-m` deselects tests: a slow test holds its rule too."""
    if target := config.getoption("--compliance"):
        file = Path(target)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(matrix(items))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run nothing for the matrix; errors of the collection are still reported as they always are."""
    return True if session.config.getoption("--compliance") and not session.testsfailed else None


def matrix(items: list[pytest.Item]) -> str:
    """The page: a table per section, sorted, with the tests that hold each rule."""
    rules: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for item in items:
        for mark in item.iter_markers("spec"):
            section, rule = mark.args
            rules[section][rule].add(item.nodeid.partition("[")[0])
    page = HEAD
    for section in sorted(rules):
        page += f"## {section}\n\n| rule | held by |\n| --- | --- |\n"
        for rule, tests in sorted(rules[section].items()):
            held_by = "<br>".join(f"`{test}`" for test in sorted(tests))
            page += f"| {rule.replace('|', '&#124;')} | {held_by} |\n"
        page += "\n"
    return page.rstrip("\n") + "\n"
