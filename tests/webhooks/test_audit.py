"""The nightly audit finds rows whose counterpart is missing, and rows without partition."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from common.ids import id_at
from installations import services as installing
from installations.models import Installation
from tests.config.test_metrics import TOKEN, value
from tests.deliveries import OK, delivery
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.models import Erasure, Event, Webhook
from webhooks.services.audit import audit
from webhooks.tasks import audit_tables

METRIC = "extension_platform_misplaced_rows"


def test_audit_finds_what_has_lost_its_counterpart(
    webhook: Webhook, installation: Installation, settings: Any
) -> None:
    settings.METRICS_TOKEN = TOKEN
    operator = Client(headers={"Authorization": f"Bearer {TOKEN}"})
    now = timezone.now()
    for days in (70, 40, 3, 0):
        delivery(webhook, DeliveryStatus.SUCCEEDED, OK, created_at=now - timedelta(days=days))
    assert set(audit().values()) == {0}

    other = helpers.webhook(installation, "https://app.example.com/", ["order.created"])
    orphan = delivery(other, DeliveryStatus.SUCCEEDED, OK, created_at=now - timedelta(days=5))
    with connection.cursor() as cursor:  # as no code of ours does
        cursor.execute("DELETE FROM webhooks_webhook WHERE id = %s", [_text(orphan.webhook_id)])
        cursor.execute("DELETE FROM webhooks_delivery WHERE id < %s", [_id(now - timedelta(days=60))])
        cursor.execute("DELETE FROM webhooks_event WHERE id > %s", [_id(now - timedelta(days=4))])
    installing.uninstall(installation=installation)
    Erasure.objects.update(event_id=id_at(now))

    audit_tables()
    assert value(operator, f'{METRIC}{{kind="attempts"}}') == 1
    assert value(operator, f'{METRIC}{{kind="deliveries"}}') == 3
    assert value(operator, f'{METRIC}{{kind="erasures"}}') == 1
    assert value(operator, f'{METRIC}{{kind="without_partition"}}') == 0


def _id(moment: Any) -> str:
    return _text(id_at(moment))


def _text(id_: UUID) -> str:
    return str(id_) if connection.vendor == "postgresql" else id_.hex


@pytest.mark.postgres
def test_audit_finds_rows_without_partition(webhook: Webhook) -> None:
    delivery(webhook, created_at=timezone.now() + timedelta(days=100))  # by a clock that is wrong
    assert Event.objects.count() == 1
    assert audit()["without_partition"] == 2  # the event and the delivery
