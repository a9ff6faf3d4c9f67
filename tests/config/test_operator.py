"""What an operator could do by accident: each start runs as a process, with the environment of a production one."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils import timezone

from config.checks.start import production_settings
from config.env.addresses import security_txt
from tests.config.commands import run

# Django's checks look for middleware in MIDDLEWARE; ours is in the zones.
CHECK_DEPLOY = """
from config import settings
settings.MIDDLEWARE += settings.ZONES["platform"]["middleware"]
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "check", "--deploy", "--fail-level", "WARNING"])
"""


@pytest.mark.slow  # a process of its own
def test_production_has_nothing_to_warn_of(tmp_path: Path) -> None:
    checked = run(tmp_path, "-c", CHECK_DEPLOY)
    assert checked.returncode == 0, checked.stderr
    assert "no issues" in checked.stdout


@pytest.mark.long
@pytest.mark.spec("Contract 8 Running it", "ALLOW_LOCAL_DESTINATIONS works with DEBUG only")
@pytest.mark.parametrize("command", [("manage.py", "migrate"), ("-c", "import config.wsgi")])
def test_local_destinations_stop_every_start_without_debug(tmp_path: Path, command: tuple[str, ...]) -> None:
    refused = run(tmp_path, *command, ALLOW_LOCAL_DESTINATIONS="1")
    assert refused.returncode == 1
    assert "ALLOW_LOCAL_DESTINATIONS works only with DEBUG" in refused.stderr


@pytest.mark.long
@pytest.mark.spec("Contract 8 Running it", "Without DEBUG, a start names the server that no variable names")
@pytest.mark.parametrize("command", [("manage.py", "migrate"), ("-c", "import config.wsgi")])
@pytest.mark.parametrize("variable", ["DATABASE_URL", "REDIS_URL", "EMAIL_URL"])
def test_missing_server_stops_every_start_without_debug(
    tmp_path: Path, variable: str, command: tuple[str, ...]
) -> None:
    """It would be a file and counters of its own that were not chosen."""
    refused = run(tmp_path, *command, **{variable: ""})
    assert refused.returncode == 1
    assert f"{variable} is missing: without DEBUG it must be set" in refused.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.long
@pytest.mark.parametrize("url", ["consolemail://", "consolemail://localhost"])
def test_printed_mails_stop_a_start_without_debug(tmp_path: Path, url: str) -> None:
    """A worker's output is its log, and their links confirm addresses and change passwords."""
    refused = run(tmp_path, "-c", "import config.wsgi", EMAIL_URL=url)
    assert refused.returncode == 1
    assert "EMAIL_URL may print mails with DEBUG only" in refused.stderr


@pytest.mark.slow  # a process of its own
def test_embedded_parts_work_without_debug_where_they_are_asked_for(tmp_path: Path) -> None:
    embedded = {"DATABASE_URL": f"sqlite:///{tmp_path}/own.sqlite3", "REDIS_URL": "memory://"}
    checked = run(tmp_path, "-c", CHECK_DEPLOY, **embedded)
    assert "config.W002" in checked.stderr
    assert "config.W003" in checked.stderr


@pytest.mark.slow  # a process of its own
@pytest.mark.parametrize("url", ["postgres://nobody@127.0.0.1:1/none", "sqlite:///{elsewhere}"])
def test_demo_is_refused_on_a_real_database(tmp_path: Path, url: str) -> None:
    """Its people's passwords are published, and one of them reviews apps."""
    database = tmp_path / "elsewhere.sqlite3"
    refused = run(tmp_path / "var", "manage.py", "demo", DATABASE_URL=url.format(elsewhere=database))
    assert refused.returncode == 1
    assert "so it runs only with DEBUG=1 or on a database file below VAR_DIR" in refused.stderr
    assert not database.exists()


@pytest.mark.parametrize("host", ["testserver", "stores.test"])
@pytest.mark.parametrize(
    "path", ["/healthz", "/nothing/here", "/static/nothing.css", "/.well-known/security.txt"]
)
def test_every_answer_of_both_hosts_has_the_headers(host: str, path: str) -> None:
    response = Client(headers={"host": host}).get(path)
    assert response["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=(), " in response["Permissions-Policy"]


def test_api_has_the_headers_on_errors_too() -> None:
    response = Client().get("/app-api/products")
    assert response.status_code == 401
    assert response["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.parametrize("host", ["testserver", "stores.test"])
def test_security_txt_names_whom_to_write(host: str, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECURITY_CONTACT", "mailto:security@example.com,https://example.com/report")
    monkeypatch.setenv("SECURITY_EXPIRES", "2027-06-30")
    settings.SECURITY_TXT = security_txt("https://platform.example", debug=False)
    response = Client(headers={"host": host}).get("/.well-known/security.txt")
    assert (response.status_code, response["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert response.content.decode().splitlines() == [
        "Contact: mailto:security@example.com",
        "Contact: https://example.com/report",
        "Expires: 2027-06-30T00:00:00Z",
        "Preferred-Languages: en",
        "Canonical: https://platform.example/.well-known/security.txt",
    ]


def test_security_txt_is_not_there_without_a_contact(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SECURITY_CONTACT", raising=False)
    settings.SECURITY_TXT = security_txt("https://platform.example", debug=False)
    assert Client().get("/.well-known/security.txt").json()["statusCode"] == 404
    assert "config.W005" in {problem.id for problem in production_settings(None)}


def test_old_security_txt_is_warned_of(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECURITY_CONTACT", "mailto:security@example.com")
    for days, warned in ((-1, True), (2, False)):
        monkeypatch.setenv("SECURITY_EXPIRES", f"{timezone.now() + timedelta(days):%Y-%m-%d}")
        settings.SECURITY_TXT = security_txt("https://platform.example", debug=False)
        assert ("config.W006" in {problem.id for problem in production_settings(None)}) is warned


@pytest.mark.parametrize(
    ("variable", "value"),
    [("SECURITY_CONTACT", "security@example.com"), ("SECURITY_CONTACT", "http://example.com"),
     ("SECURITY_EXPIRES", "soon"), ("SECURITY_POLICY", "/policy")],
)  # fmt: skip
def test_nonsense_in_the_security_settings_is_refused(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv("SECURITY_CONTACT", "mailto:security@example.com")
    monkeypatch.setenv(variable, value)
    with pytest.raises(ImproperlyConfigured, match=variable):
        security_txt("https://platform.example", debug=False)
