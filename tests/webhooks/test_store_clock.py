"""A test store's clock beside what happens at the same time."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Business
from installations.models import Installation
from tests.waiting import wait_for_locks
from tests.webhooks.helpers import published, webhook
from webhooks.models import Delivery, Webhook
from webhooks.services import store_clock

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.timed]


def test_clock_goes_on_while_a_webhook_is_switched_off(installation: Installation, sandbox: Business) -> None:
    """Both lock the webhook, then its deliveries. The other way round they would wait for each other."""
    made = webhook(installation, "http://127.0.0.1:9/", ["order.created"])
    due = published(sandbox).due_at

    def advance() -> None:
        try:
            store_clock.bring_forward(business=sandbox, by=timedelta(hours=1), now=timezone.now())
        finally:
            connection.close()

    thread = threading.Thread(target=advance)
    with transaction.atomic():
        Webhook.objects.select_for_update(no_key=True).get(pk=made.pk)
        thread.start()
        wait_for_locks(1)
        assert len(Delivery.objects.select_for_update().filter(webhook=made)) == 1
    thread.join(10)
    assert due
    assert Delivery.objects.get().due_at == due - timedelta(hours=1)
