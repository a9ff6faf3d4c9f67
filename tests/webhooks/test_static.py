"""What must not be written in the delivery package (docs/decisions/0004)."""

import re
from pathlib import Path

import webhooks

FORBIDDEN = re.compile(r"\b(eta|countdown)\b\s*=|\.retry\(|\bautoretry_for\b|\backs_late\b", re.IGNORECASE)


def test_deliveries_leave_no_time_to_celery() -> None:
    package = Path(webhooks.__file__).parent
    sources = list(package.rglob("*.py"))
    assert len(sources) > 10
    assert [path.name for path in sources if FORBIDDEN.search(path.read_text())] == []
