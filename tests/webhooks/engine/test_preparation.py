"""What a dispatcher reads for deliveries, and those that it can't send."""

from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client import REGISTRY

from accounts.models import Business
from tests.webhooks.helpers import drain, published
from webhooks.engine import claims, preparation, slots
from webhooks.enums import DeliveryStatus
from webhooks.models import Webhook

pytestmark = pytest.mark.django_db


def put_off(reason: str) -> float:
    return REGISTRY.get_sample_value("extension_platform_deliveries_put_off_total", {"reason": reason}) or 0.0


def test_delivery_without_the_key_of_its_secret_is_put_off_counted_and_explained(
    webhook: Webhook, sandbox: Business, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    before, delivery = put_off("key"), published(sandbox)
    settings.FIELD_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    preparation._secret.cache_clear()  # noqa: SLF001  as in a process that was started with that key
    assert drain() == 0
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts_made) == (DeliveryStatus.PENDING, 0)
    assert put_off("key") == before + 1
    assert "missing from FIELD_ENCRYPTION_KEYS" in caplog.messages[0]


def test_store_of_a_test_install_is_read_with_its_webhook(webhook: Webhook, sandbox: Business) -> None:
    """Whether a delivery goes by its store's clock depends on the store."""
    published(sandbox)
    slot = slots.Slot()
    slot.beat()
    claimed = claims.claim(10, timezone.now(), slot=slot.id or 0)
    with CaptureQueriesContext(connection) as captured:
        prepared = preparation.prepare(claimed)
    assert len(prepared.messages) == 1
    assert [each["sql"] for each in captured if 'FROM "accounts_business"' in each["sql"]] == []
