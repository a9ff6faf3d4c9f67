"""mypy, as an app's author runs it."""

import re
import subprocess
import sys
from pathlib import Path

from tools import sdk_types


def mistakes_of(folder: Path, code: str) -> set[int]:
    """The lines of an app's module in which mypy finds something, with the package beside it."""
    file = folder / "app.py"
    file.write_text(code)
    package = sdk_types.Python.file.parent
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--exclude=/templates/"]
    command.append(f"--cache-dir={folder}")
    found = subprocess.run([*command, file, package], capture_output=True, text=True, cwd=package.parent)
    named = re.findall(r"^(.+):(\d+): error:", found.stdout, re.MULTILINE)
    assert found.stdout, found.stderr
    assert {name for name, _ in named} <= {str(file)}, found.stdout
    print(found.stdout)
    return {int(number) for _, number in named}
