"""Values of single settings, and what a start says about those that it refuses."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from config.env.addresses import cookie_name
from config.env.keys import metrics_token, secret_key, secret_key_fallbacks
from config.env.reading import address, env, misspelled, port, program
from tests.config.commands import ROOT, run

RANDOM = "".join(map(chr, range(48, 92)))
FERNET = Fernet.generate_key().decode()


@pytest.mark.parametrize(
    "text", [f"${RANDOM}", f"$${RANDOM}", rf"\${RANDOM}", f"{RANDOM}$PATH", "$PATH" + RANDOM]
)
def test_secret_with_a_dollar_is_itself(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of fifty keys that Django generates begins with one."""
    for name in ("SECRET_KEY", "SECRET_KEY_FALLBACKS", "METRICS_TOKEN"):
        monkeypatch.setenv(name, text)
    assert secret_key(debug=False, var_dir=tmp_path) == text
    assert secret_key_fallbacks() == [text]
    assert metrics_token(debug=False) == text
    monkeypatch.delenv("METRICS_TOKEN")
    file = tmp_path / "token"
    file.write_text(f"{text}\n")
    monkeypatch.setenv("METRICS_TOKEN_FILE", str(file))
    assert metrics_token(debug=False) == text
    monkeypatch.setenv("OF_A_SERVER", f"postgres://user:{'$' + RANDOM[:9]}@host/name")
    assert env.db_url_config(env.str("OF_A_SERVER"))["PASSWORD"] == "$" + RANDOM[:9]


@pytest.mark.parametrize("text", ["http", "0", "65536", "-1", "²", "8000.0", "9" * 5000])
def test_port_is_a_port(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", text)
    monkeypatch.setenv("METRICS_BIND", f"127.0.0.1:{text}")
    with pytest.raises(
        ImproperlyConfigured, match=r"PORT must be a (whole number, not|port from 1 to 65535)"
    ):
        port("PORT", 8000)
    if text != "0":
        with pytest.raises(ImproperlyConfigured, match="METRICS_BIND must be an address and a port"):
            address("METRICS_BIND")


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://127.0.0.1:8000", "sessionid_8000"),
        ("http://127.0.0.1:8100", "sessionid_8100"),
        ("http://staging.example", "sessionid"),
        ("https://platform.example", "__Host-sessionid"),
        ("https://platform.example:8443", "__Host-sessionid"),
    ],
)
def test_cookies_of_two_servers_on_one_host_have_two_names(url: str, name: str) -> None:
    assert cookie_name("sessionid", url, debug=True) == name
    assert cookie_name("sessionid", url, debug=False) in (name, "sessionid")  # an upgrade keeps it


@pytest.mark.long
def test_cookies_that_sign_people_in_have_the_port(tmp_path: Path) -> None:
    names = "s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.CART_COOKIE_NAME"
    found = run(
        tmp_path, "-c", f"from config import settings as s; print({names})",
        DEBUG="1", BASE_URL="http://127.0.0.1:8100", STORES_URL="",
    )  # fmt: skip
    assert found.stdout.split() == ["sessionid_8100", "csrftoken_8100", "cart_8100"], found.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"PORT": "http"}, "PORT must be a whole number, not 'http'."),
        ({"PORT": "65535"}, "The sample app takes the next port, and 65535 is the last one."),
        ({"SAMPLE_APP_PORT": "70000"}, "SAMPLE_APP_PORT must be a port from 1 to 65535, not 70000."),
        ({"VAR_DIR": "file"}, "VAR_DIR must be a folder, and"),
        ({"VAR_DIR": "/proc/none"}, "VAR_DIR must be a folder that this process may write. /proc/none"),
        (
            {"VAR_DIR": "/proc/none", "SECRET_KEY": RANDOM, "FIELD_ENCRYPTION_KEYS": FERNET},
            "VAR_DIR must be a folder that this process may write. /proc/none",
        ),
        (
            {"DJANGO_SETTINGS_MODULE": "mysite.settings"},
            "DJANGO_SETTINGS_MODULE names mysite.settings, which",
        ),
    ],
    ids=["no port", "last port", "sample app", "file", "unwritable", "unwritable with keys", "settings"],
)
def test_demo_refuses_nonsense_in_a_sentence(changes: dict[str, str], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    if changes.get("VAR_DIR") == "file":
        changes = {"VAR_DIR": str(tmp_path / "file")}
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    environment = kept | {"DEBUG": "1", "VAR_DIR": str(tmp_path / "var")} | changes
    command = [sys.executable, "manage.py", "demo"]
    refused = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert refused.returncode == 1
    assert sentence in refused.stderr
    assert "Traceback" not in refused.stderr


def test_misspelled_setting_is_named_at_the_start(tmp_path: Path) -> None:
    started = run(
        tmp_path,
        "manage.py",
        "check",
        DEBUG="1",
        TRUSTED_PROXYS="10.0.0.0/8",
        SECRET_KEYS_FILE="/none",
        PATHS="x",
    )
    assert started.returncode == 0
    assert "No setting is named TRUSTED_PROXYS." in started.stderr
    assert "Is TRUSTED_PROXIES meant?" in started.stderr
    assert "Is SECRET_KEY_FILE meant?" in started.stderr
    assert started.stderr.count("No setting is named") == 2


def test_settings_and_variables_of_other_programs_are_not_misspelled() -> None:
    known = {"DATABASE_URL", "REDIS_URL", "PORT", "SECRET_KEY", "WEB_THREADS"}
    others = ("REDIS_PORT", "DATABASE_URL_FILE", "PORTS", "HOSTNAME", "WEB_CONCURRENCY", "SECRET_KEY")
    assert misspelled(others, known) == {}


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["manage.py", "work"], "work"), (["manage.py", "schedule"], "schedule"), (["manage.py", "deliver"], "deliver"),
        (["manage.py", "serve"], "web"), (["/usr/lib/python3/gunicorn/__main__.py", "config.wsgi"], "web"),
        (["/usr/bin/gunicorn", "config.wsgi"], "web"), (["manage.py", "migrate"], "manage"), (["manage.py"], "manage"),
    ],
)  # fmt: skip
def test_sessions_have_the_name_of_their_process(arguments: list[str], name: str) -> None:
    assert program(arguments) == name


@pytest.mark.postgres
@pytest.mark.django_db
def test_session_of_the_database_says_whose_it_is() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()")
        assert cursor.fetchone() == ("manage",)
