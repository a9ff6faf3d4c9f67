"""The sections *Unreleased* of CHANGELOG.md and docs/upgrading.md become those of the version."""

import datetime
import re
from pathlib import Path

CHANGELOG = "CHANGELOG.md"
UPGRADING = "docs/upgrading.md"
UNRELEASED = "## [Unreleased]\n"
NOTHING = "\n\nNothing beyond the steps above.\n"


def problems(root: Path) -> list[str]:
    """A release without changes is a mistake."""
    text = (root / CHANGELOG).read_text()
    if UNRELEASED not in text:
        return [f"{CHANGELOG} has no section [Unreleased]."]
    if "\n- " not in re.split(r"^## ", text.partition(UNRELEASED)[2], maxsplit=1, flags=re.MULTILINE)[0]:
        return [f"{CHANGELOG} names nothing under [Unreleased]."]
    return []


def date(root: Path, version: str, day: datetime.date) -> None:
    """Give both sections the version and the day."""
    changelog = root / CHANGELOG
    dated = f"{UNRELEASED}\n## [{version}] - {day:%Y-%m-%d}\n"
    changelog.write_text(changelog.read_text().replace(UNRELEASED, dated, 1))
    upgrading = root / UPGRADING
    heading, text = f"### {version} ({day.day} {day:%B %Y})", upgrading.read_text()
    if "### Unreleased" in text:
        text = text.replace("### Unreleased", heading, 1)
    else:
        text = text.replace("## Releases\n", f"## Releases\n\n{heading}{NOTHING}", 1)
    upgrading.write_text(text)
