"""A standby takes over from a primary that dies, by docs/several-machines.md (scenarios 41 and 42)."""

import os
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
from django.db import connection
from django.utils import timezone

from accounts.models import Business
from installations.models import Installation
from stores.models import Order, Product
from tests import factories
from tests.faults.deliveries import Listen, answers_once, ids, order
from tests.faults.processes import ROOT, Process, Processes
from tests.faults.servers import Postgres, Standby
from tests.ports import free_port
from tests.receivers import Answer, Receiver
from tests.webhooks.helpers import wait_until
from tools.backups import block
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, Event

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

GUIDE = ROOT / "docs/several-machines.md"
ANSWERED = 15.0  # seconds, at most
SENT = [DeliveryStatus.SUCCEEDED]


@dataclass
class Pair:
    """A primary and its standby, a web server and a dispatcher that know both, and a product to order."""

    primary: Postgres
    standby: Standby
    processes: Processes
    installation: Installation
    product: Product
    port: int

    def start(self, **environment: str) -> list[Process]:
        started = [self.processes.web(self.port, **environment), self.processes.deliver(**environment)]
        wait_until(lambda: self.is_ready(), timeout=60)
        return started

    def is_ready(self) -> bool:
        try:
            return requests.get(f"{self.url}/readyz", timeout=5).ok
        except requests.RequestException:
            return False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def place(self) -> requests.Response:
        return order(self.url, self.installation, self.product, timeout=40)

    def read_feed(self, after: str = "") -> requests.Response:
        token = {"Authorization": f"Bearer {self.installation.raw_token}"}  # type: ignore[attr-defined]
        asked = {"after": after} if after else {}
        return requests.get(f"{self.url}/app-api/events", params=asked, headers=token, timeout=40)

    def wait_until_replicated(self) -> None:
        with self.primary.connect() as session:
            (until,) = session.execute("SELECT pg_current_wal_flush_lsn()::text").fetchone()  # type: ignore[misc]
        with self.standby.connect() as session:
            is_there = f"SELECT pg_last_wal_replay_lsn() >= '{until}'"
            wait_until(lambda: session.execute(is_there).fetchone() == (True,))

    def cut(self) -> None:
        """The standby hears no more of its primary."""
        with self.standby.connect() as session:
            session.execute("ALTER SYSTEM SET primary_conninfo = ''")
            session.execute("SELECT pg_reload_conf()")
        with self.primary.connect() as session:
            wait_until(lambda: not session.execute("SELECT 1 FROM pg_stat_replication").fetchall())

    def fail_over(self) -> None:
        self.primary.crash()
        connection.close()
        environment = {"PGHOST": "127.0.0.1", "PGPORT": str(self.standby.port), "PGUSER": "postgres"}
        subprocess.run(
            ["bash", "-euc", block("fail-over", GUIDE)],
            env=os.environ | environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        connection.settings_dict["PORT"] = self.standby.port


@pytest.fixture
def pair(
    own_postgres: Postgres, processes: Processes, sandbox: Business, installation: Installation, settings: Any
) -> Iterator[Pair]:
    with Standby(own_postgres) as standby:
        hosts = f"127.0.0.1:{own_postgres.port},127.0.0.1:{standby.port}"
        processes.use(DATABASE_URL=f"postgres://postgres@{hosts}/faults?target_session_attrs=read-write")
        product = factories.product(sandbox)
        yield Pair(own_postgres, standby, processes, installation, product, free_port())
        processes.end()


def orders() -> set[str]:
    return {str(key) for key in Order.objects.values_list("pk", flat=True)}


def placed(response: requests.Response) -> str:
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


@pytest.mark.fault(41, "epoch of the feed")
def test_asynchronous_failover_loses_what_it_names_and_nothing_that_comes_after(
    pair: Pair, listen: Listen, receiver: Receiver
) -> None:
    listen(receiver.url)
    since = timezone.now()
    started = pair.start()
    kept = [placed(pair.place())]
    receiver.wait_for(1)
    cursor_before = pair.read_feed().json()["nextCursor"]
    may_answer = threading.Event()
    receiver.respond_with(Answer(script=answers_once(may_answer)))
    kept.append(placed(pair.place()))
    receiver.wait_for(2)
    pair.wait_until_replicated()
    pair.cut()
    may_answer.set()  # so that only the primary records the answer
    receiver.respond_with(200)
    lost = placed(pair.place())
    receiver.wait_for(3)
    wait_until(lambda: Delivery.objects.filter(status__in=SENT).count() == 3)
    (lost_event,) = Event.objects.filter(data__contains=lost)
    cursor_lost = pair.read_feed().json()["nextCursor"]

    pair.fail_over()
    for process in started:
        process.kill()
    pair.start(FEED_EPOCH="1")
    assert orders() == set(kept), "What was not replicated is gone."
    again = receiver.wait_for(4)
    assert sorted(ids(again).values()) == [1, 1, 2], (
        "What was sent, but isn't known to be, is sent under its id again."
    )
    assert named_as_lost(pair, since) == [f"{lost_event.pk} order.created {lost_event.business_id} 1"]

    assert [pair.read_feed(cursor).status_code for cursor in (cursor_before, cursor_lost)] == [410, 410]
    page = pair.read_feed().json()
    fresh = placed(pair.place())
    receiver.wait_for(5)
    wait_until(lambda: Delivery.objects.filter(status__in=SENT).count() == 3)
    after = pair.read_feed(page["nextCursor"]).json()
    read = [event["data"]["orderId"] for found in (page, after) for event in found["data"]]
    assert read == [*kept, fresh]


def named_as_lost(pair: Pair, since: Any) -> list[str]:
    """What the guide's commands print, with the disk of the primary that died."""
    port = str(free_port())
    done = subprocess.run(
        [*pair.primary.as_user, "bash", "-euc", block("lost", GUIDE).replace("5433", port)],
        env=os.environ
        | {
            "PATH": f"{pair.primary.programs}:{os.environ['PATH']}",
            "LOST": str(pair.primary.data),
            "NEW_URL": f"{pair.standby.url}/faults",
            "OLD_URL": f"postgres://postgres@127.0.0.1:{port}/faults",
            "SINCE": since.isoformat(),
        },
        cwd=pair.primary.directory,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.fault(42)
def test_synchronous_failover_loses_nothing_that_was_accepted(pair: Pair) -> None:
    with pair.primary.connect() as session:
        for name, text in (("synchronous_standby_names", "*"), ("synchronous_commit", "remote_apply")):
            session.execute(f"ALTER SYSTEM SET {name} = '{text}'")
        session.execute("SELECT pg_reload_conf()")
        state = "SELECT sync_state FROM pg_stat_replication"
        wait_until(lambda: session.execute(state).fetchall() == [("sync",)])
    pair.start()
    accepted = {placed(pair.place()) for _ in range(5)}
    pair.cut()
    refused = pair.place()
    assert refused.status_code == 503
    assert refused.elapsed.total_seconds() < ANSWERED

    pair.fail_over()
    wait_until(pair.is_ready, timeout=30)
    assert accepted <= orders()
    accepted.add(placed(pair.place()))
    assert accepted <= orders()
