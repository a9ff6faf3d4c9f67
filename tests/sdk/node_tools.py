"""Node.js and TypeScript, where they are installed."""

import shutil
import subprocess

from tools.sdk_types import SDK

ROOT = SDK.parent

# `npm install --prefix build/node express@5 typescript@5 @types/express@5 @types/node@20`
COMPILER = ROOT / "build" / "node" / "node_modules" / ".bin" / "tsc"


def node_version() -> int:
    """The first number; 0 without Node."""
    if not shutil.which("node"):
        return 0
    text = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    return int(text.strip().removeprefix("v").partition(".")[0] or 0)
