"""The files of deploy/, and the programs that check them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

DEPLOY = ROOT / "deploy"


def tool(name: str) -> str:
    """Its path: beside the interpreter or on PATH. Without it the test is skipped."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def checked(*command: str, **options: Any) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def documented() -> set[str]:
    guide = (ROOT / "docs/operations-settings.md").read_text()
    return {
        name
        for row in guide.splitlines()
        if row.startswith("| `")
        for name in re.findall(r"`([A-Z_]+)`", row)
    }


def healthy(*arguments: str, **environment: str) -> bool:
    command = [sys.executable, str(DEPLOY / "healthy.py"), *arguments]
    return subprocess.run(command, env=os.environ | environment, check=False, timeout=30).returncode == 0
