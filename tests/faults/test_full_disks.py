"""Disks without space of web machines and workers (scenarios 35 and 36)."""

import os
import signal
import time
from collections.abc import Iterator
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import requests
from django.utils import timezone
from PIL import Image

from accounts.models import Business, User
from accounts.services.developer_tokens import create_developer_token
from appapi.models import Export, ExportResource, ExportStatus
from appapi.services.exports import PUT_OFF, request_export
from installations.models import Installation
from tests import factories
from tests.config.commands import children
from tests.faults.deliveries import all_delivered, ids, order, probed, wait_for_web
from tests.faults.disks import Disk, assert_no_room
from tests.faults.processes import Processes
from tests.faults.servers import Redis
from tests.ports import free_port
from tests.receivers import Receiver
from tests.webhooks.helpers import published, wait_until
from webhooks.models import Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

METRICS = "".join(map(chr, range(60, 110)))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with Disk(tmp_path / "disk", megabytes=24) as mounted:
        yield mounted


@pytest.fixture
def processes(transactional_db: None, disk: Disk, settings: Any, without: str | None) -> Iterator[Processes]:
    """Their logs, `VAR_DIR` and heartbeats are on the disk."""
    started = Processes(disk.folder, FAULT_WITHOUT=without or "", VAR_DIR="/tmp")  # noqa: S108
    started.use(
        FIELD_ENCRYPTION_KEYS=",".join(settings.FIELD_ENCRYPTION_KEYS), SECRET_KEY=settings.SECRET_KEY
    )
    yield started
    started.end()


class Developer:
    """Uploads an icon of an app by the developer API, and reads it back."""

    def __init__(self, url: str, owner: User) -> None:
        self._app = factories.app(owner)
        self._at = f"{url}/developer/apps/{self._app.pk}"
        issued = create_developer_token(user=owner, name="laptop", lifetime=timedelta(days=1))
        self._credential = {"Authorization": f"Bearer {issued.text}"}

    def upload(self, content: bytes, *, in_chunks: bool = False) -> requests.Response:
        prepared = requests.Request("PATCH", self._at, files={"icon": content}).prepare()
        body, headers = prepared.body, self._credential | {"Content-Type": prepared.headers["Content-Type"]}
        assert isinstance(body, bytes)
        return requests.patch(self._at, data=iter([body]) if in_chunks else body, headers=headers, timeout=30)

    def shown(self) -> int:
        """The status of the icon's address."""
        url = requests.get(self._at, headers=self._credential, timeout=30).json()["iconUrl"]
        return requests.get(url, timeout=30).status_code


def noise(size: int) -> bytes:
    """A picture that takes some bytes for each pixel."""
    written = BytesIO()
    Image.effect_noise((size, size), 100).save(written, "PNG")
    return written.getvalue()


@pytest.mark.fault(35, "disk without space as an outage", "whole files only")
def test_web_server_whose_disks_are_full_goes_on_and_refuses_uploads(
    disk: Disk, processes: Processes, installation: Installation, sandbox: Business
) -> None:
    """It starts there, too."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    product, developer = factories.product(sandbox), Developer(url, sandbox.owner)
    small, large = noise(256), bytes(3 * 1024**2)
    media = disk.folder / "media"
    with disk.full():
        web = processes.web(port, prefix=disk.alone, METRICS_TOKEN=METRICS, BASE_URL=url)
        wait_for_web(port, timeout=90)
        disk.fill()
        with probed(url):
            assert_no_room(developer.upload(small))
            assert not [file for file in media.rglob("*") if file.is_file()]
            disk.fill()
            assert_no_room(developer.upload(large))
            assert_no_room(developer.upload(large, in_chunks=True))
            assert order(url, installation, product).status_code == 201
        before = children(web)
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: bool(children(web) - before), timeout=30)
        disk.fill()
        wait_for_web(port)
        assert order(url, installation, product).status_code == 201
        assert_no_room(developer.upload(large))
        scraped = requests.get(f"{url}/metrics", headers={"Authorization": f"Bearer {METRICS}"}, timeout=30)
        assert scraped.status_code == 200
    assert developer.upload(large).status_code == 400  # over 2 MiB
    assert developer.upload(small).status_code == 200
    assert developer.shown() == 200
    assert web.is_alive


@pytest.mark.fault(36, "exports put off", "schedule that may wait")
def test_worker_and_scheduler_whose_disks_are_full_deliver_and_make_exports_afterwards(
    own_redis: Redis,
    disk: Disk,
    processes: Processes,
    webhook: Webhook,
    receiver: Receiver,
    installation: Installation,
    sandbox: Business,
) -> None:
    """They start there, too."""
    factories.product(sandbox)
    with disk.full():
        worker = processes.start("manage.py", "work", prefix=disk.alone, HEARTBEAT_FILE="/tmp/alive")  # noqa: S108
        schedule = ("manage.py", "schedule", "--state", "/tmp/schedule")  # noqa: S108
        scheduler = processes.start(*schedule, prefix=disk.alone, FAULT_HURRY="20")
        export = request_export(installation=installation, resource=ExportResource.PRODUCTS)
        published(sandbox)
        receiver.wait_for(1, timeout=60)
        disk.fill()
        wait_until(lambda: is_put_off(export), timeout=60)
        published(sandbox)
        receiver.wait_for(2, timeout=10)
        wait_until(all_delivered)
        assert set(ids(receiver.requests).values()) == {1}
    Export.objects.update(lease_until=None)  # in place of a minute
    wait_until(lambda: Export.objects.get().status == ExportStatus.READY, timeout=30)
    scheduler.terminate()
    assert "appapi.tasks.make_exports" in (disk.folder / "schedule").read_text()
    wait_until(lambda: time.time() - (disk.folder / "alive").stat().st_mtime < 3)
    assert worker.is_alive


def is_put_off(export: Export) -> bool:
    """Whether a worker has tried to make it, and will again in a minute."""
    export.refresh_from_db()
    assert export.status == ExportStatus.PENDING
    return export.lease_until is not None and export.lease_until < timezone.now() + PUT_OFF
