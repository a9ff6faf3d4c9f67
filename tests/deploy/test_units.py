"""Processes of `deploy/systemd` under the restrictions of their units, which the kernel enforces here as systemd has it do."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from accounts.models import Business
from installations.models import Installation
from tests.config.commands import production
from tests.deploy.isolation import REFUSED, ROOT, VAR_DIR, isolated
from tests.deploy.restricted import unit_settings
from tests.faults.processes import Process, Processes, database_url
from tests.ports import free_port
from tests.receivers import Receiver
from tests.webhooks import helpers
from tests.webhooks.helpers import publish, wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.redis,
    pytest.mark.slow,
    pytest.mark.timed,
]
TMPFS = ("/tmp",)  # noqa: S108
TOKEN = "".join(map(chr, range(60, 110)))
Start = Callable[..., Process]

# What only some requests do: pictures in a process of its own, keys, patterns, foreign functions.
WORK = """
import ctypes, io, os, tempfile
import django
django.setup()
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.fernet import Fernet
from django.core.files.base import ContentFile
from PIL import Image
import re2
from common.files.pictures import decode

ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 1)()
ec.generate_private_key(ec.SECP256R1())
Fernet(Fernet.generate_key()).encrypt(b"secret")
assert re2.compile("a+b").fullmatch("aab")
for format in ("PNG", "JPEG", "WEBP"):
    file = io.BytesIO()
    Image.effect_noise((600, 400), 50).convert("RGB").save(file, format)
    found = decode(ContentFile(file.getvalue()), max_bytes=10**7, max_pixels=10**6, side=300)
    assert (found.width, found.height) == (300, 200), format
with tempfile.NamedTemporaryFile(dir=os.environ["VAR_DIR"]) as file:
    os.chmod(file.name, 0o600)
print("All of it works.")
"""
FORBIDDEN = """
import ctypes, mmap, os, socket
for attempt in (
    lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC),
    lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    lambda: os.chown("/tmp", 0, 0),
    lambda: os.sched_setaffinity(0, {0}),
    lambda: open("/etc/passwd", "a"),
):
    try:
        attempt()
        print("not refused")
    except OSError:
        pass
library = ctypes.CDLL(None, use_errno=True)
print("refused" if library.unshare(0x10000000) else "not refused")
"""


def restricted_to(unit: str, image: Path) -> tuple[str, ...]:
    """To be put before a command."""
    settings = unit_settings(unit)
    assert settings["PrivateTmp"] == settings["NoNewPrivileges"] == ["yes"]
    assert (settings["ProtectSystem"], settings["CapabilityBoundingSet"]) == (["strict"], [""])
    return (*isolated(image, TMPFS, writable=VAR_DIR), sys.executable, "-m", "tests.deploy.restricted", unit)


@pytest.fixture
def start(transactional_db: None, tmp_path: Path, image: Path) -> Iterator[Start]:
    """Starts a command as a unit does: `start("web", "manage.py", "serve")`."""
    processes = Processes(tmp_path)
    redis = os.environ["REDIS_URL"]
    processes.use(**production(tmp_path) | {"DATABASE_URL": database_url(), "REDIS_URL": redis})
    processes.use(CELERY_BROKER_URL=redis, VAR_DIR=VAR_DIR, METRICS_TOKEN=TOKEN, PYTHONDONTWRITEBYTECODE="1")

    def started(unit: str, *command: str, **settings: str) -> Process:
        return processes.start(*command, prefix=restricted_to(unit, image), **settings)

    yield started
    processes.end()


def test_web_server_works_under_its_restrictions(start: Start) -> None:
    port = free_port()
    web = start("web", "manage.py", "serve", BIND=f"127.0.0.1:{port}", WEB_PROCESSES="2")

    def get(path: str) -> requests.Response:
        assert web.is_alive, web.output
        headers = {"Authorization": f"Bearer {TOKEN}", "X-Forwarded-Proto": "https"}
        return requests.get(f"http://127.0.0.1:{port}{path}", headers=headers, timeout=30)

    def is_ready() -> bool:
        try:
            return get("/readyz?strict").status_code == 200
        except requests.ConnectionError:
            return False

    wait_until(is_ready, timeout=90)
    assert "extension_platform_http_seconds_count" in get("/metrics").text
    web.signal_first(signal.SIGTERM)
    assert web.wait_for_death() == 0
    assert not re.search(REFUSED, web.output)


@pytest.mark.parametrize("unit", ["worker", "deliver"])
def test_deliveries_are_sent_under_the_restrictions_of(
    unit: str, start: Start, installation: Installation, sandbox: Business, settings: Any
) -> None:
    keys = ",".join(settings.FIELD_ENCRYPTION_KEYS)
    (command,) = unit_settings(unit)["ExecStart"]
    process = start(
        unit, "manage.py", *command.split("manage.py ")[1].split(),
        DEBUG="1", ALLOW_LOCAL_DESTINATIONS="1", FIELD_ENCRYPTION_KEYS=keys,
    )  # fmt: skip
    with Receiver() as receiver:
        helpers.webhook(installation, receiver.url, ["order.created"])
        publish(sandbox)
        if unit == "worker":
            scheduler = start("scheduler", "manage.py", "schedule", DEBUG="1", FIELD_ENCRYPTION_KEYS=keys)
        receiver.wait_for(1, timeout=90)
    process.signal_first(signal.SIGTERM)
    assert process.wait_for_death() == 0
    assert not re.search(REFUSED, process.output)
    if unit == "worker":
        assert scheduler.is_alive, scheduler.output
        assert not re.search(REFUSED, scheduler.output)


@pytest.mark.parametrize(("program", "said"), [(WORK, "All of it works.\n"), (FORBIDDEN, "refused\n")])
def test_units_allow_what_the_platform_does_and_no_more(
    program: str, said: str, image: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        [*restricted_to("web", image), sys.executable, "-c", program],
        cwd=ROOT, env={"PATH": os.environ["PATH"]} | production(tmp_path) | {"VAR_DIR": VAR_DIR},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (said, "")
