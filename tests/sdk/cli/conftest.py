"""The command line in this process, with a config directory of its own, against a live server."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from extension_platform_sdk.cli.config import Account, keep
from extension_platform_sdk.cli.main import main

from accounts.models import User
from accounts.services.developer_tokens import create_developer_token
from tests.sdk.cli.runs import Outcome, Run


@pytest.fixture(autouse=True)
def own_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The config directory, and an empty current folder."""
    for name in ("EXTENSION_PLATFORM_URL", "EXTENSION_PLATFORM_TOKEN", "EXTENSION_PLATFORM_APP", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    config, folder = tmp_path / "config", tmp_path / "work"
    folder.mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    monkeypatch.chdir(folder)
    return config


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*args: str) -> Outcome:
        capsys.readouterr()
        try:
            status = main(args)
        except SystemExit as ended:  # argparse
            status = int(ended.code or 0)
        text = capsys.readouterr()
        return Outcome(status, text.out, text.err)

    return call


@pytest.fixture
def platform(live_server: Any, settings: Any) -> str:
    settings.BASE_URL = live_server.url
    return str(live_server.url)


@pytest.fixture
def signed_in(platform: str, dana: User) -> str:
    """Dana's command line; the platform's address."""
    issued = create_developer_token(user=dana, name="Laptop", lifetime=timedelta(days=1))
    keep(Account(platform, issued.text))
    return platform
