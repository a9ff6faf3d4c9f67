"""`deploy/systemd`: units that systemd accepts and finds confined. `test_units.py` has the processes work under them."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands

from tests.deploy.files import DEPLOY, ROOT, checked, documented, tool
from tests.deploy.restricted import unit_settings

UNITS = ["web", "worker", "scheduler", "deliver"]


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units with our own interpreter, since the program has to be there."""
    shutil.copytree(DEPLOY / "systemd", tmp_path, dirs_exist_ok=True)
    for unit in tmp_path.glob("*.service"):
        text = unit.read_text()
        (command,) = re.findall(r"manage.py (\w+).*$", text, re.MULTILINE)
        assert command in get_commands()
        assert "ExecStart=/usr/bin/env .venv/bin/python manage.py " in text
        unit.write_text(text.replace("/usr/bin/env .venv/bin/python", sys.executable))
    return tmp_path


@pytest.mark.parametrize("unit", UNITS)
def test_systemd_accepts_the_units(unit: str, units: Path) -> None:
    file = units / f"extension-platform-{unit}.service"
    assert checked(tool("systemd-analyze"), "verify", str(file)) == ""


@pytest.mark.parametrize("unit", UNITS)
def test_units_are_confined(unit: str, units: Path) -> None:
    """By systemd's own score, from 0 to 10."""
    file = units / f"extension-platform-{unit}.service"
    checked(tool("systemd-analyze"), "security", "--offline=true", "--threshold=20", "--no-pager", str(file))


@pytest.mark.parametrize("unit", UNITS)
def test_units_keep_their_files_private_and_their_memory_bounded(unit: str) -> None:
    settings = {name: values[-1] for name, values in unit_settings(unit).items()}
    assert (settings["StateDirectoryMode"], settings["UMask"]) == ("0700", "0077")
    high, most = (int(settings[name].rstrip("%M")) for name in ("MemoryHigh", "MemoryMax"))
    assert 0 < high < most
    described = (
        (ROOT / "docs/operations-install.md").read_text().split("## Memory", 1)[1].split("\n## ", 1)[0]
    )
    assert {settings["MemoryHigh"], settings["MemoryMax"]} <= set(re.findall(r"\d+[%M]", described))


def test_units_get_the_secrets_that_the_script_makes(tmp_path: Path) -> None:
    settings = unit_settings("web")
    loaded = dict(each.split(":") for each in settings["LoadCredential"])
    assert loaded == {name: f"/etc/extension-platform/secrets/{name}" for name in loaded}
    given = dict(each.split("=") for each in settings["Environment"] if "_FILE=" in each)
    assert given == {f"{name}_FILE": f"%d/{name}" for name in loaded}
    checked(sys.executable, str(DEPLOY / "make_secrets.py"), str(tmp_path / "secrets"))
    assert {file.name for file in (tmp_path / "secrets").iterdir()} == set(loaded) <= documented()
