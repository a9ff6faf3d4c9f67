"""A release of a clone of this repository."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Test"), ("EMAIL", "test@example.com"))
}


@dataclass(frozen=True)
class Released:
    """The clone in which it was made."""

    clone: Path
    version: str

    @property
    def tag(self) -> str:
        return f"v{self.version}"

    @property
    def dist(self) -> Path:
        return self.clone / "dist"

    @property
    def archive(self) -> Path:
        return self.dist / f"extension-platform-{self.tag}.tar.gz"


def cloned(folder: Path) -> Path:
    """What is committed, as main of a clone in this folder."""
    if not (ROOT / ".git").exists():
        pytest.skip("needs the repository")
    subprocess.run(["git", "clone", "--quiet", "--no-local", str(ROOT), str(folder)], check=True)
    git(folder, "checkout", "--quiet", "-B", "main")
    return folder


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def make_release(
    clone: Path, version: str, *arguments: str, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """With the environment of the tests in place of a new one, which would take minutes."""
    here = [f"VENV={sys.prefix}", "--old-file", f"{sys.prefix}/.development"]
    return subprocess.run(
        ["make", "release", *here, f"VERSION={version}", f"ARGS={' '.join(arguments)}"],
        cwd=clone, env=os.environ | IDENTITY | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@contextmanager
def once(factory: pytest.TempPathFactory, name: str) -> Iterator[Path]:
    """A folder that the workers of one run share. It exists already for all but the first."""
    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield base / name
