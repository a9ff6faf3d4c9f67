"""Fails if a migration of a release was changed or removed: `python -m tools.released_migrations`.

`tests/upgrades/releases/migrations.txt` lists them with their digests. `tools.record_release` adds those of a new release.
"""

import sys
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = Path("tests/upgrades/releases/migrations.txt")


def main() -> int:
    problems = changed(ROOT)
    for path in problems:
        print(
            f"{path}: part of a release, so it never changes. Restore it, and add a new migration behind it."
        )
    return 1 if problems else 0


def changed(root: Path) -> list[str]:
    """The released migrations that are gone or differ."""
    return [path for path, digest in _released(root).items() if digest != _digest(root / path)]


def record(root: Path = ROOT) -> None:
    """Add all migrations that are not in the list yet."""
    found = (path.relative_to(root) for path in root.glob("*/migrations/[0-9]*.py"))
    digests = {str(path): _digest(root / path) for path in found} | _released(root)
    (root / LIST).write_text("".join(f"{digest} {path}\n" for path, digest in sorted(digests.items())))


def _released(root: Path) -> dict[str, str]:
    if not (root / LIST).exists():
        return {}
    lines = (line.split() for line in (root / LIST).read_text().splitlines())
    return {path: digest for digest, path in lines}


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest() if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
