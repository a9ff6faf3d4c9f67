"""The guide "Your first app in ten minutes", followed as the platform shows it, in an empty folder.

Our packages come from the platform. The packages of others that the templates require come from the package registry, once; without one,
this is skipped. Each framework has a virtual environment of its own, so that a package that a template doesn't name is missing.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.demo.process import Demo
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timed, pytest.mark.timeout(1500)]

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "first-app.md").read_text()
FRAMEWORKS = ("Flask", "Django", "FastAPI", "Node")
TEMPLATES = ROOT / "sdk" / "python" / "extension_platform_sdk" / "cli" / "templates"
EMAIL, PASSWORD = "nora@example.net", "sea otters hold hands"

# What a person does whose browser `login` has opened.
PERSON = f"""
import re, sys, requests
address = sys.argv[1]
origin = "/".join(address.split("/")[:3])
browser = requests.Session()
def send(url, **fields):
    page = browser.get(url).text
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]
    answer = browser.post(url, data=fields | {{"csrfmiddlewaretoken": token}}, headers={{"Referer": url}})
    assert answer.ok, answer.text
send(origin + "/accounts/login/", email="{EMAIL}", login="{EMAIL}", password="{PASSWORD}")
send(address, user_code=address.partition("user_code=")[2], answer="allow")
"""


def section(heading: str, page: str = PAGE) -> str:
    """The text below a heading, up to the next of its level or above."""
    level = len(re.search(rf"^(#+) (?:\d\. )?{heading}$", page, re.MULTILINE)[1])  # type: ignore[index]
    text = re.split(rf"^#+ (?:\d\. )?{heading}$", page, maxsplit=1, flags=re.MULTILINE)[1]
    return re.split(rf"^#{{1,{level}}} ", text, maxsplit=1, flags=re.MULTILINE)[0]


def commands(heading: str, page: str = PAGE) -> list[str]:
    """The commands of a section, as they are on the page."""
    blocks = re.findall(r"^```sh\n(.*?)^```", section(heading, page), re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines()]


def ran(command: list[str | Path], *, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels of what the templates and our package require of others."""
    wheels = tmp_path_factory.mktemp("wheels")
    lines = {line for file in TEMPLATES.glob("*/requirements.txt") for line in file.read_text().splitlines()}
    required = sorted(line for line in lines if " @ " not in line)
    project = tomllib.loads((ROOT / "sdk" / "python" / "pyproject.toml").read_text())
    required += project["project"]["dependencies"]
    from_registry(sys.executable, "-m", "pip", "download", "--quiet", "--dest", wheels, *required)
    return wheels


def from_registry(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode and re.search("No matching distribution|connection", done.stderr):
        pytest.skip("no package registry answers")
    assert done.returncode == 0, done.stderr


def shell(home: Path, packages: Path) -> dict[str, str]:
    """The environment of a new developer's terminal, in which a virtual environment is active. npm finds no registry."""
    ran([sys.executable, "-m", "venv", "--without-pip", home / "venv"], cwd=home)
    pip = home / "venv" / "bin" / "pip"  # of the tests: unpacking another takes seconds
    pip.write_text(f'#!/bin/sh\nexec {sys.executable} -m pip --python {home / "venv"} "$@"\n')
    pip.chmod(0o755)
    (home / "person.py").write_text(PERSON)
    return {
        "npm_config_registry": "http://127.0.0.1:9",
        "npm_config_audit": "false",
        "NO_UPDATE_NOTIFIER": "1",
        "PATH": f"{home / 'venv' / 'bin'}:{os.environ['PATH']}",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "BROWSER": f"{home / 'venv' / 'bin' / 'python'} {home / 'person.py'} %s",
        "PIP_NO_INDEX": "1",
        "PIP_NO_COMPILE": "1",
        "PIP_FIND_LINKS": str(packages),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONUNBUFFERED": "1",
    }


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    running = Demo(tmp_path_factory.mktemp("demo") / "var").start()
    account = {"email": EMAIL, "password": PASSWORD, "name": "Nora Newcomer", "role": "DEVELOPER"}
    assert requests.post(f"{running.url}/auth/register", json=account, timeout=30).ok
    yield running
    running.end()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running(command: str, *, cwd: Path, env: dict[str, str], log: Path) -> Iterator[None]:
    """A command of a terminal of its own, until Ctrl-C."""
    with log.open("w") as output:
        process = subprocess.Popen(
            ["bash", "-c", command], cwd=cwd, env=env, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def follow(framework: str, folder: Path, platform: str, shell: dict[str, str]) -> None:
    """Steps 2 to 7, in an empty folder."""
    page = requests.get(f"{platform}/docs/guides/first-app.md", timeout=30).text
    setup = commands("Install the command line", page)
    said = ran(["bash", "-ec", "\n".join(setup)], cwd=folder, env=shell)
    assert "Signed in to" in said
    account = json.loads(Path(shell["XDG_CONFIG_HOME"], "extension-platform", "account.json").read_text())
    # So the test on a store of the platform runs, too.
    shell |= {"EXTENSION_PLATFORM_URL": account["url"], "EXTENSION_PLATFORM_TOKEN": account["token"]}
    *steps, start = commands(framework)
    said = ran(["bash", "-ec", "\n".join(steps)], cwd=folder, env=shell)
    assert "8 passed" in said or "# pass 8" in said, said
    app = folder / "ring"
    log, listening = folder / "app.log", folder / "listen.log"
    (listen,) = commands("Bring the platform's requests to your machine")
    with running(start, cwd=app, env=shell, log=log), running(listen, cwd=app, env=shell, log=listening):
        wait_until(lambda: answers(3000) and "Forwarding to" in listening.read_text(), 60)
        *_, logs = receive = commands("Receive an order")
        said = ran(["bash", "-ec", "\n".join(receive)], cwd=app, env=shell)
        assert "order.created: queued for 1 webhook." in said
        wait_until(lambda: re.search(r"^New order \d+", log.read_text(), re.MULTILINE), 60)
        wait_until(lambda: "SUCCEEDED" in ran(["bash", "-c", logs], cwd=app, env=shell), 60)
        assert re.search(
            r"ANSWERED.*order\.calculate_discounts", ran(["bash", "-c", logs], cwd=app, env=shell)
        )
        block = requests.get("http://localhost:3000/block", timeout=10)
        assert (block.status_code, "X-Frame-Options" in block.headers) == (200, False)
        said = ran(["bash", "-ec", "\n".join(commands("Change something"))], cwd=app, env=shell)
        assert said.count("No changes: this manifest is saved already.") == 2
        said = ran(["bash", "-ec", "\n".join(commands("Check how it behaves"))], cwd=app, env=shell)
        assert " 0 failed, 0 with warnings" in said, said
        ran(["bash", "-ec", "\n".join(commands("Erase a store's data"))], cwd=app, env=shell)
        wait_until(lambda: "Erased the data of" in log.read_text(), 60)
        assert "order.created" in listening.read_text()
    wait_until(lambda: not answers(3000), 60)


def test_guide_works_as_it_is_written(demo: Demo, packages: Path, tmp_path: Path) -> None:
    """One test, since the page's port is one."""
    if answers(3000):
        pytest.skip("port 3000 is in use")
    for framework in FRAMEWORKS:
        if framework == "Node" and not shutil.which("npm"):
            continue
        home, folder = tmp_path / f"{framework}-home", tmp_path / framework
        home.mkdir()
        folder.mkdir()
        try:
            follow(framework, folder, demo.url, shell(home, packages))
        except AssertionError as error:
            logs = "".join(file.read_text()[-3000:] for file in folder.glob("*.log"))
            raise AssertionError(f"{framework}: {error}\n{logs}") from error


def test_page_has_a_section_for_each_framework() -> None:
    for framework in FRAMEWORKS:
        assert commands(framework)[0].startswith("extension-platform new ring --template ")
