"""Servers that fall silent: packets to them are lost, or they are stopped, and no connection ends (scenarios 33 and 34)."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import cycle, product
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from accounts.models import Business
from installations.models import Installation
from stores.models import Product, StorePicture
from tests import factories
from tests.faults import rabbitmq
from tests.faults.deliveries import FREED, START, Listen, all_delivered, answers_once, ids, order, probed
from tests.faults.machines import Machine, Network, require
from tests.faults.processes import Processes, database_url
from tests.faults.servers import Postgres, Redis
from tests.object_storage import CREDENTIALS, ObjectServer
from tests.receivers import Answer, Receiver
from tests.webhooks.helpers import publish, wait_until
from webhooks.engine import slots

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

THREADS = 8
AT_ONCE = 12  # requests; more than there are threads
ANSWERED = 15.0  # seconds, at most
BACK = 15.0  # seconds after the silence until everything is served again


@dataclass
class Server:
    """One that the web machine uses at an address of its own. `processes` are its processes now."""

    address: str
    processes: Callable[[], list[int]]


@dataclass
class Site:
    url: str
    web: Machine
    servers: dict[str, Server]
    installations: Iterator[Installation]  # in turn, since each has 60 requests a minute
    product: Product
    picture: str

    def place(self) -> requests.Response:
        return order(self.url, next(self.installations), self.product, timeout=40)

    def show(self) -> requests.Response:
        return requests.get(f"{self.url}{self.picture}", timeout=40)


@pytest.fixture
def site(
    own_postgres: Postgres, processes: Processes, tmp_path: Path, settings: object, sandbox: Business
) -> Iterator[Site]:
    require("ip", "redis-server")
    rabbitmq.require()
    with ExitStack() as stack:
        network = stack.enter_context(Network(tmp_path, processes))
        web = network.machine("web")
        addresses = {name: network.second_address() for name in ("database", "cache", "broker", "files")}
        cache = stack.enter_context(Redis(addresses["cache"]))
        files = stack.enter_context(ObjectServer(addresses["files"]))
        stack.enter_context(rabbitmq.virtual_host(network.name))
        database = urlsplit(database_url())
        at = f"{addresses['database']}:{database.port}"
        network.relay(at, f"127.0.0.1:{database.port}")
        broker = network.relay(f"{addresses['broker']}:5672", "127.0.0.1:5672")
        url = f"http://{web.address}:8000"
        processes.use(
            BASE_URL=url,
            DATABASE_URL=database._replace(netloc=f"{database.username}@{at}").geturl(),
            REDIS_URL=cache.url,
            CELERY_BROKER_URL=f"amqp://guest:guest@{addresses['broker']}:5672/{network.name}",
            MEDIA_STORAGE_URL=files.url,
            BIND="0.0.0.0:8000",
            WEB_PROCESSES="1",
            WEB_THREADS=str(THREADS),
            **CREDENTIALS,
        )
        web.start("gunicorn", "--config", "python:config.gunicorn", "config.wsgi")
        wait_until(lambda: answers(f"{url}/readyz"), timeout=60)
        yield Site(
            url,
            web,
            {
                "database": Server(addresses["database"], own_postgres.processes),
                "cache": Server(addresses["cache"], lambda: [cache.pid]),
                "broker": Server(addresses["broker"], lambda: [broker.pid]),
                "files": Server(addresses["files"], lambda: [files.pid]),
            },
            cycle([factories.installation(factories.app(sandbox.owner), sandbox) for _ in range(AT_ONCE)]),
            factories.product(sandbox),
            picture_in(files, sandbox),
        )


def answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=5).ok
    except requests.RequestException:
        return False


def picture_in(files: ObjectServer, business: Business) -> str:
    """A picture of the store whose file is in the bucket. Gives its path."""
    files.client().put_object(
        Bucket="extension-platform", Key="shops/media/stores/one.png", Body=b"a picture"
    )
    found = StorePicture.objects.create(
        business=business, file="stores/one.png", thumbnail="stores/one.png", content_type="image/png",
        width=1, height=1,
    )  # fmt: skip
    return f"/media/stores/{found.pk}"


@contextmanager
def packets_lost(site: Site, server: Server) -> Iterator[None]:
    site.web.stop_hearing(server.address)
    yield
    site.web.hear(server.address)


@contextmanager
def stopped(site: Site, server: Server) -> Iterator[None]:
    pids = server.processes()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


SILENCES = (stopped, packets_lost)
# What an order and a picture are answered with meanwhile.
MEANWHILE = {
    "database": ({503}, {503}),
    "cache": ({201}, {200}),
    "broker": ({201}, {200}),
    "files": ({201}, {503}),
}


@pytest.mark.fault(33, "answers waited for with an end", "thread of the probes")
def test_silent_server_is_answered_for_within_15_s_and_needs_no_restart(site: Site) -> None:
    """First the database, whose protections are taken out here; each server in turn, with more requests than threads."""
    for (name, server), silent in product(site.servers.items(), SILENCES):
        warm_up(site)
        with probed(site.url):
            with silent(site, server):
                orders, pictures = at_once(site.place), at_once(site.show)
            assert (set(orders), set(pictures)) == MEANWHILE[name], (name, silent, orders, pictures)
        wait_until(lambda: (site.place().status_code, site.show().status_code) == (201, 200), timeout=BACK)


def warm_up(site: Site) -> None:
    """Every thread has a session."""
    assert set(at_once(site.place)) == {201}
    assert set(at_once(site.show)) == {200}


def at_once(ask: Callable[[], requests.Response]) -> list[int]:
    """The statuses of many requests. Each has been answered in time."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        responses = list(pool.map(lambda _: timed(ask), range(AT_ONCE)))
    assert max(seconds for _, seconds in responses) < ANSWERED
    return [status for status, _ in responses]


def timed(ask: Callable[[], requests.Response]) -> tuple[int, float]:
    began = time.monotonic()
    try:
        status = ask().status_code
    except requests.RequestException:
        status = 0
    return status, time.monotonic() - began


@pytest.mark.fault(34, "leases that end with the heartbeat", "sessions that notice silence")
def test_worker_that_loses_the_database_has_its_leases_served_by_another_within_seconds(
    processes: Processes, tmp_path: Path, listen: Listen, receiver: Receiver, sandbox: Business
) -> None:
    """Its packets are lost while 40 requests are under way, whose answers it can't record, and that address is never
    heard of again. It goes on by the other one.
    """
    require("ip")
    listen(receiver.url, 40)
    publish(sandbox)
    may_answer = threading.Event()
    receiver.respond_with(Answer(script=answers_once(may_answer)))
    with Network(tmp_path, processes) as network:
        machine = network.machine("worker")
        address, other = network.second_address(), network.second_address()
        database = urlsplit(database_url())
        port = database.port or 5432
        for each in (address, other):
            network.relay(f"{each}:{port}", f"127.0.0.1:{port}")
        network.relay(f"{network.address}:{receiver.port}", f"127.0.0.1:{receiver.port}")
        network.relay(f"127.0.0.1:{receiver.port}", f"{network.address}:{receiver.port}", on=machine)
        silent = machine.start(
            *("manage.py", "deliver", "--forever"),
            DATABASE_URL=database._replace(
                netloc=f"{database.username}@{address}:{port},{other}:{port}"
            ).geturl(),
            VAR_DIR=os.environ["VAR_DIR"],  # with the keys that the test's rows were written with
        )
        in_flight = receiver.wait_for(40, timeout=START)
        machine.stop_hearing(address)
        receiver.respond_with(200)
        may_answer.set()
        processes.deliver()
        again = receiver.wait_for(80, timeout=START + FREED)[40:]
        wait_until(all_delivered)
        assert ids(again) == ids(in_flight)

        wait_until(lambda: slots.claiming().count() == 2, timeout=30)
        publish(sandbox)
        receiver.wait_for(120, timeout=10)
        wait_until(all_delivered)
        assert set(ids(receiver.requests[80:]).values()) == {1}
        assert silent.is_alive
