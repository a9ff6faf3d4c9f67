"""Versions that are too old are refused at the start, and the guides name the same ones as the code."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import CheckMessage

from common.supported import SUPPORTED, Versions, numbers, text
from config.checks.start import supported_versions
from tests.config.commands import run

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = ["pyproject.toml", "sdk/python/pyproject.toml", "sdk/store-python/pyproject.toml"]
OLD_PYTHON = """
import runpy, sys
sys.version_info = (3, 10, 4, "final", 0)
sys.argv = ["manage.py", "check"]
runpy.run_path("manage.py", run_name="__main__")
"""


def found(*, databases: list[str] | None = None) -> list[CheckMessage]:
    return supported_versions(None, databases=databases)


@pytest.mark.parametrize(
    ("printed", "expected"),
    [("15.20 (Debian 15.20-0+deb12u1)", (15, 20)), ("3.10.8", (3, 10, 8)), ("4.2.0-rc.1", (4, 2, 0)), ("19beta1", (19,)), ("devel", ())],
)  # fmt: skip
def test_versions_are_read_as_servers_print_them(printed: str, expected: tuple[int, ...]) -> None:
    assert numbers(printed) == expected


@pytest.mark.postgres
@pytest.mark.redis
@pytest.mark.django_db(transaction=True)
def test_servers_of_the_tests_are_of_supported_versions() -> None:
    assert found(databases=["default"]) == []


SERVERS = [
    pytest.param("PostgreSQL", marks=pytest.mark.postgres),
    pytest.param("Redis", marks=pytest.mark.redis),
    pytest.param("RabbitMQ", marks=pytest.mark.slow),
]


@pytest.fixture
def connected(settings: Any) -> None:
    """With RabbitMQ as the broker, where it answers."""
    settings.CELERY_BROKER_URL = "amqp://guest:guest@127.0.0.1:5672//"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("connected")
@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize(
    ("versions", "ident", "words"),
    [
        (Versions((99,), (100,)), "config.E010", "is too old: the platform needs 99 to 100."),
        (Versions((1,), (2,)), "config.W013", "is newer than 2, the newest that the platform was written for."),
    ],
)  # fmt: skip
def test_server_of_another_version_is_named(
    name: str, versions: Versions, ident: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "RabbitMQ" and shutil.which("rabbitmqctl") is None:
        pytest.skip("RabbitMQ is not installed")
    monkeypatch.setitem(SUPPORTED, name, versions)
    (message,) = found(databases=["default"])
    assert message.id == ident
    assert re.fullmatch(rf"{name} [\d.]+ {re.escape(words)}", message.msg)


@pytest.mark.slow  # a process of its own
def test_servers_that_are_away_are_no_reason_to_refuse(tmp_path: Path) -> None:
    refused = run(
        tmp_path, "manage.py", "check", "--database", "default", CELERY_BROKER_URL="amqp://127.0.0.1:1//"
    )
    assert refused.returncode == 0, refused.stderr


@pytest.mark.slow  # a process of its own
@pytest.mark.postgres
def test_start_asks_the_servers(tmp_path: Path) -> None:
    """`serve` goes on with a warning in its log, and stops where a version is too old."""
    script = (
        "import sys; from common import supported; supported.SUPPORTED['PostgreSQL'] = supported.Versions((99,), (99,));"
        " sys.argv = ['manage.py', '{}']; import manage; manage.main()"
    )
    for command in ("serve", "migrate"):
        refused = run(tmp_path, "-c", script.format(command), DATABASE_URL=os.environ["DATABASE_URL"])
        assert refused.returncode == 1
        assert "is too old: the platform needs 99 to 99." in refused.stderr


def test_old_python_is_refused_with_a_sentence() -> None:
    refused = subprocess.run(
        [sys.executable, "-c", OLD_PYTHON], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert refused.stderr == "Python 3.10 is too old: the platform needs 3.11 to 3.14.\n"


@pytest.mark.parametrize("file", ["manage.py", "common/__init__.py", "common/supported.py"])
def test_old_python_can_read_as_far_as_that_sentence(file: str) -> None:
    ast.parse((ROOT / file).read_text(), feature_version=(3, 9))


@pytest.mark.parametrize("file", PROJECTS)
def test_packages_name_the_supported_pythons(file: str) -> None:
    project = tomllib.loads((ROOT / file).read_text())["project"]
    (major, first), (_, last) = SUPPORTED["Python"]
    assert project["requires-python"] == f">={major}.{first}"
    named = [
        each.rpartition(" ")[2]
        for each in project["classifiers"]
        if each.startswith("Programming Language :: Python :: 3.")
    ]
    assert named == [f"{major}.{minor}" for minor in range(first, last + 1)]


def test_night_runs_with_the_other_pythons() -> None:
    (minors,) = re.findall(r"^for minor in ([\d ]+);", (ROOT / ".ci/nightly").read_text(), re.MULTILINE)
    oldest, newest = SUPPORTED["Python"]
    assert [*map(int, minors.split())] == [*range(oldest[1] + 1, newest[1] + 1)]


def test_guide_has_the_same_table() -> None:
    guide = (ROOT / "docs/operations-install.md").read_text()
    table = guide.split("## Supported versions", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (\w+) \| ([\d.]+) \| ([\d.]+) \|", table, re.MULTILINE)
    assert rows == [(name, text(oldest), text(newest)) for name, (oldest, newest) in SUPPORTED.items()]
    readme = (ROOT / "README.md").read_text()
    assert f"You need Python {text(SUPPORTED['Python'].oldest)} or newer" in readme


def test_nginx_of_the_tests_is_supported() -> None:
    """Nothing of the platform connects to it, so only this and the tests of deploy/nginx.conf look."""
    program = shutil.which("nginx")
    if program is None:
        pytest.skip("nginx is not installed")
    printed = subprocess.run([program, "-v"], capture_output=True, text=True, check=True).stderr
    oldest, newest = SUPPORTED["nginx"]
    assert oldest <= numbers(printed.split("/")[1])[:2] <= newest
