"""A fake platform, and the sample app as the process that a developer would start."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from examples.sample_app.app import create_server
from examples.sample_app.config import read_config
from examples.sample_app.installing import connect_in_background
from tests.ports import free_port
from tests.servers import serving

from .driver import ROOT, SampleApp, SampleAppProcess
from .fake_platform import FakePlatform
from .stores import Store, install


@pytest.fixture
def platform() -> Iterator[FakePlatform]:
    fake = FakePlatform()
    yield fake
    fake.close()


@pytest.fixture
def state_file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "app.sqlite3"


@pytest.fixture
def environment(platform: FakePlatform, state_file: Path) -> Callable[..., dict[str, str]]:
    """The environment of the app: all of it, and nothing of the test's own."""

    def make(token: str = "", **more: str) -> dict[str, str]:
        return {
            "PLATFORM_URL": platform.url,
            "SAMPLE_APP_STATE": str(state_file),
            "SAMPLE_APP_PORT": str(free_port()),
            "ACCESS_TOKEN": token,
            **more,
        }

    return make


@pytest.fixture
def start_app(environment: Callable[..., dict[str, str]]) -> Iterator[Callable[..., SampleApp]]:
    """Start the app; arguments are those of its command line, names are added to its environment.

    It runs in a thread: a process takes fifty times as long to start, and `test_process` has those.
    """
    with ExitStack() as running:

        def start(*arguments: str, token: str = "", **more: str) -> SampleApp:
            flask, server = create_server(read_config(arguments, environment(token, **more)))
            one = running.enter_context(ExitStack())
            one.enter_context(serving(server))
            connect_in_background(flask)
            return SampleApp(f"http://localhost:{server.effective_port}", one.close)

        yield start


@pytest.fixture
def start_process(
    environment: Callable[..., dict[str, str]], tmp_path: Path
) -> Iterator[Callable[..., SampleAppProcess]]:
    """Start the app as a process, in the test's own folder, so that a relative path never writes into the repository."""
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: str, token: str = "", **more: str) -> SampleAppProcess:
        paths = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "sdk/python"))),
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "examples.sample_app", *arguments],
            cwd=tmp_path,
            env=paths | environment(token, **more),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        assert process.stdout
        # Its line about the platform may come before its line about itself.
        found = next(
            filter(None, (re.search(r" is on (http://[\w.]+:\d+)", line) for line in process.stdout)), None
        )
        assert found, "the app did not start"
        return SampleAppProcess(found[1], process)

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def start_oauth_app(start_app: Callable[..., SampleApp], platform: FakePlatform) -> Callable[..., SampleApp]:
    """Start it with client credentials, and tell the platform its Redirect URL and its Webhook URL."""

    def start(*arguments: str, **more: str) -> SampleApp:
        credentials = {"CLIENT_ID": platform.oauth.client_id, "CLIENT_SECRET": platform.oauth.client_secret}
        app = start_app(*arguments, **credentials, **more)
        platform.oauth.redirect_uri = f"{app.url}/callback"
        platform.app_webhook_url = f"{app.url}/webhooks"
        return app

    return start


@pytest.fixture
def store(start_oauth_app: Callable[..., SampleApp], platform: FakePlatform) -> Store:
    """The app, installed by OAuth on one store."""
    app = start_oauth_app()
    return Store(app, platform, install(platform))
