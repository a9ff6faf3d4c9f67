"""Makes the virtual environment of `make`, of this Python: `python3 -m tools.virtual_environment .venv`.

Anything in its place goes first, since it may be of another Python, or have failed halfway. One that works and is of this Python stays.
Also read by Pythons that are too old for the rest, so that they say so.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from common.supported import why_too_old

WHAT_IT_IS = "import pip, sys; print(list(sys.version_info[:2]))"


def make(folder: Path) -> None:
    """Raises `SystemExit` with a sentence if that can't be."""
    problem = why_too_old("Python", tuple(sys.version_info[:2]))
    if problem:
        sys.exit(f"{problem} Name another: make demo PYTHON=python3.12")
    if (folder / ".runtime").is_file() and _works(folder):
        return
    _remove(folder)
    done = subprocess.run([sys.executable, "-m", "venv", str(folder)])
    if done.returncode or not _works(folder):
        _remove(folder)
        sys.exit(
            f"{sys.executable} can't make a virtual environment. On Debian and Ubuntu: apt install python3-venv. Then try again."
        )


def _works(folder: Path) -> bool:
    """Whether it is of this Python, with pip."""
    try:
        done = subprocess.run(
            [str(folder / "bin" / "python"), "-c", WHAT_IT_IS],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    except OSError:
        return False
    return done.stdout.strip() == str(list(sys.version_info[:2]))


def _remove(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(str(folder), ignore_errors=True)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
