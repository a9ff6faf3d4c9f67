"""The tests that `new` writes into an app, as they are, against running processes: web server and dispatcher."""

import os
import re
import shutil
import signal
import time
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from django.utils import timezone
from extension_platform_sdk.cli import new

from accounts.models import Business, User
from conformance.services.runs import remove_ended
from installations.models import Installation
from marketplace.models import App
from tests.clients import api_of
from tests.sdk.author import FILES, START, Author, ended
from tests.sdk.author import author as author
from tests.sdk.author import installed as installed
from tests.sdk.author import platform as platform
from tests.sdk.author import processes as processes
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
LINES, SECONDS = 40, 10
TEMPLATES = ("flask", "django", "node")  # FastAPI's runs in `test_first_app.py`, which has a server for it


@pytest.fixture
def app(app: App) -> App:
    """Without a Webhook URL: the tests need none."""
    App.objects.update(webhook_url="", webhook_events=[], scopes=new.SCOPES)
    app.refresh_from_db()
    return app


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
        assert "8 passed" in said, said


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
