"""The commands of the guides for one machine and for several, taken out of the documents, with what `make release` made.

They run unchanged and as root, on machines with a network and files of their own. In place of what doesn't run here:

- `systemctl` starts the units' own ExecStart (`systemctl.py`), and `apt-get` does nothing;
- PostgreSQL, Redis and the bucket are servers of the test, which the machines reach at the addresses that the guide names;
- pip downloads with this machine's network, once: other machines get a copy of the folder.

Settings that a person fills in are filled in by `filled_in`.
"""

import os
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import trustme
from cryptography.fernet import Fernet

from tests.faults.machines import Network, require
from tests.faults.processes import Processes
from tests.faults.servers import BackedUp, Postgres, Redis
from tests.object_storage import BUCKET, CREDENTIALS, ObjectServer
from tests.release.hosts import Host
from tests.release.making import Released, once

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.timeout(1800)]

ROOT = Path(__file__).resolve().parents[2]
STARTS_WITHIN = 240.0  # seconds, on a busy machine
HOSTS = "127.0.0.1 localhost\n{proxy} platform.example harbour.stores.example\n"
PASSWORD = "pw1234567890"
CHECK = "curl --fail --silent --show-error"


def blocks() -> dict[str, str]:
    """The named blocks of the guides."""
    found: list[tuple[str, str]] = []
    for guide in ("operations-install", "operations-run", "several-machines"):
        text = (ROOT / f"docs/{guide}.md").read_text()
        found += re.findall(r"^```(?:sh|ini) ([\w-]+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(dict(found)) == len(found), "Two blocks have the same name."
    return dict(found)


BLOCKS = blocks()


def of_role(name: str, role: str) -> str:
    """What of a block is for web machines, or for another role: its comments say so."""
    lines = BLOCKS[name].splitlines(keepends=True)
    kept = [line for line in lines if role == "web" or "# on web machines" not in line]
    text = re.sub(r"-web +# or -worker, -scheduler", f"-{role}", "".join(kept))
    assert f"extension-platform-{role}" in text
    return text


def filled_in(host: Host, **settings: str) -> None:
    """`/etc/extension-platform/environment` and the files of secrets, as a person edits them."""
    path, filled = "/etc/extension-platform/environment", {}
    for name, value in ({"EMAIL_URL": "dummymail://"} | settings).items():
        file = f"/etc/extension-platform/secrets/{name}"
        if host.has(file):
            host.write(file, value)
        else:
            filled[name] = value
    text = host.read(path)
    kept = [line for line in text.splitlines() if line.partition("=")[0] not in filled]
    host.write(path, "\n".join([*kept, *(f"{name}='{value}'" for name, value in filled.items()), ""]))


@pytest.fixture(scope="module")
def installed(released: Released, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """`/opt` after the first commands of both guides."""
    require("ip", "nginx", "redis-server", "curl", "runuser", "nsenter")
    if subprocess.run(
        ["/usr/bin/python3", "-c", "import ensurepip"], capture_output=True, check=False
    ).returncode:
        pytest.skip("needs python3-venv, which is not installed")
    with once(tmp_path_factory, "installed") as folder:
        if not folder.exists():
            made = folder.with_name("installing")
            made.mkdir()
            with Network(made, Processes(made)) as network, Host(network.machine("first")) as host:
                host.run(BLOCKS["install"], released.dist, is_online=True, RELEASE=released.tag)
            (made / "first/root/opt").rename(folder)
        yield folder


@contextmanager
def machine(network: Network, name: str, installed: Path) -> Iterator[Host]:
    with Host(network.machine(name)) as host:
        shutil.copytree(
            installed, host.files / "opt", symlinks=True, dirs_exist_ok=True, copy_function=os.link
        )
        yield host


def proxy(host: Host, folder: str, certificates: Path, **environment: str) -> None:
    certificate = trustme.CA()
    certificate.cert_pem.write_to_path(certificates)
    leaf = certificate.issue_cert("platform.example", "*.stores.example")
    host.write(
        "/etc/tls/platform-and-stores.pem", b"".join(each.bytes() for each in leaf.cert_chain_pems).decode()
    )
    host.write("/etc/tls/platform-and-stores.key", leaf.private_key_pem.bytes().decode())
    host.run(BLOCKS["proxy"], folder, **environment)


def wait_for(host: Host, commands: str, **environment: str) -> str:
    """Their output, once they succeed."""
    end = time.monotonic() + STARTS_WITHIN
    while True:
        try:
            return host.run(commands, **environment)
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(1)


def test_guide_for_one_machine(released: Released, installed: Path, tmp_path: Path) -> None:
    folder = f"/opt/extension-platform/releases/{released.tag}"
    with ExitStack() as stack:
        network = stack.enter_context(Network(tmp_path, Processes(tmp_path)))
        database, cache = stack.enter_context(BackedUp()), stack.enter_context(Redis(network.address))
        host = stack.enter_context(machine(network, "one", installed))
        network.relay(f"{network.address}:5432", f"127.0.0.1:{database.port}")
        for port, server in ((5432, 5432), (6379, cache.port)):
            network.relay(f"127.0.0.1:{port}", f"{network.address}:{server}", on=host.machine)
        host.write("/etc/hosts", HOSTS.format(proxy="127.0.0.1"))

        host.run(BLOCKS["one-packages"])
        host.run(BLOCKS["prepare"], folder)
        wait_for(host, "pg_isready --host 127.0.0.1")
        host.run(BLOCKS["one-database"], PGHOST="127.0.0.1", POSTGRES_PASSWORD=PASSWORD)
        host.run(BLOCKS["one-secrets"], POSTGRES_PASSWORD=PASSWORD)
        filled_in(host, **dict(re.findall(r"^(\w+)='(.*)'$", BLOCKS["one-settings"], re.MULTILINE)))
        host.run(BLOCKS["manage"] + BLOCKS["migrate"] + of_role("start", "web"), folder, RELEASE=released.tag)
        host.run(BLOCKS["one-start"])
        trusted = tmp_path / "authority.pem"
        proxy(host, folder, trusted, WEB="127.0.0.1")

        answer = wait_for(host, BLOCKS["one-check"], CURL_CA_BUNDLE=str(trusted))
        assert '"deliveries": "ok"' in answer
        page = host.run(f"{CHECK} --location https://platform.example/", CURL_CA_BUNDLE=str(trusted))
        assert "Extension Platform" in page
        wait_for(host, "grep 'The worker is ready' /var/log/extension-platform-worker.log")
        wait_for(host, "test -e /var/lib/extension-platform/schedule")

        database.do(BLOCKS["first-backup"], PGDATABASE="platform")
        drill = BLOCKS["drill"].replace("/var/lib/postgresql", str(database.directory))
        assert "Restored and checked in 0:" in host.run(drill, folder, **database.environment)


def test_guide_for_several_machines(released: Released, installed: Path, tmp_path: Path) -> None:
    folder, archive = f"/opt/extension-platform/releases/{released.tag}", {"RELEASE": released.tag}
    with ExitStack() as stack:
        network = stack.enter_context(Network(tmp_path, Processes(tmp_path)))
        database, cache = stack.enter_context(Postgres()), stack.enter_context(Redis(network.address))
        files = ObjectServer(network.address)  # without its bucket
        files.start()
        stack.callback(files.stop)
        files.wait()
        network.relay(f"{network.address}:5432", f"127.0.0.1:{database.port}")
        web1, web2, worker = (
            stack.enter_context(machine(network, name, installed)) for name in ("web1", "web2", "worker")
        )
        before = stack.enter_context(Host(network.machine("proxy")))
        shared = {
            "SECRET_KEY": secrets.token_urlsafe(48),
            "FIELD_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
            "METRICS_TOKEN": secrets.token_urlsafe(48),
            "DATABASE_URL": f"postgres://platform:{PASSWORD}@{network.address}:5432/platform",
            "REDIS_URL": cache.url,
            "MEDIA_STORAGE_URL": files.url,
            "BIND": "0.0.0.0:8000",
            "TRUSTED_PROXIES": before.address,
            "ALLOWED_HOSTS": f"{web1.address},{web2.address}",
            **CREDENTIALS,
        }
        wait_for(worker, f"pg_isready --host {network.address}")
        worker.run(BLOCKS["one-database"], PGHOST=network.address, POSTGRES_PASSWORD=PASSWORD)
        for host in (worker, web1, web2):
            host.run(BLOCKS["prepare"], folder)
            filled_in(host, **shared)
        worker.run(BLOCKS["manage"] + "manage storage --create\n" + BLOCKS["migrate"], folder)
        files.client().head_bucket(Bucket=BUCKET)
        worker.run(BLOCKS["manage"] + of_role("start", "worker"), folder, **archive)
        worker.run(of_role("start", "scheduler").splitlines()[-1])
        for host in (web1, web2):
            host.run(BLOCKS["manage"] + of_role("start", "web"), folder, **archive)

        unpack = "".join(BLOCKS["install"].splitlines(keepends=True)[:4])
        assert "venv" not in unpack
        before.run(unpack, released.dist, **archive)
        before.write("/etc/hosts", HOSTS.format(proxy="127.0.0.1"))
        trusted = tmp_path / "authority.pem"
        proxy(before, folder, trusted, WEB=f"{web1.address} {web2.address}")

        for host in (web1, web2):
            ready = wait_for(before, f"{CHECK} 'http://{host.address}:8000/readyz?strict'")
            assert '"deliveries": "ok"' in ready
        metrics = f"{CHECK} --header 'Authorization: Bearer {shared['METRICS_TOKEN']}' http://127.0.0.1:9102/metrics"
        wait_for(worker, f"{metrics} | grep '^extension_platform_dispatchers 1'")  # the scheduler tells
        worker.run(f"{metrics} | grep '^extension_platform_info{{version='")
        page = before.run(f"{CHECK} --location https://platform.example/", CURL_CA_BUNDLE=str(trusted))
        assert "Extension Platform" in page
