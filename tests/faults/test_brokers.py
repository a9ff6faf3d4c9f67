"""The broker is lost: RabbitMQ with all its queues, and the master of Redis with Sentinel (scenarios 29 and 30)."""

import os
import time
from pathlib import Path

import pytest
import requests

from accounts.models import Business
from tests.faults import rabbitmq
from tests.faults.deliveries import Listen, all_delivered, ids, wait_for_web
from tests.faults.load import CUSTOMERS, Load, load, tasks_done
from tests.faults.processes import Process, Processes
from tests.faults.servers import Redis, Sentinels
from tests.ports import free_port
from tests.receivers import Receiver
from tests.webhooks.helpers import wait_until
from webhooks.engine import slots
from webhooks.models import Delivery

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

RATE = 0.9  # orders a second of each customer
AWAY = 8.0  # seconds
BACK = 30.0  # seconds within which workers do tasks again


def installation_of(processes: Processes, **environment: str) -> tuple[str, Process]:
    """A web process, a worker with a dispatcher, and the scheduler. Gives the address and the worker."""
    port = free_port()
    processes.use(**environment)
    processes.web(port)
    processes.beat()
    worker = processes.worker(FAULT_HURRY="1")  # it logs its tasks
    wait_for_web(port)
    wait_until(lambda: slots.claiming().exists(), timeout=BACK)
    return f"http://127.0.0.1:{port}", worker


def wait_for_tasks(worker: Process) -> None:
    """Until it has done one from now on."""
    before = len(worker.output)
    wait_until(lambda: tasks_done(worker.output[before:]), timeout=BACK, said=lambda: worker.output[before:])


def all_arrived(orders: Load, receiver: Receiver) -> None:
    """Each accepted order once, and no request was refused."""
    placed = orders.statuses.total()
    assert orders.statuses == {201: placed}
    receiver.wait_for(placed, timeout=20)
    wait_until(all_delivered)
    assert Delivery.objects.count() == placed
    assert set(ids(receiver.requests).values()) == {1}


@pytest.mark.fault(29, "scheduler that connects again")
def test_rabbitmq_that_comes_back_empty_has_lost_nothing(
    own_redis: Redis, processes: Processes, listen: Listen, receiver: Receiver, sandbox: Business
) -> None:
    rabbitmq.require()
    listen(receiver.url)
    name = f"faults{os.getpid()}"
    with rabbitmq.virtual_host(name) as host, rabbitmq.Way() as way:
        broker = f"amqp://guest:guest@127.0.0.1:{way.port}/{name}"
        url, worker = installation_of(processes, CELERY_BROKER_URL=broker)
        with load(url, sandbox, RATE) as orders:
            time.sleep(3)
            way.close()
            host.remove()
            placed = orders.statuses.total()
            time.sleep(AWAY)
            assert orders.statuses.total() > placed
            receiver.wait_for(orders.statuses.total() - CUSTOMERS, timeout=3)  # sent meanwhile
            host.make()
            way.open()
            wait_for_tasks(worker)
        all_arrived(orders, receiver)
        assert all(process.is_alive for process in processes.started)
        processes.end()


@pytest.mark.fault(30, "master that the sentinels name")
def test_redis_whose_master_dies_has_another_within_seconds(
    processes: Processes, listen: Listen, receiver: Receiver, sandbox: Business, tmp_path: Path
) -> None:
    listen(receiver.url)
    with Sentinels(tmp_path) as servers:
        url, worker = installation_of(processes, REDIS_URL=servers.url, CELERY_BROKER_URL=servers.url)
        dead = servers.master
        with load(url, sandbox, RATE) as orders:
            time.sleep(3)
            dead.kill()
            wait_until(lambda: servers.master is not dead, timeout=20)
            wait_until(lambda: requests.get(f"{url}/readyz?strict", timeout=10).ok, timeout=20)
            wait_for_tasks(worker)
            copied = servers.master.client.keys("*rate:*")
            servers.master.client.delete(*copied)
            time.sleep(3)
            assert servers.master.client.keys("*rate:*")  # requests are counted by the new master
        all_arrived(orders, receiver)
        assert all(process.is_alive for process in processes.started)
        processes.end()
