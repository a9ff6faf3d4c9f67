"""PostgreSQL's disk has no space left (scenarios 37 and 38)."""

import json
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import psycopg
import pytest
import requests
from django.db import connection

from accounts.models import Business
from installations.models import Installation
from stores.models import Order
from tests import factories
from tests.faults.deliveries import Listen, all_delivered, answers_once, ids, order, probed, wait_for_web
from tests.faults.disks import Disk
from tests.faults.processes import Processes
from tests.faults.servers import Postgres, Redis, in_database_of
from tests.ports import free_port
from tests.receivers import Answer, Receiver
from tests.webhooks.helpers import publish, wait_until
from webhooks.models import Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

ENDPOINTS = 25
LEASE = 12  # seconds; longer than an attempt
BACK = 10.0  # seconds, once there is room


@pytest.fixture
def server(transactional_db: None) -> Iterator[Postgres]:
    """A PostgreSQL for the test and its processes, on a disk of its own."""
    made = Postgres()
    with Disk(made.directory / "disk", megabytes=256) as mounted:
        shutil.chown(mounted.folder, "postgres")
        made.data = mounted.folder / "data"
        with made, in_database_of(made):
            yield made


@pytest.fixture
def disk(server: Postgres) -> Disk:
    return Disk(server.data.parent, megabytes=0)


@pytest.fixture
def begin(
    own_redis: Redis, processes: Processes, listen: Listen, receiver: Receiver, sandbox: Business
) -> Callable[[], threading.Event]:
    """Start two workers, and have a dispatcher send 50 requests. They are answered once the event is set."""

    def start() -> threading.Event:
        processes.beat()
        listen(receiver.url, ENDPOINTS)
        publish(sandbox)
        publish(sandbox)
        may_answer = threading.Event()
        receiver.respond_with(Answer(script=answers_once(may_answer)))
        for _ in range(2):
            processes.worker(FAULT_CONSTANTS=json.dumps({"webhooks.engine.claim_selection:LEASE": LEASE}))
        receiver.wait_for(2 * ENDPOINTS, timeout=60)
        return may_answer

    return start


@pytest.mark.fault(37, "heartbeat while nothing can be recorded", "leases held")
def test_full_disk_of_the_database_loses_and_doubles_nothing(
    disk: Disk,
    processes: Processes,
    begin: Callable[[], threading.Event],
    receiver: Receiver,
    installation: Installation,
    sandbox: Business,
) -> None:
    """One dispatcher has 50 answers that it can't record, others have nothing to do."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    processes.web(port)
    wait_for_web(port, timeout=90)
    product, accepted = factories.product(sandbox), 0
    may_answer = begin()
    with disk.full(), probed(url):
        receiver.respond_with(200)
        may_answer.set()
        while (answer := order(url, installation, product)).status_code == 201:
            accepted += 1
            disk.fill()
        assert_refused(answer)
        assert requests.get(f"{url}/readyz", timeout=30).status_code == 200
        time.sleep(LEASE + 3)
        assert set(ids(receiver.requests).values()) == {1}
        assert_refused(order(url, installation, product))
    wait_until(lambda: order(url, installation, product).status_code == 201, BACK)
    sent = receiver.wait_for(ENDPOINTS * (3 + accepted), timeout=BACK)
    wait_until(all_delivered, BACK)
    assert Order.objects.count() == accepted + 1
    assert set(ids(sent).values()) == {1}
    assert all(process.is_alive for process in processes.started)


def assert_refused(response: requests.Response) -> None:
    """For want of room, also for another session."""
    assert (response.status_code, "Retry-After" in response.headers) == (503, True)
    assert response.headers["X-Error-Code"] in ("storage_full", "database_unreachable")


@pytest.mark.fault(38)
def test_postgres_that_its_full_disk_ends_has_kept_what_was_accepted(
    server: Postgres,
    disk: Disk,
    processes: Processes,
    webhook: Webhook,
    receiver: Receiver,
    installation: Installation,
    sandbox: Business,
) -> None:
    """Its log (WAL) needs another file. Its supervisor would start it again, until there is room."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    running = [processes.deliver(), processes.web(port)]
    wait_for_web(port, timeout=90)
    product = factories.product(sandbox)
    for _ in range(5):
        assert order(url, installation, product).status_code == 201
    with probed(url):
        with disk.full(), suppress(psycopg.OperationalError), server.connect() as session:
            connection.close()
            while True:
                session.execute(
                    "SELECT pg_switch_wal(), pg_logical_emit_message(true, '', repeat('x', 1000000))"
                )
                disk.fill()
        with suppress(subprocess.CalledProcessError):  # it usually can't even recover
            server.crash()
        assert order(url, installation, product).status_code == 503
        server.start()
        wait_until(lambda: order(url, installation, product).status_code == 201, BACK)
    wait_until(lambda: Order.objects.count() == 6)
    sent = receiver.wait_for(6, timeout=BACK)
    wait_until(all_delivered, BACK)
    assert set(ids(sent).values()) == {1}
    assert all(process.is_alive for process in running)
