"""Processes of `deploy/compose.yaml` start where only its `tmpfs` can be written, as the user of `deploy/Dockerfile`."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.deploy.files import healthy
from tests.deploy.isolation import DOCKERFILE, REFUSED, ROOT, SECRETS, environment, isolated
from tests.faults.processes import database_url
from tests.object_storage import BUCKET, CREDENTIALS, ObjectServer
from tests.ports import free_port
from tests.webhooks.helpers import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.redis,
    pytest.mark.slow,
]

SERVICES = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]
HEARTBEAT = re.findall(r"HEARTBEAT_FILE=(\S+)", DOCKERFILE)[0]


class Container:
    """A service of Compose. A context manager."""

    def __init__(self, name: str, image: Path, log: Path, **settings: str) -> None:
        service = SERVICES[name]
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        command = [sys.executable, "manage.py", *service["command"]]
        values, secrets = environment() | settings, log.with_name("secrets")
        secrets.mkdir()
        for variable in (each for each in service["environment"] if each.endswith("_FILE")):
            name = variable.removesuffix("_FILE")
            (secrets / name).write_text(values.pop(name, ""))
            values[variable] = f"{SECRETS}/{name}"
        with log.open("wb") as target:
            self._process = subprocess.Popen(
                [*isolated(image, service["tmpfs"], secrets=secrets), *command],
                cwd=ROOT, env=values, stdout=target, stderr=target, start_new_session=True,
            )  # fmt: skip
        self.log = log

    @property
    def heartbeat(self) -> str:
        return f"/proc/{self._process.pid}/root{HEARTBEAT}"

    def wait_until_healthy(self, *url: str) -> None:
        def is_healthy() -> bool:
            assert self._process.poll() is None, self.log.read_text()
            return healthy(*url, HEARTBEAT_FILE=self.heartbeat, BASE_URL="https://platform.example")

        wait_until(is_healthy, timeout=60)

    def wait_for_end(self) -> int:
        """Its exit status."""
        return self._process.wait(timeout=120)

    def __enter__(self) -> "Container":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@pytest.mark.timed
@pytest.mark.parametrize("name", ["web1", "worker", "scheduler"])
def test_service_of_compose_starts(name: str, image: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    port = free_port()
    settings = {"DATABASE_URL": database_url(), "BIND": f"127.0.0.1:{port}"}
    if name != "web1":
        settings["HEARTBEAT_FILE"] = HEARTBEAT
    with Container(name, image, log, **settings) as container:
        container.wait_until_healthy(*([f"http://127.0.0.1:{port}/healthz"] if name == "web1" else []))
    assert not re.search(REFUSED, log.read_text())


@pytest.mark.timed
def test_migrations_of_compose_end_well(image: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Container("migrate", image, log, DATABASE_URL=database_url()) as container:
        assert container.wait_for_end() == 0, log.read_text()
    assert "No migrations to apply." in log.read_text()
    assert not re.search(REFUSED, log.read_text())


@pytest.mark.timed
def test_compose_makes_its_bucket(image: Path, tmp_path: Path) -> None:
    server = ObjectServer()
    server.start()
    try:
        server.wait()
        log = tmp_path / "log"
        settings = {"DATABASE_URL": database_url(), "MEDIA_STORAGE_URL": server.url, **CREDENTIALS}
        with Container("bucket", image, log, **settings) as container:
            assert container.wait_for_end() == 0, log.read_text()
        server.client().head_bucket(Bucket=BUCKET)
        assert not re.search(REFUSED, log.read_text())
    finally:
        server.stop()
