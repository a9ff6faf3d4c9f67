"""Helpers have modules of their own: no test imports from another test, or from a `conftest`."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent
IMPORT = re.compile(r"^\s*(?:from|import) (tests\.(?:\w+\.)*(?:test_\w+|conftest))\b", re.MULTILINE)


def test_nothing_is_imported_from_a_test_or_a_conftest() -> None:
    found = {
        f"{path.relative_to(FOLDER)}: {module}"
        for path in FOLDER.rglob("*.py")
        for module in IMPORT.findall(path.read_text())
    }
    assert not found
    assert IMPORT.findall("from tests.webhooks.test_audit import x") == ["tests.webhooks.test_audit"]
