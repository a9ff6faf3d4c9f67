"""A fake platform, and the sample app as the process that a developer would start."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .driver import ROOT, SampleApp
from .fake_platform import FakePlatform
from .stores import Store, install


@pytest.fixture
def platform() -> Iterator[FakePlatform]:
    fake = FakePlatform()
    yield fake
    fake.close()


@pytest.fixture
def state_file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "app.json"


@pytest.fixture
def start_app(platform: FakePlatform, state_file: Path) -> Iterator[Callable[..., SampleApp]]:
    """Start the app on a free port; arguments are added to its command line, names to its environment."""
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: str, token: str = "", **more: str) -> SampleApp:
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "sdk/python"))),
            "PLATFORM_URL": platform.url,
            "SAMPLE_APP_STATE": str(state_file),
            "SAMPLE_APP_PORT": "0",
            "ACCESS_TOKEN": token,
            **more,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "examples.sample_app", *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        assert process.stdout
        # What it says of the platform may come before what it says of itself.
        found = next(
            filter(None, (re.search(r" is on (http://[\d.]+:\d+)", line) for line in process.stdout)), None
        )
        assert found, "the app did not start"
        return SampleApp(process, found[1])

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
