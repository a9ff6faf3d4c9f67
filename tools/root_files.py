"""Fails on files at the root of the repository that are not expected there: `python -m tools.root_files`.

Tests and tools that write to a relative path leave their files at the root, and `git add -A` takes them along. Looks
at the folder rather than at git, so that ignored files are found too.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXPECTED = frozenset(
    """
    .coverage .dockerignore .editorconfig .env .git .gitattributes .gitignore .pre-commit-config.yaml
    CHANGELOG.md CODE_OF_CONDUCT.md CONTRIBUTING.md Dockerfile LICENSE Makefile README.md SECURITY.md
    compose.yaml constraints.txt manage.py pyproject.toml requirements.txt
    """.split()
)


def main() -> int:
    stray = sorted({path.name for path in ROOT.iterdir() if not path.is_dir()} - EXPECTED)
    for name in stray:
        print(
            f"{name}: unexpected at the root. Move or delete it, or add it to EXPECTED in tools/root_files.py."
        )
    return 1 if stray else 0


if __name__ == "__main__":
    sys.exit(main())
