"""The tests that `new` writes into an app, as they are, against running processes: web server and dispatcher.

The SDK is installed as its packages are, so that pytest and Node find it as they do on an author's machine.
"""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from django.utils import timezone
from extension_platform_sdk.cli import new, project

from accounts.models import Business, User
from accounts.services.developer_tokens import create_developer_token
from conformance.services.runs import remove_ended
from developers.sdks import packages
from installations.models import Installation
from marketplace.models import App
from tests.clients import api_of
from tests.faults.processes import Processes
from tests.ports import free_port
from tests.sdk.node_tools import node_version
from tests.waiting import wait_until
from teststores.models import TestStore
from tools.sdk_types import SDK
from webhooks.models import Attempt, Delivery, DispatcherSlot, Endpoint, Event

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.slow,
    pytest.mark.timed,
    pytest.mark.timeout(600),
]
SPEC = "Contract 13 Test stores"
START = 60.0  # seconds that a process may take to start on a busy machine
LINES, SECONDS = 40, 10
TEMPLATES = ("flask", "django", "node")  # FastAPI's runs in `test_first_app.py`, which has a server for it
FILES = {"python": "test_store.py", "node": "store.test.js"}


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which both packages are as pip and npm unpack them."""
    folder = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(io.BytesIO(packages.wheel(SDK / "python").content)).extractall(  # noqa: S202 - made here
        folder / "site"
    )
    with tarfile.open(fileobj=io.BytesIO(packages.tarball(SDK / "node").content)) as packed:
        packed.extractall(folder, filter="data")
    (folder / "node_modules").mkdir()
    (folder / "package").rename(folder / "node_modules" / "extension-platform-node")
    return folder


@pytest.fixture
def app(app: App) -> App:
    """Without a Webhook URL: the tests need none."""
    App.objects.update(webhook_url="", webhook_events=[], scopes=new.SCOPES)
    app.refresh_from_db()
    return app


class Author:
    """Dana's machine, on which her app and its tests are."""

    def __init__(self, folder: Path, installed: Path, platform: str, token: str, app: App) -> None:
        self._folder, self._installed, self._app = folder, installed, app
        self._environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "EXTENSION_PLATFORM_URL": platform,
            "EXTENSION_PLATFORM_TOKEN": token,
            "PYTHONPATH": str(installed / "site"),
        }

    def make(self, template: str, name: str = "app") -> Path:
        folder = self._folder / name
        new.make(folder, "Ring", "ring", template, new.LOCAL, "file:sdk")
        project.write(folder, {"id": str(self._app.pk)})
        return folder

    def ran(self, command: str, folder: Path) -> str:
        done = subprocess.run(
            ["bash", "-ec", command],
            cwd=folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def begin(self, template: str, name: str = "app") -> subprocess.Popen[str]:
        """Start the test that `new` writes, in a folder of its own."""
        folder = self.make(template, name)
        if template == "node":
            (folder / "node_modules").symlink_to(self._installed / "node_modules")
            command = ["node", "--test", "--test-reporter=tap", FILES["node"]]
        else:
            command = [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "--durations=0",
                "-p",
                "no:cacheprovider",
                FILES["python"],
            ]
        return subprocess.Popen(
            command,
            cwd=folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, template: str) -> str:
        return ended(self.begin(template))


def ended(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert "1 passed" in said or "# pass 1\n" in said, said
    return said


@pytest.fixture
def processes(transactional_db: None, tmp_path: Path) -> Iterator[Processes]:
    folder = tmp_path / "platform"
    folder.mkdir()
    started = Processes(folder)
    yield started
    started.end()


@pytest.fixture
def platform(processes: Processes) -> str:
    """Its address, with a web server and a dispatcher behind it."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    web = processes.web(port, BASE_URL=url)
    processes.deliver()
    web.wait_for_output("Listening at", START)
    return url


@pytest.fixture
def author(platform: str, tmp_path: Path, installed: Path, app: App, dana: User) -> Author:
    token = create_developer_token(user=dana, name="Tests", lifetime=timedelta(days=1)).text
    return Author(tmp_path, installed, platform, token, app)


@pytest.mark.parametrize("template", TEMPLATES)
def test_what_new_writes_passes_and_leaves_nothing(author: Author, template: str) -> None:
    if template == "node" and node_version() < 20:
        pytest.skip("needs Node 20 or newer")
    began, is_busy = time.monotonic(), os.getloadavg()[0] > 2 * (os.cpu_count() or 1)
    author.run(template)
    assert is_busy or time.monotonic() - began < SECONDS
    assert not TestStore.objects.open().exists()
    assert not DispatcherSlot.objects.filter(person__isnull=False).exists()


def test_workflow_of_the_guide_runs_as_it_is(author: Author, platform: str, tmp_path: Path) -> None:
    """But for what a runner brings: the code, Python, and the packages, which are unpacked here already."""
    guide = (SDK.parent / "docs" / "testing-your-app.md").read_text()
    (text,) = re.findall(r"^```yaml\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)
    (job,) = yaml.safe_load(text.replace("{base_url}", platform))["jobs"].values()
    assert job["env"]["EXTENSION_PLATFORM_URL"] == platform
    assert job["env"]["EXTENSION_PLATFORM_TOKEN"] == "${{ secrets.EXTENSION_PLATFORM_TOKEN }}"
    install, *rest = [step["run"] for step in job["steps"] if "run" in step]
    folder = author.make("flask")
    assert install == "pip install -r requirements.txt"
    assert (folder / "requirements.txt").is_file()
    assert rest
    for command in rest:
        said = author.ran(command, folder)
        assert "7 passed" in said, said


@pytest.mark.parametrize("file", FILES.values())
def test_test_is_short(file: str) -> None:
    (path,) = (SDK / "python").rglob(f"templates/*/{file}")
    assert len(path.read_text().splitlines()) <= LINES


@pytest.mark.spec(SPEC, "At most 8 at once; nothing of another store")
def test_eight_at_once_do_not_see_each_other(author: Author, dana: User, app: App) -> None:
    """Seven run beside a store in which a delivery waits for two hours: it stays as it is."""
    api = api_of(dana)
    other = api("post", f"/developer/apps/{app.pk}/test-stores", {}).json()
    api("post", f"/developer/apps/{app.pk}/listener", {"testStoreId": other["id"]})
    api("post", f"/developer/test-stores/{other['id']}/changes", {"event": "order.created"})
    api("post", f"/developer/test-stores/{other['id']}/advance", {"seconds": 3600})
    waits = Delivery.objects.filter(business_id=other["businessId"])
    wait_until(lambda: waits.get().attempt_count == 5, START)
    before = waits.values_list("due_at", "attempt_count").get()
    running = [author.begin("flask", f"app-{number}") for number in range(7)]
    try:
        for process in running:
            ended(process)
    finally:
        for process in running:
            process.kill()
            process.communicate()
    assert waits.values_list("due_at", "attempt_count").get() == before
    assert [store.pk for store in TestStore.objects.open()] == [TestStore.objects.get(pk=other["id"]).pk]


@pytest.mark.spec(SPEC, "As at expiresAt: within a minute nothing is left")
def test_killed_test_leaves_nothing_a_minute_after_its_time(
    author: Author, installation: Installation
) -> None:
    kept = set(Business.objects.values_list("pk", flat=True))
    process = author.begin("flask")
    wait_until(lambda: Attempt.objects.filter(by_listener=True).exists(), START)
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    store = TestStore.objects.select_related("business").get()
    assert store.business.expires_at
    remove_ended(now=timezone.now())
    assert TestStore.objects.exists(), "It isn't over yet."
    remove_ended(now=store.business.expires_at + timedelta(minutes=1))
    assert set(Business.objects.values_list("pk", flat=True)) == kept
    for model in (TestStore, Event, Delivery, Attempt, Endpoint):
        assert not model.objects.exists(), model  # type: ignore[attr-defined]
    assert Installation.objects.get() == installation


def test_without_a_platform_it_is_skipped_with_the_reason(tmp_path: Path, installed: Path, app: App) -> None:
    author = Author(tmp_path, installed, "", "", app)
    said, _ = author.begin("flask").communicate(timeout=60)
    assert "1 skipped" in said, said
    if shutil.which("node"):
        said, _ = author.begin("node", "node").communicate(timeout=60)
        assert "# SKIP Set EXTENSION_PLATFORM_URL and EXTENSION_PLATFORM_TOKEN" in said, said
