"""PostgreSQL restored to a point in time, by the commands of docs/operations.md."""

import os
import re
import subprocess
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from accounts.models import Business
from installations.models import Installation
from stores.models import Order
from tests import factories
from tests.faults.processes import Processes
from tests.faults.servers import Postgres, in_database_of
from tests.receivers import Receiver
from tests.webhooks.helpers import drain, publish, webhook
from webhooks.models import Delivery, Event

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

GUIDE = Path(__file__).resolve().parents[2] / "docs/operations.md"
FIRST_DELIVERY = 300.0  # seconds, promised


@pytest.fixture
def archived_postgres(transactional_db: None) -> Any:
    with Postgres(archive=True) as server, in_database_of(server):
        yield server


def documented(server: Postgres, block: str, **environment: str) -> None:
    """Run a block of the guide as the user of the cluster."""
    found = re.search(rf"^```sh {block}\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert found, block
    at = {"PGHOST": "127.0.0.1", "PGPORT": str(server.port), "PGUSER": "postgres"}
    path = {"PATH": f"{server.programs}:{os.environ['PATH']}"}
    named = [f"{name}={value}" for name, value in (at | path | environment).items()]
    command = [*server.as_user, "env", *named, "bash", "-euc", found[1]]
    subprocess.run(command, check=True, cwd=server.directory, stdout=subprocess.DEVNULL, timeout=60)


def now_of_database() -> Any:
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        return cursor.fetchone()[0]


@pytest.mark.fault(27)
def test_cluster_restored_to_before_a_mistake_sends_what_was_due_then(
    archived_postgres: Postgres,
    processes: Processes,
    receiver: Receiver,
    sandbox: Business,
    installation: Installation,
    settings: Any,
) -> None:
    server = archived_postgres
    webhook(installation, receiver.url, ["order.created"])
    old = factories.order(sandbox)
    backup, empty = server.directory / "backup", server.directory / "new"
    documented(server, "back-up", BACKUP=str(backup))

    publish(sandbox)
    drain()
    receiver.wait_for(1)
    due = publish(sandbox)  # nothing runs that would send it
    recent = factories.order(sandbox)
    time.sleep(0.1)
    moment = now_of_database()
    time.sleep(0.1)
    publish(sandbox)
    token = {"Authorization": f"Bearer {installation.raw_token}"}  # type: ignore[attr-defined]
    cursor_of_before = Client().get("/app-api/events", headers=token).json()["nextCursor"]
    Order.objects.all().delete()  # the mistake
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_switch_wal()")
    wait_for_archive(server)

    connection.close()
    began = time.monotonic()
    server.crash()
    server.run("mkdir", "--mode=700", str(empty))
    server.data = empty
    documented(
        server,
        "restore",
        BACKUP=str(backup),
        PGDATA=str(empty),
        ARCHIVE=str(server.archive),
        TARGET=moment.isoformat(),
    )
    settings.FEED_EPOCH = 1
    processes.deliver(FEED_EPOCH="1")
    arrived = receiver.wait_for(2, timeout=60)
    assert time.monotonic() - began < FIRST_DELIVERY

    assert set(Order.objects.values_list("pk", flat=True)) == {old.pk, recent.pk}
    assert due is not None
    assert [each.headers["x-webhook-event-uid"] for each in arrived][1:] == [str(due.pk)]
    assert Event.objects.count() == Delivery.objects.count() == 2  # the third came after the moment
    assert not Event.objects.filter(occurred_at__gt=moment + timedelta(seconds=1)).exists()
    refused = Client().get(f"/app-api/events?after={cursor_of_before}", headers=token)
    assert refused.status_code == 410


def wait_for_archive(server: Postgres) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_walfile_name(pg_current_wal_lsn())")
        (current,) = cursor.fetchone()
    end = time.monotonic() + 20
    while not any(file.name < current for file in server.archive.iterdir()) or _waits(server):
        assert time.monotonic() < end
        time.sleep(0.05)


def _waits(server: Postgres) -> bool:
    return any((server.data / "pg_wal/archive_status").glob("*.ready"))
