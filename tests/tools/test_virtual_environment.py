"""`make help`; `make` with another Python, and after a first try that failed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import virtual_environment

ROOT = Path(__file__).resolve().parents[2]
# Says its version, writes down what else it is asked for, and makes an environment of itself.
PYTHON = """#!/bin/sh
[ "$1" = -c ] && { echo VERSION; exit; }
echo "VERSION $* user=$PIP_USER settings=$DJANGO_SETTINGS_MODULE" >> LOG
[ "$2" = tools.virtual_environment ] && { mkdir -p .venv/bin; cp "$0" .venv/bin/python; }
exit 0
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("pyproject.toml", "constraints.txt", "sdk/python/pyproject.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for version in ("3.11", "3.12"):
        made = tmp_path / f"python{version}"
        made.write_text(PYTHON.replace("VERSION", version).replace("LOG", str(tmp_path / "log")))
        made.chmod(0o755)
    (tmp_path / "python3").symlink_to("python3.11")
    return tmp_path


def made(checkout: Path, *arguments: str) -> list[str]:
    """What `make` asks the Pythons for: each a version and the module that ran."""
    (checkout / "log").write_text("")
    environment = {
        "PATH": f"{checkout}:{os.environ['PATH']}",
        "PIP_USER": "1",
        "DJANGO_SETTINGS_MODULE": "mysite.settings",
    }
    subprocess.run(["make", ".venv/.runtime", *arguments], cwd=checkout, env=environment, check=True)
    lines = (checkout / "log").read_text().splitlines()
    assert all(line.endswith("user=0 settings=") for line in lines)
    return [" ".join(line.split()[:3:2]) for line in lines]


def test_make_follows_the_python_that_is_named(checkout: Path) -> None:
    first = ["3.11 tools.virtual_environment", "3.11 pip"]
    assert made(checkout) == first
    assert made(checkout) == []
    other = ["3.12 tools.virtual_environment", "3.12 pip"]
    assert made(checkout, "PYTHON=python3.12") == other
    shutil.rmtree(checkout / ".venv")
    assert made(checkout, "PYTHON=python3.12") == other
    # One that is finished stays, whatever `python3` is.
    assert made(checkout) == []
    # One that isn't doesn't.
    shutil.rmtree(checkout / ".venv")
    (checkout / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(checkout / "python3.11", checkout / ".venv" / "bin" / "python")
    assert made(checkout) == first


def test_python_that_is_too_old_is_named_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 13, "final", 0))
    with pytest.raises(SystemExit, match=r"Python 3\.10 is too old: .* PYTHON=python3\.12"):
        virtual_environment.make(tmp_path / "venv")
    assert not (tmp_path / "venv").exists()


@pytest.mark.long
def test_environment_that_failed_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "venv"
    without = tmp_path / "python"  # as that of Debian without python3-venv: it makes half of one
    without.write_text('#!/bin/sh\nmkdir -p "$3/bin"; touch "$3/bin/python"; exit 1\n')
    without.chmod(0o755)
    with monkeypatch.context() as changed:
        changed.setattr(sys, "executable", str(without))
        with pytest.raises(SystemExit, match="apt install python3-venv"):
            virtual_environment.make(folder)
    assert not folder.exists()
    (folder / "bin").mkdir(parents=True)
    (folder / ".runtime").touch()
    (folder / "bin" / "python").symlink_to("/nowhere/python3.10")
    virtual_environment.make(folder)
    before = (folder / "pyvenv.cfg").stat().st_mtime_ns
    assert (folder / "bin" / "pip").exists()
    (folder / ".runtime").touch()
    virtual_environment.make(folder)
    assert (folder / "pyvenv.cfg").stat().st_mtime_ns == before


def test_help_lists_every_target_once_and_five_of_them_first() -> None:
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    needed, others = (
        [line.split()[0] for line in part.splitlines()[1:] if len(line.split()) > 1]
        for part in shown.split("\n\n")
    )
    assert needed == ["demo", "test", "lint", "format", "bench"]
    phony = re.search(r"^\.PHONY: (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    assert sorted(needed + others) == sorted(phony[1].split())
