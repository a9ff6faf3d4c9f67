"""Deliveries by processes that are killed, stopped, doubled, or without a broker."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Business
from config.celery import app as celery_app
from tests.receivers import Answer, Receiver
from tests.webhooks.helpers import drain, publish, published, wait_until
from webhooks import tasks
from webhooks.engine import claims
from webhooks.models import Delivery, Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow, pytest.mark.timed]

ROOT = Path(__file__).parents[3]
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a Python process of the project on the test's database."""
    running: list[subprocess.Popen[str]] = []

    def start_process(*arguments: str, **environment: str) -> subprocess.Popen[str]:
        running.append(
            subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=os.environ | {"DATABASE_URL": database_url()} | environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
        return running[-1]

    yield start_process
    for process in running:
        process.kill()
        process.communicate()


def database_url() -> str:
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()


def expire_leases() -> None:
    Delivery.objects.filter(lease_until__isnull=False).update(lease_until=timezone.now())


@pytest.mark.spec("Contract 5 Webhooks", "A commit is never lost, whatever process dies when")
def test_worker_killed_while_it_sends_loses_nothing(
    start: Start, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    receiver.respond_with(Answer(delay=30), 200)
    delivery = published(sandbox)
    process = start("manage.py", "deliver", "--forever")
    receiver.wait_for(1, timeout=30)
    process.send_signal(signal.SIGKILL)
    process.wait()

    delivery.refresh_from_db()
    assert delivery.status == "PENDING"
    assert delivery.lease_until is not None
    assert delivery.lease_until - timezone.now() < claims.LEASE
    assert drain() == 0, "Its lease has not run out."
    expire_leases()
    assert drain() == 1
    assert drain() == 0
    sent = [request.headers["x-service-event-id"] for request in receiver.requests]
    assert sent == [str(delivery.id)] * 2


def test_worker_killed_between_claim_and_send_loses_nothing(
    start: Start, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    delivery = published(sandbox)
    die_after_claim = (
        "import os, signal, django; django.setup()\n"
        "from django.utils import timezone\n"
        "from webhooks.engine import claims\n"
        "assert len(claims.claim(10, timezone.now(), slot=0)) == 1\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    process = start("-c", die_after_claim, DJANGO_SETTINGS_MODULE="config.settings")
    assert process.wait(30) == -signal.SIGKILL
    assert drain() == 0
    expire_leases()
    assert drain() == 1
    assert [request.headers["x-service-event-id"] for request in receiver.requests] == [str(delivery.id)]


def test_worker_that_is_terminated_finishes_what_it_sends(
    start: Start, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    receiver.respond_with(Answer(delay=1))
    for _ in range(3):
        publish(sandbox)
    process = start("manage.py", "deliver", "--forever")
    receiver.wait_for(3, timeout=30)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=15)
    assert process.returncode == 0, output
    assert "3 attempts made." in output
    assert Counter(Delivery.objects.values_list("status", "lease_until")) == {("SUCCEEDED", None): 3}


@pytest.mark.postgres
@pytest.mark.spec("Contract 5 Webhooks", "Several workers send each delivery once")
def test_two_workers_send_each_delivery_once(
    start: Start, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    for _ in range(400):
        publish(sandbox)
    workers = [start("manage.py", "deliver", "--forever") for _ in range(2)]
    wait_until(lambda: not Delivery.objects.exclude(status="SUCCEEDED").exists(), timeout=60)
    for worker in workers:
        worker.send_signal(signal.SIGTERM)
        worker.communicate(timeout=15)
    sent = Counter(request.headers["x-service-event-id"] for request in receiver.requests)
    assert (len(sent), set(sent.values())) == (400, {1})


@pytest.mark.redis
@pytest.mark.postgres
@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_celery_worker_that_is_terminated_takes_on_no_more(
    pool: str, start: Start, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    """Though there is always more to do. Its queue is its own, since other tests may run."""
    receiver.respond_with(Answer(delay=0.3))
    publish(sandbox)
    queue, broker = f"test-{uuid4()}", os.environ["REDIS_URL"]
    arguments = ["-A", "config.celery", "worker", "-c", "1", "-P", pool, "-Q", queue, "--without-mingle"]
    process = start("-m", "celery", *arguments, CELERY_BROKER_URL=broker, REDIS_URL=broker)
    with celery_app.connection(broker) as connected:
        tasks.dispatch.apply_async(queue=queue, connection=connected)
    receiver.wait_for(1, timeout=30)
    process.send_signal(signal.SIGTERM)
    end = time.monotonic() + 10
    while process.poll() is None and time.monotonic() < end:
        publish(sandbox)
        time.sleep(0.1)
    assert process.poll() is not None
    states = Counter(Delivery.objects.values_list("status", "lease_until"))
    assert set(states) <= {("SUCCEEDED", None), ("PENDING", None)}
    assert states["SUCCEEDED", None] == len(receiver.requests)


PUBLISH = """
import sys, time
import django
django.setup()
from django.db import transaction
from accounts.models import Business
from config.celery import app as celery_app
from tests.webhooks.helpers import publish
began = time.monotonic()
for _ in range(20):
    with transaction.atomic():
        publish(Business.objects.get(id=sys.argv[1]))
print("took", time.monotonic() - began)
time.sleep(1)
"""


@pytest.mark.spec(
    "Contract 5 Webhooks", "A dead broker neither fails nor slows the change that caused an event"
)
def test_dead_broker_fails_and_slows_nothing(
    start: Start, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    dead = "redis://127.0.0.1:1/0"
    process = start(
        "-c",
        PUBLISH,
        str(sandbox.id),
        DJANGO_SETTINGS_MODULE="config.settings",
        CELERY_BROKER_URL=dead,
        REDIS_URL=dead,
    )
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0, output
    seconds = float(output.rpartition("took ")[2].split()[0])
    assert seconds < 20 * 0.25
    assert drain() == 20  # as the sweep would
    assert len(receiver.requests) == 20


WORKER = """
import sys, time
import django
django.setup()
from django.db import transaction
from accounts.models import Business
from config.celery import app as celery_app
from config.demo.processes import Background
from tests.webhooks.helpers import publish
background = Background()
background.start()
time.sleep(float(sys.argv[2]))
with transaction.atomic():
    publish(Business.objects.get(id=sys.argv[1]))
print("committed", time.monotonic(), flush=True)
time.sleep(3)
background.stop()
"""


@pytest.mark.parametrize("settled", ["1.3", "2.7"])
def test_embedded_worker_delivers_at_once(
    settled: str, start: Start, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    process = start(
        "-c",
        WORKER,
        str(sandbox.id),
        settled,
        DJANGO_SETTINGS_MODULE="config.settings",
        REDIS_URL="",
        CELERY_BROKER_URL="memory://",
    )
    (request,) = receiver.wait_for(1, timeout=30)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0, output
    committed = float(output.rpartition("committed ")[2].split()[0])
    assert request.at - committed < 0.8  # both read the machine's monotonic clock
    wait_until(lambda: Delivery.objects.get().status == "SUCCEEDED")
    time.sleep(0.1)
    assert len(receiver.requests) == 1
