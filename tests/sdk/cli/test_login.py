"""Signing in on a command line, and the token that later commands use."""

import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from extension_platform_sdk.cli import config, login
from extension_platform_sdk.cli.platform import signed_in as sign_in

from accounts.models import DeveloperToken, User
from tests import factories
from tests.pages import signed_in as browser_of
from tests.sdk.cli.json_output import validated
from tests.sdk.cli.runs import Outcome, Run

pytestmark = pytest.mark.timed


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser was opened at."""
    pages: list[str] = []
    monkeypatch.setattr(login, "open_browser", pages.append)
    return pages


Log = Callable[..., tuple[Outcome, list[float]]]


@pytest.fixture
def log_in(run: Run, platform: str, dana: User, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> Log:
    """Runs `login` while Dana presses a button in her browser. Returns the outcome, and the seconds waited each time."""
    browser = browser_of(dana)
    waits: list[float] = []

    def start(button: str, *options: str) -> tuple[Outcome, list[float]]:
        def sleep(seconds: float) -> None:
            waits.append(seconds)
            if len(waits) == 2:
                code = opened[0].partition("user_code=")[2]
                page = browser.get(opened[0])
                assert page.status_code == 200
                assert code in page.content.decode()
                browser.post("/portal/device/", {"user_code": code, "answer": button})

        monkeypatch.setattr(login.time, "sleep", sleep)
        return run("login", platform, *options), waits

    return start


def test_programs_get_json_and_the_person_the_code(log_in: Log, platform: str, opened: list[str]) -> None:
    outcome, _ = log_in("allow", "--json")
    assert validated("login", outcome.out)["url"] == platform
    assert opened[0] in outcome.err


def test_person_allows_and_the_token_works_in_later_commands(
    log_in: Log, dana: User, own_config: Path, opened: list[str]
) -> None:
    outcome, waits = log_in("allow")
    assert (outcome.status, outcome.err) == (0, "")
    assert re.search(r"Your code is [A-Z]{4}-[A-Z]{4}\.", outcome.out)
    assert opened[0] in outcome.out
    # The sign-in is asked for at the interval that the server names.
    assert waits[0] == 5
    file = own_config / "extension-platform" / "account.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert DeveloperToken.objects.get().user == dana
    factories.app(dana, slug="ring")
    with sign_in() as client:
        assert [app["slug"] for app in client.apps()] == ["ring"]


def test_person_denies(log_in: Log, own_config: Path) -> None:
    outcome, _ = log_in("deny")
    assert outcome.status == 1
    assert "The request was denied." in outcome.err
    assert [each for each in own_config.rglob("*") if each.is_file()] == []


def test_ci_signs_in_by_environment(platform: str, dana: User, signed_in: str, monkeypatch: Any) -> None:
    kept = config.account()
    config.keep(config.Account(platform, "fbdt_other"))
    monkeypatch.setenv(config.URL, platform + "/")
    monkeypatch.setenv(config.TOKEN, kept.token)
    assert config.account() == kept


def test_command_without_a_login_says_what_to_run(run: Run, platform: str) -> None:
    with pytest.raises(config.CliError, match="extension-platform login"):
        config.account()


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://platform.example.com", "would send your token unencrypted"),
        ("platform.example.com", "is not the address of a platform"),
        ("ftp://x", "is not the address of a platform"),
        ("https://", "is not the address of a platform"),
    ],
)
def test_token_goes_to_no_plain_http_address(run: Run, url: str, reason: str, opened: list[str]) -> None:
    outcome = run("login", url)
    assert (outcome.status, f"{url} {reason}" in outcome.err) == (1, True)
    assert opened == []
