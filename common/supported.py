"""The versions of what the platform runs on. Also read by Pythons that are too old for the rest, so that they say so."""

import re
import sys
from typing import NamedTuple

Numbers = tuple[int, ...]


class Versions(NamedTuple):
    """Older than `oldest` is refused; what is newer than `newest` was never tried, which is a warning."""

    oldest: Numbers
    newest: Numbers


# docs/operations-install.md has the same table, and pyproject.toml the same Pythons. Nothing here connects to nginx.
SUPPORTED = {
    "Python": Versions((3, 11), (3, 14)),
    "PostgreSQL": Versions((15,), (18,)),
    "Redis": Versions((7, 0), (8,)),
    "Valkey": Versions((7, 2), (9,)),
    "RabbitMQ": Versions((3, 10), (4,)),
    "nginx": Versions((1, 22), (1, 29)),
}


def numbers(version: str) -> Numbers:
    """`(15, 20)` for "15.20 (Debian 15.20-0)"; empty if it doesn't begin with a number."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, found.group().split("."))) if found else ()


def text(version: Numbers) -> str:
    return ".".join(map(str, version))


def why_too_old(name: str, version: Numbers) -> str:
    """A sentence; empty if it isn't."""
    oldest, newest = SUPPORTED[name]
    if version >= oldest:
        return ""
    return f"{name} {text(version)} is too old: the platform needs {text(oldest)} to {text(newest)}."


def why_too_new(name: str, version: Numbers) -> str:
    """A sentence; empty if it isn't."""
    newest = SUPPORTED[name].newest
    if version[: len(newest)] <= newest:
        return ""
    return (
        f"{name} {text(version)} is newer than {text(newest)}, the newest that the platform was written for."
    )


def require_python() -> None:
    """End this process with a sentence if its Python is too old."""
    problem = why_too_old("Python", tuple(sys.version_info[:2]))
    if problem:
        sys.exit(problem)
