"""Whether a release can begin."""

import re
from pathlib import Path

from tools.contract_changes import newest
from tools.release import notes
from tools.release.git import git

SHAPE = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


def problems(root: Path, version: str) -> list[str]:
    """Sentences; none if it can."""
    return [*_of_version(root, version), *_of_tree(root), *notes.problems(root)]


def _of_version(root: Path, version: str) -> list[str]:
    before = newest(root / "docs" / "contract").removeprefix("v")
    allowed = following(before)
    if not SHAPE.fullmatch(version) or version not in allowed:
        return [
            f"The version {version!r} can't follow {before}, the last that was recorded: use {', '.join(allowed)}."
        ]
    if git(root, "tag", "--list", f"v{version}"):
        return [f"The tag v{version} exists already, and a tag never moves."]
    return []


def following(version: str) -> list[str]:
    """The versions that may come next."""
    major, minor, patch = map(int, version.split("."))
    return [f"{major}.{minor}.{patch + 1}", f"{major}.{minor + 1}.0", f"{major + 1}.0.0"]


def _of_tree(root: Path) -> list[str]:
    found = []
    branch = git(root, "branch", "--show-current")
    if branch != "main":
        found.append(f"Releases are made on main, not on {branch or 'a detached commit'}.")
    if changed := git(root, "status", "--porcelain"):
        found.append(f"The tree has changes that aren't committed:\n{changed}")
    return found
