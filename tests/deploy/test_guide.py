"""The commands of docs/several-machines.md: run where they can be, otherwise compared with what they name."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
GUIDE = (ROOT / "docs/several-machines.md").read_text()
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
UNITS = sorted(path.name for path in (DEPLOY / "systemd").glob("*.service"))
SHARED = "extension-platform-.service.d"  # systemd adds it to each unit
GUIDES_OF_OPERATORS = [
    "go-live",
    "kubernetes",
    "local-development",
    "operations-install",
    "operations-run",
    "runbooks",
    "several-machines",
    "upgrading",
]

# A program that does nothing but write down where it was called, the release that would start then, and whether it got secrets.
RECORDED = """#!/bin/sh
echo "$(basename "$0") $1 $2: $(basename "$(pwd -P)"), $(readlink "$OPT/current" || echo none)${SECRET_KEY:+, secrets}" >>"$CALLS"
"""
PROGRAMS = {
    "useradd": "#!/bin/sh\n",
    "systemctl": RECORDED,
    "runuser": '#!/bin/sh\nshift 3\nexec "$@"\n',
    "install": '#!/bin/bash\nexec /usr/bin/install "${@/--group=*/--no-target-directory}"\n',
    # Of an environment, two programs.
    "python3": f'#!/bin/sh\n[ "$1" = -m ] || exec {sys.executable} "$@"\nmkdir -p "$3/bin"\ncp "$RECORDED" "$3/bin/pip"\ncp "$RECORDED" "$3/bin/python"\n',
}


def block(name: str) -> str:
    (found,) = re.findall(rf"^```sh {name}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    return str(found)


def of_compose(task: str) -> list[list[str]]:
    """The commands below **Upgrade**, **Back up** or **Restore**, split into words."""
    section = GUIDE.split("\n## With Compose\n")[1].split("\n## ")[0]
    (found,) = re.findall(rf"\*\*{task}\*\*.*?^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return [shlex.split(line, comments=True) for line in found.splitlines()]


def services_of(words: list[str]) -> tuple[str, set[str]]:
    """The verb of `docker compose`, and the services that it is for."""
    verb, *rest = words[2:]
    names = [word for word in rest if not word.startswith("-")]
    return verb, set(names[:1] if verb in ("exec", "run") else names)


@pytest.mark.parametrize("guide", GUIDES_OF_OPERATORS)
def test_blocks_are_valid_for_a_shell(guide: str) -> None:
    text = (ROOT / f"docs/{guide}.md").read_text()
    for found in re.findall(r"^```(?:sh|bash).*\n((?s:.*?))^```", text, re.MULTILINE):
        checked = subprocess.run(["bash", "-n"], input=found, text=True, capture_output=True, check=False)
        assert checked.stderr == ""
        assert checked.returncode == 0


@pytest.mark.parametrize("task", ["Upgrade", "Back up", "Restore"])
def test_commands_name_what_compose_has(task: str) -> None:
    volumes = {f"{COMPOSE['name']}_{volume}" for volume in COMPOSE["volumes"]}
    assert "CREATE DATABASE platform OWNER platform;" in (DEPLOY / "compose/database.sh").read_text()
    commands = of_compose(task)
    assert commands
    for words in commands:
        if words[:2] == ["docker", "compose"]:
            assert services_of(words)[1] <= COMPOSE["services"].keys(), words
        for option, value in pairwise(words):
            if option == "--volume":
                source = value.partition(":")[0]
                assert source in volumes or source == "$BACKUP", words
            if option in ("--username", "--dbname", "--owner"):
                makes_databases = option == "--username" and {"createdb", "dropdb"} & set(words)
                assert value == ("postgres" if makes_databases else "platform"), words


def test_upgrade_with_compose_replaces_each_process_of_ours_after_migrating() -> None:
    ours = {
        name for name, each in COMPOSE["services"].items() if each["image"].startswith("extension-platform:")
    }
    used = [services_of(words) for words in of_compose("Upgrade") if words[:2] == ["docker", "compose"]]
    assert used[:2] == [("build", set()), ("run", {"migrate"})]
    replaced = [names for verb, names in used if verb == "up"]
    assert set().union(*replaced) >= ours - {"migrate", "bucket"}
    assert all(len(names & {"web1", "web2"}) < 2 for names in replaced), "One web server serves meanwhile."


def test_going_back_with_compose_is_the_upgrade_without_building_and_migrating() -> None:
    upgrade = [" ".join(words) for words in of_compose("Upgrade")]
    guide = (ROOT / "docs/upgrading.md").read_text()
    (found,) = re.findall(r"^```sh go-back\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    back = [" ".join(shlex.split(line, comments=True)) for line in found.splitlines()]
    assert all("--no-build" in line for line in back if " --no-deps " in line and " proxy" not in line)
    kept = [line for line in upgrade if not re.search(r" (build|migrate|fetch|-m tools)\b", line)]
    assert [line.replace(" --no-build", "") for line in back] == kept


def test_restore_with_compose_stops_whatever_writes_first() -> None:
    verb, stopped = services_of(of_compose("Restore")[0])
    assert verb == "stop"
    lasting = {name for name, each in COMPOSE["services"].items() if each.get("restart") != "no"}
    assert stopped == lasting - {"proxy", "postgres", "redis"}


class Machine:
    """A root of its own for the commands of the guide, without root's rights, packages, or systemd."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.opt = folder / "opt/extension-platform"
        self.units = folder / "etc/systemd/system"
        self._calls = folder / "calls"
        self.units.mkdir(parents=True)
        (folder / "bin").mkdir()
        for name, text in (PROGRAMS | {"recorded": RECORDED}).items():
            program = folder / "bin" / name
            program.write_text(text)
            program.chmod(0o755)

    def run(self, *blocks: str, release: str, archives: Path) -> list[str]:
        """What was called, with the folder and the release that `current` led to at that moment."""
        self._calls.write_text("")
        text = "".join(map(block, blocks))
        text = re.sub(r"(?<![\w.])/(?=(?:opt|etc)/)", f"{self._folder}/", text)
        environment = {
            "PATH": f"{self._folder}/bin:{os.environ['PATH']}",
            "RELEASE": release,
            "OPT": str(self.opt),
            "CALLS": str(self._calls),
            "RECORDED": str(self._folder / "bin/recorded"),
        }
        done = subprocess.run(
            ["bash", "-euc", text],
            cwd=archives,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return self._calls.read_text().splitlines()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "machine")


@pytest.fixture
def archives(tmp_path: Path) -> Path:
    """A folder with the archives of two releases, whose units differ."""
    folder = tmp_path / "archives"
    for release in ("v0.1.0", "v0.2.0"):
        content = folder / f"extension-platform-{release}"
        shutil.copytree(DEPLOY, content / "deploy", ignore=shutil.ignore_patterns(".env", "tls"))
        for name in UNITS:
            unit = content / "deploy/systemd" / name
            unit.write_text(f"# {release}\n{unit.read_text()}")
        subprocess.run(["tar", "-czf", f"{content.name}.tar.gz", content.name], cwd=folder, check=True)
    subprocess.run(["bash", "-c", "sha256sum *.tar.gz >SHA256SUMS"], cwd=folder, check=True)
    return folder


@pytest.mark.long
def test_upgrade_with_systemd_migrates_before_anything_new_can_start(
    machine: Machine, archives: Path
) -> None:
    first = machine.run(
        "install", "prepare", "manage", "migrate", "start", release="v0.1.0", archives=archives
    )
    assert first == [
        "pip install --require-hashes: v0.1.0, none",
        "python manage.py migrate: v0.1.0, none, secrets",
        "python manage.py collectstatic: v0.1.0, none, secrets",
        "systemctl daemon-reload : v0.1.0, releases/v0.1.0",
        "systemctl enable --now: v0.1.0, releases/v0.1.0",
    ]
    upgrade = machine.run("install", "manage", "migrate", "upgrade", release="v0.2.0", archives=archives)
    assert upgrade == [
        "pip install --require-hashes: v0.2.0, releases/v0.1.0",
        "python manage.py migrate: v0.2.0, releases/v0.1.0, secrets",
        "python manage.py collectstatic: v0.2.0, releases/v0.1.0, secrets",
        "systemctl daemon-reload : v0.2.0, releases/v0.2.0",
        "systemctl try-restart extension-platform-*: v0.2.0, releases/v0.2.0",
    ]
    assert sorted(path.name for path in machine.units.iterdir()) == sorted([SHARED, *UNITS])
    assert all(path.read_text().startswith("# v0.2.0\n") for path in machine.units.glob("*.service"))
    assert (machine.opt / "releases/v0.1.0/.venv/bin/python").exists(), "Old processes still use it."

    back = machine.run("manage", "upgrade", release="v0.1.0", archives=archives)
    assert back[-1] == "systemctl try-restart extension-platform-*: v0.1.0, releases/v0.1.0"
    assert not any("migrate" in call for call in back)


# A command that needs a module and a package only after a while.
COMMAND = """
import sys
print("started", flush=True)
sys.stdin.readline()
import module_of_ours, package
print(module_of_ours.RELEASE, package.RELEASE)
"""


@pytest.fixture
def two_releases(tmp_path: Path) -> Path:
    """A folder with the releases *old* and *new*, each with an environment of its own, and the link to the old one."""
    for release in ("old", "new"):
        folder = tmp_path / "releases" / release
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
        (packages,) = folder.glob(".venv/lib/python*/site-packages")
        (folder / "manage.py").write_text(COMMAND)
        for module in (folder / "module_of_ours.py", packages / "package.py"):
            module.write_text(f"RELEASE = {release!r}")
    (tmp_path / "current").symlink_to("releases/old")
    return tmp_path


def start(unit: str, folder: Path) -> "subprocess.Popen[str]":
    """As systemd does, and with what a shell in the folder would add to the environment."""
    settings: dict[str, Any] = dict(
        line.split("=", 1) for line in (DEPLOY / "systemd" / unit).read_text().splitlines() if "=" in line
    )
    working = settings["WorkingDirectory"].replace("/opt/extension-platform", str(folder))
    process = subprocess.Popen(
        shlex.split(settings["ExecStart"]), cwd=working, env=os.environ | {"PWD": working},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    return process


@pytest.mark.parametrize("unit", UNITS)
def test_process_keeps_its_code_and_packages_when_the_link_changes(unit: str, two_releases: Path) -> None:
    (switch,) = [line for line in block("upgrade").splitlines() if line.startswith("ln ")]
    with start(unit, two_releases) as before:
        command = switch.replace("/opt/extension-platform", str(two_releases))
        subprocess.run(["sh", "-c", command], env=os.environ | {"RELEASE": "new"}, check=True)
        assert before.communicate("\n", timeout=30)[0] == "old old\n"
    with start(unit, two_releases) as after:
        assert after.communicate("\n", timeout=30)[0] == "new new\n"
