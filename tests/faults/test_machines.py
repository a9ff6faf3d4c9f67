"""Two web machines and two workers with disks of their own, a proxy, PgBouncer, a broker and an S3 server (docs/several-machines.md).

They run without `DEBUG`, through nginx as `deploy/nginx.conf` has it. Every step is what an app, a developer, a reviewer, a merchant or
a shopper does by HTTP, and each request goes to another machine than the one before it.
"""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from cryptography.fernet import Fernet

from tests.by_hand import Platform
from tests.faults import rabbitmq
from tests.faults.machines import Machine, Network, ip, require
from tests.faults.processes import Process, Processes, database_url
from tests.faults.servers import Redis
from tests.object_storage import CREDENTIALS, ObjectServer
from tests.webhooks.helpers import wait_until
from tests.whole_life import SUPERUSER, AppServer, Mail, WholeLife, app_server
from tools.servers import Nginx

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
APP = "11.22.33.44"  # of the internet, where webhooks may go; each machine has a way of its own to the app's server there
STORES = "http://{slug}.stores.test:8080"
START = 120.0  # seconds; some five where the machine has nothing else to do

# What differs from `deploy/pgbouncer.ini`. It makes three sessions of all web servers'.
PGBOUNCER = {
    "host=127.0.0.1 port=5432 dbname=platform": "host=127.0.0.1 port={port} dbname={name} user={user}",
    "listen_addr = 127.0.0.1": "listen_addr = {address}\nunix_socket_dir =",
    "auth_type = scram-sha-256": "auth_type = any",
    "auth_file = /etc/pgbouncer/userlist.txt\n": "",
    "default_pool_size = 20": "default_pool_size = 3",
}


@dataclass
class Site:
    """The installation. `web` are its web servers by themselves."""

    url: str
    web: list[Machine]
    workers: list[Machine]
    servers: list[Process]
    files: ObjectServer
    life: WholeLife

    def at(self, number: int) -> str:
        return f"http://{self.web[number].address}:8000"


@pytest.fixture(params=["redis", "rabbitmq"])
def site(request: pytest.FixtureRequest, processes: Processes, tmp_path: Path) -> Iterator[Site]:
    require("ip", "nginx", "pgbouncer", "redis-server")
    if request.param == "rabbitmq":
        rabbitmq.require()
    with ExitStack() as stack, Network(tmp_path, processes) as network, Redis(network.address) as cache:
        web = [network.machine(name) for name in ("web1", "web2")]
        workers = [network.machine(name) for name in ("worker1", "worker2")]
        proxy = network.machine("proxy")
        files, mail = ObjectServer(network.address), Mail(tmp_path / "mail")
        receiver, trusted = stack.enter_context(app_server(tmp_path, APP))
        with files:
            database = urlsplit(database_url())
            port = database.port or 5432
            here = network.address
            network.relay(f"{here}:{port}", f"{database.hostname}:{port}")
            network.relay(f"{here}:{receiver.port}", f"127.0.0.1:{receiver.port}")
            for machine in (*web, *workers):
                ip("-n", machine.namespace, "addr", "add", f"{APP}/32", "dev", "lo")
                network.relay(f"{APP}:{receiver.port}", f"{here}:{receiver.port}", on=machine)
            broker = cache.url
            if request.param == "rabbitmq":
                network.relay(f"{here}:5672", "127.0.0.1:5672")
                broker = f"amqp://guest:guest@{here}:5672/{network.name}"
                stack.enter_context(rabbitmq.virtual_host(network.name))
            url = f"http://{proxy.address}:8080"
            processes.use(
                BASE_URL=url,
                STORES_URL=STORES,
                DEBUG="0",
                ALLOW_LOCAL_DESTINATIONS="0",
                EMAIL_URL=mail.url,
                SSL_CERT_FILE=str(trusted),
                ALLOWED_HOSTS=",".join(machine.address for machine in web),
                TRUSTED_PROXIES=proxy.address,
                SECRET_KEY="a key that all machines of this test share, 1234567890",
                FIELD_ENCRYPTION_KEYS=Fernet.generate_key().decode(),
                REDIS_URL=cache.url,
                CELERY_BROKER_URL=broker,
                MEDIA_STORAGE_URL=files.url,
                DATABASE_URL=database._replace(netloc=f"{database.username}@{here}:{port}").geturl(),
                DATA_ERASURE_DELAY="1",
                BIND="0.0.0.0:8000",
                WEB_PROCESSES="1",
                **CREDENTIALS,
            )
            proxied = Nginx(
                tmp_path / "nginx",
                listen="8080",
                web=[f"{machine.address}:8000" for machine in web],
                before=proxy.inside,
            )
            with pgbouncer(tmp_path, here, database), proxied:
                pooled = {
                    "DATABASE_URL": f"postgres://{database.username}@{here}:6432/platform",
                    "DATABASE_POOLER": "transaction",
                }
                platform = Platform(url, STORES, [])
                life = WholeLife(platform, AppServer(receiver, f"https://{APP}:{receiver.port}"), mail)
                for command in (life.reviewer.made_by, ("manage.py", "collectstatic", "--noinput")):
                    process = web[0].start(*command, **SUPERUSER)
                    assert process.wait_for_death(START) == 0, process.output
                shutil.copytree(web[0].folder / "static", web[1].folder / "static")
                for machine in workers:
                    machine.start("manage.py", "work")
                servers = [machine.start("manage.py", "serve", **pooled) for machine in web]
                workers[0].start("manage.py", "schedule")
                running = Site(url, web, workers, servers, files, life)
                platform.addresses = [running.at(0), running.at(1), running.url]
                for page in [f"{running.at(0)}/readyz", f"{running.at(1)}/readyz", f"{running.url}/healthz"]:
                    wait_until(lambda page=page: answers(page), timeout=START)  # type: ignore[misc]
                yield running


def answers(page: str) -> bool:
    try:
        return requests.get(page, timeout=10).ok
    except requests.RequestException:
        return False


class pgbouncer:  # noqa: N801  a context manager
    """In transaction mode, with three sessions for all web servers."""

    def __init__(self, directory: Path, address: str, database: Any) -> None:
        self._file = Path(directory / "pgbouncer.ini")
        text = (ROOT / "deploy/pgbouncer.ini").read_text()
        for before, after in PGBOUNCER.items():
            assert before in text, before
            text = text.replace(before, after)
        self._file.write_text(
            text.format(
                address=address, port=database.port or 5432, name=database.path[1:], user=database.username
            )
        )
        for folder in (directory, *directory.parents[:2]):  # it refuses to run as root
            folder.chmod(folder.stat().st_mode | 0o055)

    def __enter__(self) -> None:
        with (self._file.with_suffix(".log")).open("wb") as log:
            self._process = subprocess.Popen(
                ["pgbouncer", "-u", "postgres", str(self._file)], stdout=log, stderr=log
            )

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()


@pytest.mark.fault(28, "files in one bucket")
def test_whole_life_of_an_app_on_several_machines(site: Site) -> None:
    life = site.life
    life.begin()
    assert {key.split("/")[1] for key in site.files.stored()} == {"media", "exports"}
    assert [machine.stored() for machine in (*site.web, *site.workers)] == [[], [], [], []]

    # One web machine fails: the proxy goes on with the other.
    site.servers[0].kill()
    life.platform.addresses = [site.url, site.at(1)]
    life.end()
