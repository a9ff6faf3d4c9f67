"""The example app in Node, as the process that a developer would start, in a folder of its own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ports import free_port
from tests.sdk.node_tools import node_version

from .driver import ROOT

HAS_NODE = node_version() >= 20


@contextmanager
def checkout_app(folder: Path, **environment: str) -> Iterator[str]:
    """Start `examples/checkout_node` with the variables of its `.env`; gives its address."""
    app, port = folder / "app", str(free_port())
    shutil.copytree(ROOT / "examples" / "checkout_node", app)
    (app / "node_modules").mkdir()
    (app / "node_modules" / "extension-platform-node").symlink_to(ROOT / "sdk" / "node")
    (app / ".env").write_text("".join(f"{name}={value}\n" for name, value in environment.items()))
    with subprocess.Popen(
        ["node", "--env-file=.env", "server.js"],
        cwd=app,
        env={"PATH": str(Path(shutil.which("node") or "node").parent), "PORT": port},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == f"http://localhost:{port}\n"
            yield f"http://localhost:{port}"
        finally:
            process.kill()
