"""What operators learn of deliveries that wait."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Business
from tests.webhooks import helpers
from tests.webhooks.helpers import drain, publish
from webhooks.engine import planning
from webhooks.engine.claim_selection import LEASE, SLOW
from webhooks.enums import Pace
from webhooks.insight.backlog import is_overdue
from webhooks.models import Delivery, Endpoint, Webhook

pytestmark = pytest.mark.django_db(transaction=True)
MINUTE = timedelta(seconds=61)


def state(client: Client) -> str:
    return str(client.get("/readyz").json()["deliveries"])


def test_quiet_is_not_overdue(webhook: Webhook, sandbox: Business) -> None:
    assert not is_overdue(timezone.now())
    publish(sandbox)
    assert not is_overdue(timezone.now())


def test_operator_learns_of_overdue_deliveries_until_they_are_sent(
    webhook: Webhook, sandbox: Business, client: Client
) -> None:
    publish(sandbox, now=timezone.now() - MINUTE)
    answer = client.get("/readyz").json()
    assert (answer["deliveries"], answer["database"]) == ("unavailable", "ok")
    drain()
    assert state(client) == "ok"


@pytest.mark.postgres
def test_deliveries_that_wait_for_a_slow_endpoint_are_not_overdue(
    webhook: Webhook, sandbox: Business, client: Client
) -> None:
    """It has one attempt under way, and may have no more: it did not answer the last time."""
    Endpoint.objects.create(id=webhook.endpoint, pace=Pace.SILENT)
    for _ in range(10):
        publish(sandbox, now=timezone.now() - MINUTE)
    assert state(client) == "unavailable"
    assert len(helpers.claim(100, timezone.now())) == 1
    assert state(client) == "ok"


@pytest.mark.postgres
def test_deliveries_that_wait_for_a_hanging_endpoint_are_not_overdue(
    webhook: Webhook, sandbox: Business
) -> None:
    now = timezone.now()
    for _ in range(10):
        publish(sandbox, now=now - MINUTE)
    assert len(helpers.claim(1, now)) == 1
    assert is_overdue(now), "It may have more attempts."
    Delivery.objects.exclude(lease_until=None).update(lease_until=now + LEASE - SLOW * 2)
    assert not is_overdue(now), "It has left one waiting."


def test_leases_that_no_dispatcher_is_left_to_free_are_overdue(webhook: Webhook, sandbox: Business) -> None:
    publish(sandbox, now=timezone.now() - MINUTE)
    helpers.claim(1, timezone.now())
    assert not is_overdue(timezone.now())
    Delivery.objects.update(lease_until=timezone.now() - timedelta(seconds=11))
    assert is_overdue(timezone.now())


@pytest.mark.postgres
def test_overdue_is_looked_up_by_index_and_leaves_the_session_as_it_was(webhook: Webhook) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert not is_overdue(timezone.now())
    (look,) = (query["sql"] for query in queries if "RECURSIVE" in query["sql"])
    with planning.by_index_here(), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {look}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "due_at_id_endpoint_idx on webhooks_delivery_" in plan  # `delivery_due` of a partition
    assert "Seq Scan on webhooks_delivery" not in plan
    with connection.cursor() as cursor:
        cursor.execute("SHOW enable_seqscan")
        assert cursor.fetchone() == ("on",)
