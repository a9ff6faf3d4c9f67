"""An approval of an app with many installations, followed by a worker that is killed on the way."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from accounts.models import Business, User
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from installations.services.approval import BATCH
from marketplace.models import App, AppVersion
from tests import factories
from tests.faults.processes import database_url
from tests.webhooks.helpers import wait_until
from webhooks.models import DispatcherSlot, Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow, pytest.mark.timed]

ROOT = Path(__file__).parents[2]
URL = "https://app.example.com/hooks"

# Worker and beat in one process, as the demo has them.
WORKER = """
import time
import django
django.setup()
from config.demo.processes import Background
Background().start()
while True:
    time.sleep(1)
"""

Start = Callable[[], subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a worker on the test's database; it learns of approvals by the sweep alone."""
    running: list[subprocess.Popen[str]] = []

    def start_worker() -> subprocess.Popen[str]:
        environment = {
            "DATABASE_URL": database_url(),
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "REDIS_URL": "",
            "CELERY_BROKER_URL": "memory://",
        }
        with (tmp_path / f"{len(running)}.log").open("w") as log:
            running.append(
                subprocess.Popen(
                    [sys.executable, "-c", WORKER],
                    cwd=ROOT,
                    env=os.environ | environment,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
            )
        return running[-1]

    yield start_worker
    for process in running:
        process.kill()
        process.wait()


def install_often(app: App, owner: User, number: int) -> None:
    """Every other one for test. All have only the first of the app's scopes."""
    businesses = Business.objects.bulk_create(
        Business(owner=owner, name=f"Shop {each}", slug=f"many-{each}") for each in range(number)
    )
    Installation.objects.bulk_create(
        Installation(
            app=app,
            business=business,
            is_test=bool(each % 2),
            granted_scopes=["read_products"],
            webhook_secret=f"whsec_{each}",
            installed_by=owner,
            installed_at=timezone.now() - timedelta(days=1),
        )
        for each, business in enumerate(businesses)
    )


def changed() -> int:
    return HistoryEntry.objects.count()


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.postgres
@pytest.mark.spec("Contract 9 Precise points", "Conversion and needsReConsent survive the death of a worker")
def test_workers_killed_in_the_middle_of_an_approval_lose_nothing_and_do_nothing_twice(
    start: Start, dana: User, mira: User, record_property: Callable[[str, object], None]
) -> None:
    """Ten thousand installations; three workers die on the way, and a fourth and a fifth finish together."""
    number = 10_000
    app = factories.app(dana, scopes=["read_products", "read_orders"], webhook_url=URL)
    install_often(app, mira, number)
    version = factories.approve(app)
    for share in (0.2, 0.4, 0.6):
        worker = start()
        wait_until(lambda enough=number * share: changed() >= enough, timeout=60)  # type: ignore[misc]
        kill(worker)
        assert changed() < number
        assert changed() % BATCH == 0, "What is written of a batch is written whole."
    left = number - changed()
    began = time.monotonic()
    start(), start()
    wait_until(lambda: AppVersion.objects.filter(followed_at__isnull=False).exists(), timeout=60)
    record_property("seconds", time.monotonic() - began)
    record_property("left", left)

    states = Counter(Installation.objects.values_list("is_test", "needs_reconsent", "installed_by"))
    assert states == {(False, False, mira.pk): number // 2, (False, True, mira.pk): number // 2}
    entries = HistoryEntry.objects.values_list("installation", "kind")
    assert len(entries) == len(set(entries)) == number
    assert Counter(kind for _, kind in entries) == {
        HistoryKind.CONVERTED: number // 2,
        HistoryKind.NEEDS_RECONSENT: number // 2,
    }
    assert Webhook.objects.filter(url=URL, is_app_defined=True).count() == number
    assert AppVersion.objects.get().pk == version.pk


def test_worker_of_the_demo_follows_an_approval_within_ten_seconds(
    start: Start, dana: User, mira: User
) -> None:
    """On any database; the sweep alone tells it. The time of a worker's start doesn't count. Another goes on after a kill."""
    app = factories.app(dana, scopes=["read_products", "read_orders"])
    install_often(app, mira, 600)
    worker = start()
    wait_until(DispatcherSlot.objects.exists, timeout=30)
    factories.approve(app)
    wait_until(lambda: changed() > 0, timeout=10)
    kill(worker)
    start()
    wait_until(lambda: AppVersion.objects.filter(followed_at__isnull=False).exists(), timeout=30)
    assert changed() == 600
