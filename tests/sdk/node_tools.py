"""Node.js and packages for it, where they are installed."""

import shutil
import subprocess

import pytest

from tools.sdk_types import SDK

ROOT = SDK.parent

# `.ci/prepare` installs them.
MODULES = ROOT / "build" / "node" / "node_modules"
COMPILER = MODULES / ".bin" / "tsc"


def node_version() -> int:
    """The first number; 0 without Node."""
    if not shutil.which("node"):
        return 0
    text = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    return int(text.strip().removeprefix("v").partition(".")[0] or 0)


def needs_module(name: str) -> pytest.MarkDecorator:
    is_here = shutil.which("node") is not None and (MODULES / name).exists()
    return pytest.mark.skipif(not is_here, reason=f"needs Node with {name} in build/node")
