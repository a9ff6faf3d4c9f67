"""The audit of our packages: a vulnerability fails it, a source that doesn't answer is named and fails nothing."""

from typing import Any

import pytest

from tools import audit

CLEAN = {"name": "django", "version": "5.2.19", "vulns": []}
VULNERABLE = {"name": "requests", "version": "2.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.34.0"]}]}
UNKNOWN = {"name": "waitress", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    ("answers", "status", "words"),
    [
        ({"pypi": [CLEAN]}, 0, "1 of 1 packages audited with PyPI: 0 vulnerable."),
        ({"pypi": [CLEAN, VULNERABLE]}, 1, "requests 2.0: PYSEC-1, fixed in 2.34.0"),
        ({"pypi": [UNKNOWN], "osv": [VULNERABLE]}, 1, "audited with OSV.dev: 1 vulnerable."),
        ({"pypi": [CLEAN, UNKNOWN]}, 0, "NOT AUDITED, since PyPI doesn't know them: waitress"),
        ({"pypi": [UNKNOWN]}, 0, "NOT AUDITED: neither PyPI nor OSV.dev answers here"),
        ({}, 0, "NOT AUDITED: neither PyPI nor OSV.dev answers here"),
    ],
)
def test_audit_says_what_it_knows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answers: Any, status: int, words: str
) -> None:
    monkeypatch.setattr(
        audit, "ask", lambda service: {"dependencies": answers[service]} if service in answers else None
    )
    assert audit.main() == status
    assert words in capsys.readouterr().out
