"""Deliveries are kept for 30 days, then removed; what is not over stays.

Here in batches, as on SQLite, and as on PostgreSQL for rows outside of partitions. `test_retention_by_week` drops partitions.
"""

import threading
from datetime import datetime, timedelta

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Business
from common.db import partitions
from installations import services as installing
from installations.models import Installation
from tests.receivers import Receiver
from tests.webhooks.helpers import erasure_state, publish
from webhooks.enums import DeliveryStatus, ErasureState
from webhooks.models import Attempt, Delivery, Erasure, Event, Webhook
from webhooks.services import erasure as erasures
from webhooks.services.retention import remove_old
from webhooks.tasks import remove_old_deliveries

DAYS_30 = timedelta(days=30)
SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def _outside_of_partitions(db: None) -> None:
    """Rows of today go into the DEFAULT partitions. A rollback, or the flush after the test, brings the partitions back."""
    if connection.vendor == "postgresql":
        partitions.drop_before(timezone.now() + timedelta(days=365), Event, Delivery, Attempt)


def finished(business: Business, at: datetime, status: DeliveryStatus = DeliveryStatus.SUCCEEDED) -> Delivery:
    """A delivery that ended then, with an attempt."""
    event = publish(business)
    assert event is not None
    delivery = event.deliveries.get()
    Delivery.objects.filter(pk=delivery.pk).update(
        status=status, due_at=None, finished_at=at, attempt_count=1
    )
    Attempt.objects.create(delivery=delivery, number=1, attempted_at=at, http_status=200, duration_ms=5)
    return delivery


@pytest.mark.spec("Contract 5 Webhooks", "Deliveries and attempts are kept 30 days, then removed")
def test_delivery_is_removed_with_attempts_and_event_after_30_days(
    webhook: Webhook, sandbox: Business
) -> None:
    now = timezone.now()
    finished(sandbox, now)
    assert remove_old(now=now + DAYS_30) == 0
    assert remove_old(now=now + DAYS_30 + SECOND) == 1
    for model in (Delivery, Attempt, Event):
        assert not model.objects.exists()


@pytest.mark.spec("Contract 5 Webhooks", "Deliveries and attempts are kept 30 days, then removed")
def test_held_delivery_is_removed_30_days_after_its_creation(
    webhook: Webhook, sandbox: Business, installation: Installation
) -> None:
    """As an app reads it: gone from the list, and nothing is left to recover."""
    now = timezone.now()
    publish(sandbox)
    delivery = Delivery.objects.get()
    Attempt.objects.create(delivery=delivery, number=1, attempted_at=now, http_status=410, duration_ms=5)
    Delivery.objects.update(status=DeliveryStatus.HELD, due_at=None, finished_at=None)
    assert remove_old(now=delivery.created_at + DAYS_30) == 0
    assert remove_old(now=delivery.created_at + DAYS_30 + SECOND) == 1
    assert not Attempt.objects.exists()
    token = installation.raw_token  # type: ignore[attr-defined]
    listed = Client(headers={"Authorization": f"Bearer {token}"}).get(f"/webhooks/{webhook.pk}/deliveries")
    assert listed.json()["total"] == 0


@pytest.mark.parametrize("status", [DeliveryStatus.PENDING, DeliveryStatus.RETRYING])
def test_delivery_that_is_not_over_stays_however_old(
    status: DeliveryStatus, webhook: Webhook, sandbox: Business
) -> None:
    publish(sandbox)
    Delivery.objects.update(status=status)
    assert remove_old(now=timezone.now() + timedelta(days=400)) == 0
    assert Event.objects.count() == 1


def test_delivery_that_ended_late_stays_30_days_from_then(webhook: Webhook, sandbox: Business) -> None:
    now = timezone.now()
    finished(sandbox, now + timedelta(days=20), DeliveryStatus.EXHAUSTED)
    assert remove_old(now=now + timedelta(days=45)) == 0
    assert remove_old(now=now + timedelta(days=51)) == 1


def test_event_stays_while_one_of_its_deliveries_does(
    webhook: Webhook, installation: Installation, sandbox: Business
) -> None:
    Webhook.objects.create(installation=installation, url=webhook.url, events=webhook.events, secret="x")
    now = timezone.now()
    publish(sandbox)
    first = Delivery.objects.order_by("id").first()
    assert first is not None
    Delivery.objects.filter(pk=first.pk).update(status="SUCCEEDED", finished_at=now)
    assert remove_old(now=now + timedelta(days=31)) == 1
    assert Event.objects.count() == 1


def test_event_that_nobody_was_told_of_is_removed(sandbox: Business) -> None:
    now = timezone.now()
    Event.objects.create(business=sandbox, type="order.created", data="{}", occurred_at=now)
    remove_old(now=now + timedelta(days=29))
    assert Event.objects.exists()
    remove_old(now=now + timedelta(days=31))
    assert not Event.objects.exists()


def test_removal_goes_in_batches_and_leaves_the_rest_to_the_next_run(
    webhook: Webhook, sandbox: Business
) -> None:
    now = timezone.now()
    for _ in range(7):
        finished(sandbox, now)
    later = now + timedelta(days=31)
    assert remove_old(now=later, batch=2, batches=2) == 4
    assert Delivery.objects.count() == 3
    assert Event.objects.count() == 3
    assert remove_old(now=later, batch=2) == 3


def test_old_rows_that_stay_do_not_stop_the_removal_of_those_behind(
    webhook: Webhook, sandbox: Business
) -> None:
    now = timezone.now()
    for _ in range(4):
        publish(sandbox)
    finished(sandbox, now)
    assert remove_old(now=now + timedelta(days=31), batch=2) == 1
    assert Delivery.objects.count() == 4


def test_statements_of_a_batch_do_not_grow_with_its_size(
    webhook: Webhook, sandbox: Business, django_assert_max_num_queries: object
) -> None:
    now = timezone.now()
    for _ in range(30):
        finished(sandbox, now)
    with django_assert_max_num_queries(20):  # type: ignore[operator]
        remove_old(now=now + timedelta(days=31))


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_delivery_that_is_being_sent_again_is_skipped_and_nobody_waits(
    webhook: Webhook, sandbox: Business
) -> None:
    now = timezone.now()
    busy, idle = finished(sandbox, now), finished(sandbox, now)
    locked, done = threading.Event(), threading.Event()

    def send_again() -> None:
        try:
            with transaction.atomic():
                Delivery.objects.select_for_update().get(pk=busy.pk)
                locked.set()
                assert done.wait(10)
                Delivery.objects.filter(pk=busy.pk).update(status="PENDING", due_at=now, finished_at=None)
        finally:
            connection.close()

    thread = threading.Thread(target=send_again)
    thread.start()
    assert locked.wait(10)
    try:
        assert remove_old(now=now + timedelta(days=31)) == 1
    finally:
        done.set()
        thread.join()
    assert [each.pk for each in Delivery.objects.all()] == [busy.pk]
    assert idle.pk != busy.pk


@pytest.mark.django_db(transaction=True)
def test_proof_of_an_erasure_outlives_its_delivery(installation: Installation, receiver: Receiver) -> None:
    installation.app.webhook_url = receiver.url
    installation.app.save()
    now = timezone.now()
    ended = installing.uninstall(installation=installation, now=now)
    delivery = Delivery.objects.get()
    sent_at = now + timedelta(hours=48)
    Attempt.objects.create(delivery=delivery, number=1, attempted_at=sent_at, http_status=204, duration_ms=5)
    Delivery.objects.update(status="SUCCEEDED", due_at=None, finished_at=sent_at, attempt_count=1)
    assert erasures.update_states(now=sent_at) == 1
    assert remove_old(now=sent_at + timedelta(days=31)) == 1
    erasure = Erasure.objects.get()
    assert (erasure.event, erasure.confirmed_at) == (None, sent_at)
    assert erasure_state(ended) == ErasureState.CONFIRMED
    assert ended.history.get(kind="ERASURE_CONFIRMED").note == "Answered with 204"


def test_task_leaves_what_is_recent(webhook: Webhook, sandbox: Business) -> None:
    finished(sandbox, timezone.now())
    remove_old_deliveries()
    assert Delivery.objects.count() == 1
