"""An author's machine, on which an app and its tests are, and a platform of running processes: web server and dispatcher.

The SDK is installed as its packages are, so that pytest and Node find it as they do on an author's machine. Modules import the fixtures that
they use; `app` is the app that is tested.
"""

import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from extension_platform_sdk.cli import new, project

from accounts.models import User
from accounts.services.developer_tokens import create_developer_token
from developers.sdks import packages
from marketplace.models import App
from tests.faults.processes import Processes
from tests.ports import free_port
from tools.sdk_types import SDK

START = 60.0  # seconds that a process may take to start on a busy machine
FILES = {"python": "test_store.py", "node": "store.test.js"}
PYTEST = [sys.executable, "-m", "pytest", "-q", "--durations=0", "-p", "no:cacheprovider"]
NODE_TEST = ["node", "--test", "--test-reporter=tap"]


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which both packages are as pip and npm unpack them."""
    folder = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(io.BytesIO(packages.wheel(SDK / "python").content)).extractall(  # noqa: S202 - made here
        folder / "site"
    )
    with tarfile.open(fileobj=io.BytesIO(packages.tarball(SDK / "node").content)) as packed:
        packed.extractall(folder, filter="data")
    (folder / "node_modules").mkdir()
    (folder / "package").rename(folder / "node_modules" / "extension-platform-node")
    return folder


class Author:
    """Dana's machine, on which her app and its tests are."""

    def __init__(self, folder: Path, installed: Path, platform: str, token: str, app: App) -> None:
        self._folder, self._installed, self._app = folder, installed, app
        self._environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "EXTENSION_PLATFORM_URL": platform,
            "EXTENSION_PLATFORM_TOKEN": token,
            "PYTHONPATH": str(installed / "site"),
        }

    def make(self, template: str, name: str = "app") -> Path:
        folder = self._folder / name
        new.make(folder, "Ring", "ring", template, new.LOCAL, "file:sdk")
        project.write(folder, {"id": str(self._app.pk)})
        return folder

    def ran(self, command: str, folder: Path) -> str:
        done = subprocess.run(
            ["bash", "-ec", command],
            cwd=folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def begin(self, template: str, name: str = "app") -> subprocess.Popen[str]:
        """Start the test that `new` writes, in a folder of its own."""
        folder = self.make(template, name)
        if template != "node":
            return self.start([*PYTEST, FILES["python"]], folder)
        (folder / "node_modules").symlink_to(self._installed / "node_modules")
        return self.start([*NODE_TEST, FILES["node"]], folder)

    def start(self, command: list[str], folder: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, template: str) -> str:
        return ended(self.begin(template))


def ended(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert "1 passed" in said or "# pass 1\n" in said, said
    return said


@pytest.fixture
def processes(transactional_db: None, tmp_path: Path) -> Iterator[Processes]:
    folder = tmp_path / "platform"
    folder.mkdir()
    started = Processes(folder)
    yield started
    started.end()


@pytest.fixture
def platform(processes: Processes) -> str:
    """Its address, with a web server and a dispatcher behind it."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    web = processes.web(port, BASE_URL=url)
    processes.deliver()
    web.wait_for_output("Listening at", START)
    return url


@pytest.fixture
def author(platform: str, tmp_path: Path, installed: Path, app: App, dana: User) -> Author:
    token = create_developer_token(user=dana, name="Tests", lifetime=timedelta(days=1)).text
    return Author(tmp_path, installed, platform, token, app)
