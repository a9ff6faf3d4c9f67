"""The parts of CHANGELOG.md that concern developers of apps, by release.

A release begins with `## [1.2.0] - 2026-11-22`. Below it, sections such as `### Added for apps` are shown, and lines under a bold
heading of `FOR_DEVELOPERS`. All other lines are for people who run or use the platform.
"""

import re
from dataclasses import dataclass
from datetime import date
from functools import cache

from django.conf import settings
from django.utils.safestring import SafeString

from developers.docs.guides import rendered

FOR_DEVELOPERS = (
    "Apps and reviews",
    "Installing",
    "The app API and webhooks",
    "Extensions in stores",
    "For app authors",
)
_RELEASE = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<day>\d{4}-\d\d-\d\d))?$", re.MULTILINE)
_KIND = re.compile(r"^### (.+)$", re.MULTILINE)
_GROUP = re.compile(r"^\*\*(.+)\*\*$", re.MULTILINE)
_PATH = re.compile(r"\(?docs/([\w-]+)\.md\)?")


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    title: str
    html: SafeString
    text: str


@dataclass(frozen=True, slots=True)
class ChangelogRelease:
    version: str
    day: date | None  # None for what is not released yet
    groups: list[ChangeGroup]

    @property
    def ident(self) -> str:
        return f"v{self.version.replace('.', '-')}" if self.day else "unreleased"

    @property
    def title(self) -> str:
        return f"Version {self.version}" if self.day else "Not yet released"


@cache
def releases() -> list[ChangelogRelease]:
    """Newest first; only those that changed something for developers."""
    found = [
        ChangelogRelease(
            match["version"], date.fromisoformat(match["day"]) if match["day"] else None, _groups(body)
        )
        for match, body in _split(_RELEASE, (settings.BASE_DIR / "CHANGELOG.md").read_text())
    ]
    return [release for release in found if release.groups]


def _groups(body: str) -> list[ChangeGroup]:
    found = []
    for kind, below in _split(_KIND, body):
        if kind[1].endswith(" for apps"):
            found.append(ChangeGroup(kind[1], _html(below), " ".join(below.split())))
        for group, text in _split(_GROUP, below):
            if group[1] in FOR_DEVELOPERS:
                found.append(
                    ChangeGroup(f"{group[1]}: {kind[1].lower()}", _html(text), " ".join(text.split()))
                )
    return found


def _html(text: str) -> SafeString:
    return rendered(_PATH.sub(r"[\1](\1.md)", text)).html


def _split(pattern: re.Pattern[str], text: str) -> list[tuple[re.Match[str], str]]:
    """Each match with the text up to the next one."""
    matches = list(pattern.finditer(text))
    ends = [*(match.start() for match in matches), len(text)]
    return [(match, text[match.end() : end].strip()) for match, end in zip(matches, ends[1:], strict=True)]
