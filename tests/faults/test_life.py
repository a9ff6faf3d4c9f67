"""Retries that wait while a webhook, an app or an installation changes or ends (scenario 19)."""

import time
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Business, User
from installations.models import Installation
from installations.services.lifecycle import uninstall
from marketplace.models import App
from marketplace.services.apps import delete_app
from tests import factories
from tests.faults.processes import Processes
from tests.receivers import Receiver
from tests.webhooks import helpers
from tests.webhooks.helpers import publish, wait_until
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery
from webhooks.services.disabling import disable
from webhooks.services.registration import change_webhook, delete_webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]


RETRY = 3  # seconds


def installed_for(dana: User, sandbox: Business, **fields: str) -> Installation:
    """An app of Dana's, freshly installed."""
    return factories.installation(factories.app(dana, **fields), sandbox)


@pytest.mark.fault(19, "judgment at each attempt")
def test_retry_that_waits_meets_what_has_changed_meanwhile(
    processes: Processes,
    dana: User,
    sandbox: Business,
    installation: Installation,
    receiver: Receiver,
    settings: Any,
) -> None:
    """Held where the webhook was disabled, sent to the new URL where it has one, cancelled where it has ended."""
    settings.DEBUG = True  # plain http is allowed
    uninstalled, suspended, deleted = (installed_for(dana, sandbox) for _ in range(3))
    owners = {
        "switched off": installation,
        "disabled": installation,
        "moved": installation,
        "removed": installation,
        "uninstalled": uninstalled,
        "suspended": suspended,
        "deleted": deleted,
    }
    webhooks = {
        name: helpers.webhook(owner, f"{receiver.url}{number}", ["order.created"])
        for number, (name, owner) in enumerate(owners.items())
    }
    receiver.respond_with(500)
    publish(sandbox)
    processes.deliver(WEBHOOK_RETRY_DELAYS=str(RETRY))
    receiver.wait_for(7, timeout=30)
    wait_until(lambda: Delivery.objects.filter(status=DeliveryStatus.RETRYING).count() == 7)
    with Receiver() as moved_to:
        change_webhook(webhook=webhooks["switched off"], changes={"is_active": False})
        assert disable(webhook=webhooks["disabled"], reason="Gone.", now=timezone.now())
        change_webhook(webhook=webhooks["moved"], changes={"url": moved_to.url})
        delete_webhook(webhook=webhooks["removed"])
        uninstall(installation=uninstalled)
        App.objects.filter(pk=suspended.app_id).update(suspended_at=timezone.now())
        delete_app(app=deleted.app)
        (moved,) = moved_to.wait_for(1, timeout=RETRY + 5)
        time.sleep(1)
        assert len(moved_to.requests) == 1
    assert len(receiver.requests) == 7
    assert moved.headers["x-webhook-id"] == str(webhooks["moved"].id)
    orders = Delivery.objects.filter(event__type="order.created")  # the two that ended also owe an erasure
    statuses = dict(orders.values_list("webhook", "status"))
    expected = {
        "disabled": DeliveryStatus.HELD,
        "moved": DeliveryStatus.SUCCEEDED,
    }
    assert statuses == {
        webhook.id: expected.get(name, DeliveryStatus.CANCELLED) for name, webhook in webhooks.items()
    }
