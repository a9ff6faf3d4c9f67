"""Calls git."""

import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str) -> str:
    """What it prints. Raises CalledProcessError, after git has said why on standard error."""
    done = subprocess.run(["git", *arguments], cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()
