"""Noticing that nobody sends."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import Business
from tests.webhooks.helpers import drain, publish
from webhooks import claims
from webhooks.models import Delivery, Webhook
from webhooks.stall import deliveries_stall

pytestmark = pytest.mark.django_db(transaction=True)
MINUTE = timedelta(seconds=61)


def test_quiet_is_no_stall(webhook: Webhook, sandbox: Business) -> None:
    assert not deliveries_stall(timezone.now())
    publish(sandbox)
    assert not deliveries_stall(timezone.now())


def test_stall_is_told_to_the_operator(webhook: Webhook, sandbox: Business, client: Client) -> None:
    publish(sandbox, now=timezone.now() - MINUTE)
    assert deliveries_stall(timezone.now())
    answer = client.get("/readyz")
    assert answer.json()["deliveries"] == "unavailable"
    assert answer.json()["database"] == "ok"


def test_stall_ends_with_an_attempt(webhook: Webhook, sandbox: Business, client: Client) -> None:
    publish(sandbox, now=timezone.now() - MINUTE)
    drain()
    publish(sandbox, now=timezone.now() - MINUTE)
    assert not deliveries_stall(timezone.now())
    assert client.get("/readyz").json()["deliveries"] == "ok"


def test_backlog_of_an_endpoint_that_is_being_tried_is_no_stall(webhook: Webhook, sandbox: Business) -> None:
    for _ in range(10):
        publish(sandbox, now=timezone.now() - MINUTE)
    assert len(claims.claim(100, timezone.now())) == 8
    assert not deliveries_stall(timezone.now())


@pytest.mark.postgres
def test_stall_is_looked_up_in_indexes(webhook: Webhook) -> None:
    due = Delivery.objects.filter(lease_until=None, due_at__lt=timezone.now())
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        plan = due.explain()
        cursor.execute("RESET enable_seqscan")
    assert "delivery_due" in plan
