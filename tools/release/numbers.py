"""The files that carry the version. The version of the APIs, in the OpenAPI document, is another one."""

import re
from pathlib import Path

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
    """The version in each file."""
    return {name: _line(root / name, pattern)[1] for name, pattern in FILES.items()}


def write(root: Path, version: str) -> None:
    for name, pattern in FILES.items():
        file, found = root / name, _line(root / name, pattern)
        text = file.read_text()
        file.write_text(text[: found.start(1)] + version + text[found.end(1) :])


def _line(file: Path, pattern: str) -> re.Match[str]:
    (found,) = re.finditer(pattern, file.read_text(), re.MULTILINE)
    return found
