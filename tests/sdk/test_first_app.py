"""The guide "Your first app in ten minutes", followed as it is written, with nothing but the published packages.

Wheel and npm package are built from this tree. What the templates require comes from the package registry, once; without
one, this is skipped. Each framework has a virtual environment of its own, so that a package that a template doesn't name is missing.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.demo.process import Demo

pytestmark = [pytest.mark.slow, pytest.mark.timed, pytest.mark.timeout(1500)]

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "first-app.md").read_text()
FRAMEWORKS = ("Flask", "Django", "FastAPI", "Node")
TEMPLATES = ROOT / "sdk" / "python" / "extension_platform_sdk" / "cli" / "templates"
EMAIL, PASSWORD = "nora@example.net", "sea otters hold hands"
NPM = "extension-platform-node"

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


def section(heading: str) -> str:
    """The text below a heading, up to the next of its level or above."""
    level = len(re.search(rf"^(#+) (?:\d\. )?{heading}$", PAGE, re.MULTILINE)[1])  # type: ignore[index]
    text = re.split(rf"^#+ (?:\d\. )?{heading}$", PAGE, maxsplit=1, flags=re.MULTILINE)[1]
    return re.split(rf"^#{{1,{level}}} ", text, maxsplit=1, flags=re.MULTILINE)[0]


def commands(heading: str) -> list[str]:
    """The commands of a section, as they are on the page."""
    blocks = re.findall(r"^```sh\n(.*?)^```", section(heading), re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines()]


class Registry(ThreadingHTTPServer):
    """A registry of packages for Node, with ours."""

    def __init__(self, archive: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.archive = archive.read_bytes()
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        version = {
            "name": NPM,
            "version": "0.1.0",
            "dist": {"tarball": f"{self.server.url}/{NPM}.tgz"},
        }
        bodies: dict[str, Any] = {
            f"/{NPM}": {"name": NPM, "dist-tags": {"latest": "0.1.0"}, "versions": {"0.1.0": version}},
            f"/{NPM}.tgz": self.server.archive,
        }
        found = bodies.get(self.path)
        body = found if isinstance(found, bytes) else requests.compat.json.dumps(found).encode()
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Quiet."""


def ran(command: list[str | Path], *, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel, the npm package, and the wheels of what the templates require."""
    work = tmp_path_factory.mktemp("packages")
    for name in ("python", "node"):
        shutil.copytree(
            ROOT / "sdk" / name, work / name, ignore=shutil.ignore_patterns("build", "*.egg-info")
        )
    built = work / "built"
    built.mkdir()
    pip = [sys.executable, "-m", "pip"]
    from_registry(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", built, work / "python")
    required = [argument for file in TEMPLATES.glob("*/requirements.txt") for argument in ("-r", file)]
    from_registry(*pip, "download", "--quiet", "--find-links", built, "--dest", built, *required)
    if shutil.which("npm"):
        ran(["npm", "pack", work / "node"], cwd=built)
    return built


def from_registry(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode and re.search("No matching distribution|connection", done.stderr):
        pytest.skip("no package registry answers")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def npm(packages: Path) -> Iterator[dict[str, str]]:
    """The settings with which npm finds our package, and nothing else. Empty without npm."""
    archive = next(packages.glob("*.tgz"), None)
    if archive is None:
        yield {}
        return
    registry = Registry(archive)
    threading.Thread(target=registry.serve_forever, args=(0.05,), daemon=True).start()
    yield {"npm_config_registry": registry.url, "npm_config_audit": "false", "NO_UPDATE_NOTIFIER": "1"}
    registry.shutdown()
    registry.server_close()


def shell(home: Path, packages: Path, npm: dict[str, str]) -> dict[str, str]:
    """The environment of a new developer's terminal, in which a virtual environment is active."""
    ran([sys.executable, "-m", "venv", "--without-pip", home / "venv"], cwd=home)
    pip = home / "venv" / "bin" / "pip"  # of the tests: unpacking another takes seconds
    pip.write_text(f'#!/bin/sh\nexec {sys.executable} -m pip --python {home / "venv"} "$@"\n')
    pip.chmod(0o755)
    (home / "person.py").write_text(PERSON)
    return npm | {
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


def wait_until(condition: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.2)


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def follow(framework: str, folder: Path, platform: str, shell: dict[str, str]) -> None:
    """Steps 2 to 7, in an empty folder."""
    setup = [line.replace("{base_url}", platform) for line in commands("Install the command line")]
    said = ran(["bash", "-ec", "\n".join(setup)], cwd=folder, env=shell)
    assert "Signed in to" in said
    *steps, start = commands(framework)
    said = ran(["bash", "-ec", "\n".join(steps)], cwd=folder, env=shell)
    assert "6 passed" in said or "# pass 6" in said
    app = folder / "ring"
    log = folder / "app.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            ["bash", "-c", start], cwd=app, env=shell, stdout=output, stderr=output, start_new_session=True
        )
    try:
        wait_until(lambda: answers(3000))
        *_, logs = receive = commands("Receive an order")
        said = ran(["bash", "-ec", "\n".join(receive)], cwd=app, env=shell)
        assert "order.created: sent to 1 webhook." in said
        wait_until(lambda: re.search(r"^New order \d+", log.read_text(), re.MULTILINE))
        wait_until(lambda: "SUCCEEDED" in ran(["bash", "-c", logs], cwd=app, env=shell))
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
        wait_until(lambda: "Erased the data of" in log.read_text())
    except AssertionError as error:
        raise AssertionError(f"{framework}: {error}\n{log.read_text()[-3000:]}") from error
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(30)
    wait_until(lambda: not answers(3000))


def test_guide_works_as_it_is_written(
    demo: Demo, packages: Path, npm: dict[str, str], tmp_path: Path
) -> None:
    """One test, since the page's port is one."""
    if answers(3000):
        pytest.skip("port 3000 is in use")
    for framework in FRAMEWORKS:
        if framework == "Node" and not npm:
            continue
        home, folder = tmp_path / f"{framework}-home", tmp_path / framework
        home.mkdir()
        folder.mkdir()
        follow(framework, folder, demo.url, shell(home, packages, npm))


def test_page_has_a_section_for_each_framework() -> None:
    for framework in FRAMEWORKS:
        assert commands(framework)[0].startswith("extension-platform new ring --template ")
