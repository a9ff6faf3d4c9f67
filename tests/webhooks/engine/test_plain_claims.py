"""The plain queue of SQLite. On PostgreSQL it is chosen here, too, and does the same."""

from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Business
from installations.models import Installation
from tests.webhooks import helpers
from tests.webhooks.helpers import claim, publish, published
from webhooks.engine import claim_selection, claims
from webhooks.engine.claim_selection import PLAIN_LEASES
from webhooks.enums import Pace
from webhooks.models import Delivery, Webhook

pytestmark = pytest.mark.django_db(transaction=True)

BACKLOG = PLAIN_LEASES + 4


@pytest.fixture(autouse=True)
def plain_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(connection.features), "has_select_for_update_skip_locked", False)


def test_first_in_is_first_out(webhook: Webhook, sandbox: Business) -> None:
    now = timezone.now()
    newer, older, _later = (
        published(sandbox, now=now + timedelta(minutes=minutes)).pk for minutes in (-1, -2, 1)
    )
    peek = claims.Peek()
    assert peek.finds(now)
    assert [each.delivery_id for each in claim(1, now)] == [older]
    assert [each.delivery_id for each in claim(10, now)] == [newer]
    assert claim(10, now) == []
    assert not peek.finds(now)
    assert peek.finds(now + timedelta(minutes=1))


def test_endpoint_gets_no_more_than_its_cap_and_holds_up_no_other(
    installation: Installation, sandbox: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where its backlog is all that a claim looks at."""
    monkeypatch.setattr(claim_selection, "LOOKED_AT", BACKLOG - 2)
    hanging = helpers.webhook(installation, "https://one.example.com/", ["order.created"])
    for _ in range(BACKLOG):
        publish(sandbox)
    sound = helpers.webhook(installation, "https://two.example.com/", ["review.created"])
    helpers.prove(sound)
    publish(sandbox, "review.created")
    now = timezone.now()
    assert Counter(each.webhook_id for each in claim(128, now)) == {hanging.pk: PLAIN_LEASES}
    (other,) = claim(128, now)
    assert (other.webhook_id, other.pace) == (sound.pk, Pace.PROVEN)
    assert claim(128, now) == []
    Delivery.objects.filter(webhook=hanging).exclude(lease_until=None)[:1].get().delete()
    assert [each.webhook_id for each in claim(128, now)] == [hanging.pk]
