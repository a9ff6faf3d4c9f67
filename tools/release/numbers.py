"""The files that carry the version: of a release, or between two of them the development version before the next one (PEP 440)."""

import re
from pathlib import Path

from developers.sdks.packages import npm_version

# Each with the line that has it.
FILES = {
    "pyproject.toml": r'^version = "(.*)"$',
    "sdk/python/pyproject.toml": r'^version = "(.*)"$',
    "sdk/python/extension_platform_sdk/__init__.py": r'^__version__ = "(.*)"$',
    "sdk/store-python/pyproject.toml": r'^version = "(.*)"$',
    "sdk/store-python/extension_platform_store/__init__.py": r'^__version__ = "(.*)"$',
    "sdk/node/package.json": r'^  "version": "(.*)",$',
    "sdk/js/package.json": r'^  "version": "(.*)",$',
}


def read(root: Path) -> dict[str, str]:
    """The version in each file, as the file has it."""
    return {name: _line(root / name, pattern)[1] for name, pattern in FILES.items()}


def development(version: str) -> str:
    """What follows a release: before its next minor one, whichever comes then."""
    major, minor, _ = version.split(".")
    return f"{major}.{int(minor) + 1}.0.dev0"


def write(root: Path, version: str) -> None:
    for name, pattern in FILES.items():
        file, found = root / name, _line(root / name, pattern)
        text, written = file.read_text(), npm_version(version) if file.suffix == ".json" else version
        file.write_text(text[: found.start(1)] + written + text[found.end(1) :])


def _line(file: Path, pattern: str) -> re.Match[str]:
    (found,) = re.finditer(pattern, file.read_text(), re.MULTILINE)
    return found
