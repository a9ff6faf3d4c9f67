"""The nightly audit finds rows whose counterpart is missing, and rows without partition."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import time_machine
from django.apps import apps
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone

from common.ids import id_at
from installations import services as installing
from installations.models import Installation
from tests.config.scraping import value
from tests.deliveries import OK, delivery
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.models import Erasure, Event, Webhook
from webhooks.services.audit import audit
from webhooks.tasks import audit_tables

METRIC = "extension_platform_misplaced_rows"
AGE = "extension_platform_audit_age_seconds"

AUDITED = {
    "webhooks.Attempt.delivery",
    "webhooks.Delivery.event",
    "webhooks.Delivery.webhook",
    "webhooks.Erasure.event",
}
# Rows that end after days, and are read with their installation or app only.
LOGS = {
    "activity.ApiCall.app",
    "activity.ApiCall.installation",
    "activity.DeprecatedUse.app",
    "activity.DeprecatedUse.installation",
    "activity.StoreScopeUse.app",
    "activity.StoreScopeUse.installation",
    "activity.LogGap.app",
    "activity.ScopeUse.app",
}
OUTLIVES_ACCOUNTS = {"accounts.SecurityEvent.user", "accounts.SecurityEvent.actor"}
FREED_WITHIN_SECONDS = {"webhooks.Delivery.leased_by"}
STAYS_WHEN_A_SHOP_DELETES_IT = {"stores.Review.product"}
GONE_WITHIN_AN_HOUR = {"teststores.TestStore.app", "teststores.TestStore.made_by"}
GONE_WITHIN_A_DAY = {
    "accounts.Business.copy_of",
    "installations.Trial.app",
    "installations.Trial.asked_by",
    "installations.Trial.store",
}


def test_audit_finds_what_has_lost_its_counterpart(
    webhook: Webhook,
    installation: Installation,
    operator: Client,
) -> None:
    now = timezone.now()
    for days in (70, 40, 1, 0):
        delivery(webhook, DeliveryStatus.SUCCEEDED, OK, created_at=now - timedelta(days=days))
    assert set(audit().values()) == {0}

    other = helpers.webhook(installation, "https://app.example.com/", ["order.created"])
    orphan = delivery(other, DeliveryStatus.SUCCEEDED, OK, created_at=now - timedelta(days=8))
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


@pytest.mark.long
def test_each_day_is_looked_at_after_1_8_and_29_days_and_none_is_left_out(webhook: Webhook) -> None:
    """A delivery without its event, found on these nights alone. The third night has no audit."""
    cache.clear()
    now = timezone.now().replace(hour=4)
    lost = delivery(webhook, DeliveryStatus.SUCCEEDED, OK, created_at=now)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM webhooks_event WHERE id = %s", [_text(lost.event_id)])
    nights = []
    with time_machine.travel(now, tick=False) as clock:
        for night in range(1, 32):
            clock.shift(timedelta(days=1))
            if night == 3:
                late = delivery(
                    webhook, DeliveryStatus.SUCCEEDED, OK, created_at=timezone.now() - timedelta(days=1)
                )
                with connection.cursor() as cursor:
                    cursor.execute("DELETE FROM webhooks_event WHERE id = %s", [_text(late.event_id)])
            elif audit()["deliveries"]:
                nights.append(night)
    assert nights == [1, 4, 8, 10, 29, 31]


def test_every_column_without_a_constraint_is_audited_or_left_out_for_a_reason() -> None:
    """docs/operations-run.md, "Metrics", has the reasons."""
    without = {
        f"{model._meta.app_label}.{model.__name__}.{field.name}"
        for model in apps.get_models()
        for field in model._meta.local_fields
        if field.remote_field and not getattr(field, "db_constraint", True)
    }
    reasons = (
        LOGS,
        OUTLIVES_ACCOUNTS,
        FREED_WITHIN_SECONDS,
        STAYS_WHEN_A_SHOP_DELETES_IT,
        GONE_WITHIN_AN_HOUR,
        GONE_WITHIN_A_DAY,
    )
    assert without == AUDITED.union(*reasons)


@pytest.mark.django_db
def test_age_of_the_last_audit_grows_until_the_next_one(operator: Client) -> None:
    cache.clear()
    assert AGE not in operator.get("/metrics").content.decode()
    with time_machine.travel(timezone.now(), tick=False) as clock:
        audit_tables()
        clock.shift(timedelta(days=3))
        assert value(operator, AGE) == 3 * 24 * 3600
        assert f'{METRIC}{{kind="attempts"}} 0.0' in operator.get("/metrics").content.decode()
        audit_tables()
        assert value(operator, AGE) == 0


def _id(moment: Any) -> str:
    return _text(id_at(moment))


def _text(id_: UUID) -> str:
    return str(id_) if connection.vendor == "postgresql" else id_.hex


@pytest.mark.postgres
def test_audit_finds_rows_without_partition(webhook: Webhook) -> None:
    delivery(webhook, created_at=timezone.now() + timedelta(days=100))  # by a clock that is wrong
    assert Event.objects.count() == 1
    assert audit()["without_partition"] == 2  # the event and the delivery
