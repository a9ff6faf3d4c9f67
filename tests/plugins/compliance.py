"""Writes docs/compliance.md: which test holds which rule of the specification.

A test carries `@pytest.mark.spec("section", "rule")`, once for each rule. The matrix is rewritten by a run
of the whole suite (`make test`), which passes `--compliance docs/compliance.md`.
"""

from collections import defaultdict
from pathlib import Path

import pytest

HEAD = """# Compliance

Every rule below is held by the tests beside it; `make test` writes this page from the markers of the tests
that it collects.

"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--compliance", metavar="FILE", help="write the matrix of rules and tests to FILE")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Before the markers of the command line leave some out: a rule is held by a slow test too."""
    target = config.getoption("--compliance")
    worker = getattr(config, "workerinput", {"workerid": "gw0"})[
        "workerid"
    ]  # with workers, all of them collect
    if target and worker == "gw0":
        Path(target).write_text(matrix(items))


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
