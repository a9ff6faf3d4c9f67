"""The SDK for Node: its own tests, and what TypeScript finds in an app's code."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tools.sdk_types import SDK

ROOT = SDK.parent
HERE = Path(__file__).resolve().parent / "node"
# `npm install --prefix build/node typescript@5 @types/node@20`
COMPILER = ROOT / "build" / "node" / "node_modules" / ".bin" / "tsc"
OPTIONS = "--strict --noEmit --target es2022 --module nodenext --moduleResolution nodenext --pretty false --types node"


def node_version() -> int:
    """The first number; 0 without Node."""
    if not shutil.which("node"):
        return 0
    text = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    return int(text.strip().removeprefix("v").partition(".")[0] or 0)


@pytest.mark.skipif(node_version() < 20, reason="needs Node 20 or newer")
def test_node_agrees_with_python() -> None:
    command = ["node", "--test", "--test-reporter=tap", str(HERE / "sdk.test.js")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stdout
    assert "# pass 28\n" in found.stdout


@pytest.mark.slow  # some seconds
@pytest.mark.skipif(not COMPILER.exists(), reason="needs TypeScript in build/node")
def test_compiler_finds_each_mistake_and_nothing_else(tmp_path: Path) -> None:
    app = tmp_path / "app.ts"
    shutil.copy(HERE / "app.ts", app)
    modules = tmp_path / "node_modules"
    modules.mkdir()
    (modules / "extension-platform-node").symlink_to(SDK / "node")
    (modules / "@types").symlink_to(COMPILER.parent.parent / "@types")
    command = [COMPILER, *OPTIONS.split(), app.name]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    named = {
        line.partition(",")[0]
        for line in found.stdout.splitlines()
        if not line.startswith((" ", "\t")) and line
    }
    lines = app.read_text().splitlines()
    mistakes = {f"app.ts({number}" for number, line in enumerate(lines, 1) if "// mistake" in line}
    assert len(mistakes) >= 20
    assert named == mistakes, found.stdout
