"""Redis and PostgreSQL that go away under load and come back (scenarios 5 to 7). The servers are the tests' own."""

import threading
import time

import pytest
from django.conf import settings
from django.db import connection

from accounts.models import Business
from config.celery import app as celery_app
from tests.faults.deliveries import Listen, all_delivered, answers_once, ids, wait_for_web
from tests.faults.load import CUSTOMERS, load, tasks_done
from tests.faults.processes import Processes
from tests.faults.servers import Postgres, Redis
from tests.ports import free_port
from tests.receivers import Answer, Receiver
from tests.webhooks.helpers import publish, published, wait_until
from webhooks.engine import slots
from webhooks.models import Delivery, Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]


@pytest.mark.fault(5, "rate limit that fails open")
def test_redis_away_under_load_fails_no_request_and_loses_no_event(
    own_redis: Redis, processes: Processes, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    port = free_port()
    running = [processes.web(port), processes.worker(), processes.beat()]
    wait_for_web(port)
    with load(f"http://127.0.0.1:{port}", sandbox) as orders:
        time.sleep(5)
        orders.slowest_of_100()
        time.sleep(5)
        before = orders.slowest_of_100()
        own_redis.kill()
        time.sleep(8)
        meanwhile = orders.slowest_of_100()
        own_redis.start()
        time.sleep(2)
    placed = orders.statuses.total()
    assert orders.statuses == {201: placed}
    assert placed > 20 * CUSTOMERS
    assert meanwhile - before < 0.25

    receiver.wait_for(placed, timeout=20)
    wait_until(all_delivered)
    assert Delivery.objects.count() == placed
    assert set(ids(receiver.requests).values()) == {1}
    published(sandbox)
    receiver.wait_for(placed + 1, timeout=3)
    assert all(process.is_alive for process in running)


@pytest.mark.fault(5)
@pytest.mark.parametrize("pool", ["threads", "prefork"])
def test_redis_away_stops_no_dispatcher(
    pool: str,
    own_redis: Redis,
    processes: Processes,
    webhook: Webhook,
    receiver: Receiver,
    sandbox: Business,
) -> None:
    worker, beat = processes.worker(pool=pool, FAULT_HURRY="1"), processes.beat()
    published(sandbox)
    receiver.wait_for(1, timeout=30)
    own_redis.kill()
    time.sleep(6)
    for _ in range(5):
        published(sandbox)
    sent = receiver.wait_for(6, timeout=5)
    wait_until(all_delivered)
    assert set(ids(sent).values()) == {1}

    before = len(worker.output)
    own_redis.start()
    wait_until(lambda: tasks_done(worker.output[before:]), timeout=30)
    assert published(sandbox)
    receiver.wait_for(7, timeout=3)
    assert worker.is_alive
    assert beat.is_alive
    worker.terminate()


@pytest.mark.fault(6, "locks of a claim")
def test_redis_emptied_in_the_middle_loses_and_doubles_nothing(
    own_redis: Redis, processes: Processes, listen: Listen, receiver: Receiver, sandbox: Business
) -> None:
    listen(receiver.url, 50)
    running = [processes.worker(), processes.worker(), processes.worker(), processes.beat()]
    wait_until(lambda: slots.claiming().count() == 2, timeout=30)
    published_now = 0
    for number in range(60):
        publish(sandbox)
        published_now += 50
        if number % 15 == 10:
            own_redis.client.flushall()
    receiver.wait_for(published_now, timeout=60)
    wait_until(all_delivered)
    own_redis.client.flushall()
    publish(sandbox)
    receiver.wait_for(published_now + 50, timeout=5)
    wait_until(all_delivered)
    assert set(ids(receiver.requests).values()) == {1}
    assert all(process.is_alive for process in running)


@pytest.mark.fault(7, "results kept over an outage")
def test_postgres_restarted_in_the_middle_of_a_batch_loses_and_doubles_nothing(
    own_postgres: Postgres, processes: Processes, listen: Listen, receiver: Receiver, sandbox: Business
) -> None:
    listen(receiver.url, 25)
    publish(sandbox)
    publish(sandbox)
    may_answer = threading.Event()
    receiver.respond_with(Answer(script=answers_once(may_answer)))
    dispatchers = [processes.deliver(), processes.deliver()]
    receiver.wait_for(50, timeout=30)
    with (
        own_postgres.connect() as session
    ):  # a claim doesn't wait for the disk: what a crash loses of it is resent
        session.execute("CHECKPOINT")
    threading.Timer(0.1, may_answer.set).start()
    own_postgres.restart(pause=4)  # all heartbeats are old by then
    back = time.monotonic()
    receiver.respond_with(200)
    wait_until(lambda: can_publish(sandbox))
    sent = receiver.wait_for(75, timeout=10)
    wait_until(all_delivered)
    assert sent[-1].at - back < 10
    assert set(ids(receiver.requests).values()) == {1}
    assert all(dispatcher.is_alive for dispatcher in dispatchers)


@pytest.mark.fault(21, "sessions checked around each task")
def test_sessions_of_postgres_ended_under_load_are_replaced_in_every_thread(
    own_redis: Redis,
    own_postgres: Postgres,
    processes: Processes,
    webhook: Webhook,
    receiver: Receiver,
    sandbox: Business,
) -> None:
    """The dispatcher is busy, so it heals the session of one thread only. Then every periodic task runs."""
    worker = processes.worker(FAULT_HURRY="20")
    processes.beat(FAULT_HURRY="20")
    wait_until(lambda: tasks_done(worker.output) >= EACH_MINUTE, timeout=90)
    end_sessions()
    for _ in range(40):
        publish(sandbox)
        time.sleep(0.2)
    before = len(worker.output)
    with celery_app.connection(own_redis.url) as broker:
        for task in EVERY_TASK:
            celery_app.send_task(task, connection=broker)
    wait_until(lambda: tasks_done(worker.output[before:]) == EVERY_TASK, timeout=60)
    assert "raised unexpected" not in worker.output[before:]
    receiver.wait_for(40, timeout=10)


SCHEDULES = {entry["task"]: entry["schedule"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
EVERY_TASK = SCHEDULES.keys()
EACH_MINUTE = {task for task, schedule in SCHEDULES.items() if schedule in (1.0, 5.0, 10.0, 20.0, 30.0, 60.0)}


def end_sessions() -> None:
    """All of the database but the test's own."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def can_publish(business: Business) -> bool:
    """The test's own connection has died with the server."""
    from django.db import connection

    connection.close()
    publish(business)
    return True
