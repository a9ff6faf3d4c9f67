"""docs/security.md: each threat names the tests that stand for it, and they exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    row
    for row in (ROOT / "docs" / "security.md").read_text().splitlines()
    if row.startswith("| ") and "`tests/" in row
]
TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


@cache
def functions_in(path: str) -> set[str]:
    source = ROOT / path
    if not source.is_file():
        return set()
    return {
        node.name for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.FunctionDef)
    }


@pytest.mark.long
@pytest.mark.parametrize("row", ROWS, ids=[row.split("|")[1].strip()[:60] for row in ROWS])
def test_threat_names_tests_that_exist(row: str) -> None:
    for path, name in TEST.findall(row):
        assert functions_in(path), f"{path} is not there"
        assert not name or name in functions_in(path), f"{path} has no {name}"


def test_every_threat_has_a_test() -> None:
    tables = (
        (ROOT / "docs" / "security.md").read_text().partition("## Threats")[2].partition("## Accepted")[0]
    )
    threats = [line for line in tables.splitlines() if line.startswith("| ")]
    headings = [line for line in threats if line.startswith(("| threat", "| ---"))]
    assert len(threats) - len(headings) == len([row for row in threats if TEST.search(row)]) >= 40


def test_every_attack_is_in_the_document() -> None:
    """An attack without a threat has no reader who knows what it is for."""
    text = "\n".join(ROWS)
    for file in sorted((ROOT / "tests" / "security").glob("test_*.py")):
        if file.name != Path(__file__).name:
            path = str(file.relative_to(ROOT))
            missing = [
                name
                for name in functions_in(path)
                if name.startswith("test_") and f"`{path}::{name}`" not in text
            ]
            assert missing == [], path
