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
from cryptography.fernet import Fernet

from tests.deploy.test_files import healthy
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

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text()
SERVICES = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]
USER = re.findall(r"^USER (\d+)$", DOCKERFILE, re.MULTILINE)[0]
VAR_DIR = re.findall(r"VAR_DIR=(\S+) BIND", DOCKERFILE)[0]
REFUSED = r"Read-only|Permission denied"
HEARTBEAT = re.findall(r"HEARTBEAT_FILE=(\S+)", DOCKERFILE)[0]

# A file system like the container's: the image's VAR_DIR, the tmpfs of the service, and nothing else that can be written.
CONTAINER = """
set -eu
image=$1 var=$2 user=$3 mounts=$4
shift 4
mount --make-rprivate /
mount -t tmpfs none /var/lib
mkdir "$var"
mount --bind "$image" "$var"
for mount in $mounts; do
    path=${mount%%:*} options=${mount#"$path"}
    mkdir -p "$path"
    mount -t tmpfs -o "mode=1777${options:+,${options#:}}" none "$path"
done
awk '{ print $5 }' /proc/self/mountinfo | while read -r path; do
    case " $mounts /dev /proc /sys" in *" $path "*|*" $path:"*) continue ;; esac
    case $path in /dev*|/proc*|/sys*) continue ;; esac
    mount -o remount,bind,ro "$path" 2>/dev/null || true
done
# It may read everything, since the interpreter of a test can be in somebody's home.
read=-all,+dac_read_search
exec setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs \\
    --bounding-set "$read" --inh-caps "$read" --ambient-caps "$read" "$@"
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """VAR_DIR as the image has it: static files, owned by its user."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
        pytest.skip("makes mount namespaces, which isn't allowed here")
    folder = tmp_path_factory.mktemp("image")
    run = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity=0"]
    subprocess.run(run, cwd=ROOT, env=environment() | {"VAR_DIR": str(folder)}, check=True)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, int(USER), int(USER))
    return folder


def environment() -> dict[str, str]:
    return os.environ | {
        "DEBUG": "0",
        "ALLOW_LOCAL_DESTINATIONS": "0",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "BASE_URL": "https://platform.example",
        "STORES_URL": "https://{slug}.stores.example",
        "SECRET_KEY": "a key of this test alone, 1234567890 1234567890",
        "METRICS_TOKEN": "a token of this test alone, 1234567890 123456",
        "FIELD_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        "EMAIL_URL": "dummymail://",
        "VAR_DIR": VAR_DIR,
        "WEB_PROCESSES": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class Container:
    """A service of Compose. A context manager."""

    def __init__(self, name: str, image: Path, log: Path, **settings: str) -> None:
        service = SERVICES[name]
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        command = [sys.executable, "manage.py", *service["command"]]
        mounts = " ".join(service["tmpfs"])
        with log.open("wb") as target:
            self._process = subprocess.Popen(
                ["unshare", "--mount", "sh", "-c", CONTAINER, "sh", str(image), VAR_DIR, USER, mounts, *command],
                cwd=ROOT, env=environment() | settings, stdout=target, stderr=target, start_new_session=True,
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
