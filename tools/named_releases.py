"""Fails if a guide names a release that has no tag to check out: `python -m tools.named_releases`.

Each release is recorded in `docs/contract/` and has a tag. In a clone without its tags, as some runners make it, only the recordings
can be looked at, and this says so.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.release.git import git

ROOT = Path(__file__).resolve().parent.parent
GUIDES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md")
# `v0.2.0` as a word, not in the name of a file or an image; and the headings of docs/upgrading.md.
NAMED = re.compile(r"(?<![\w:/.-])(v\d+\.\d+\.\d+)(?![\w-])|^### (\d+\.\d+\.\d+) \(\d", re.MULTILINE)
NEVER_TAGGED = {"v0.1.0"}  # recorded before there was `make release`


def main() -> int:
    tags = tags_here(ROOT)
    if tags is None:
        print("This clone lacks the tags: whether a release that a guide names has one can't be seen here.")
    problems = list(unknown(ROOT, recorded(ROOT) if tags is None else tags))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def tags_here(root: Path) -> set[str] | None:
    """None if there are none, or only those of the last commits."""
    is_shallow = git(root, "rev-parse", "--is-shallow-repository") == "true"
    tags = set(git(root, "tag", "--list", "v*").split())
    return None if is_shallow or not tags else tags


def recorded(root: Path) -> set[str]:
    return {file.stem for file in (root / "docs" / "contract").glob("v*.json")} - NEVER_TAGGED


def unknown(root: Path, releases: set[str]) -> Iterator[str]:
    """A line with file and number for each release that a guide names and that isn't one of these."""
    for file in sorted(file for pattern in GUIDES for file in root.glob(pattern)):
        text = file.read_text()
        for found in NAMED.finditer(text):
            tag = found[1] or f"v{found[2]}"
            if tag not in releases:
                line = text.count("\n", 0, found.start()) + 1
                yield f"{file.relative_to(root)}:{line}: {tag} has no tag. Name a release that has one, or write $RELEASE."


if __name__ == "__main__":
    sys.exit(main())
