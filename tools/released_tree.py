"""The newest recorded release, out of the history: its source, and a Python with its own packages. And the source of any commit."""

import fcntl
import subprocess
import sys
import tarfile
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from tools.contract_changes import newest
from tools.uv import uv

ROOT = Path(__file__).resolve().parent.parent


def check_out(folder: Path) -> Path | None:
    """Put the tree of the commit that recorded the newest release into the folder. None without a history."""
    recorded = f"tests/upgrades/releases/{newest(ROOT / 'docs' / 'contract')}.sql"
    command = ["git", "log", "--diff-filter=A", "--format=%H", "--", recorded]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    if not commit or _is_cut_off():
        return None
    extract(commit, folder)
    return folder


def extract(commit: str, folder: Path) -> None:
    """Put the tree of a commit into the folder."""
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def interpreter(tree: Path) -> str:
    """This Python for our own tree. For a release, one with the packages of its constraints, kept in `build/releases`."""
    if tree == ROOT:
        return sys.executable
    named = [(tree / name).read_bytes() for name in ("constraints.txt", "pyproject.toml")]
    folder = ROOT / "build" / "releases" / sha256(b"".join(named)).hexdigest()[:12]
    folder.parent.mkdir(parents=True, exist_ok=True)
    python, installed = folder / "bin" / "python", folder / "installed"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not installed.exists():
            uv("venv", "--quiet", "--clear", "--python", sys.executable, str(folder))
            wanted = [
                "--constraint",
                str(tree / "constraints.txt"),
                "--requirement",
                str(tree / "pyproject.toml"),
            ]
            uv("pip", "install", "--quiet", "--python", str(python), *wanted)
            installed.touch()
    return str(python)


def _is_cut_off() -> bool:
    """In a shallow clone the oldest commit seems to add every file."""
    asked = ["git", "rev-parse", "--is-shallow-repository"]
    return (
        subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip() == "true"
    )
