"""Events go with their deliveries and attempts, week by week, 30 days after the week's end. Proof of erasures stays."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from common.db import partitions
from installations import services as installing
from installations.models import Installation
from tests.deliveries import OK, UNAVAILABLE, delivery
from tests.receivers import Receiver
from tests.webhooks.helpers import erasure_state
from webhooks.enums import DeliveryStatus, ErasureState
from webhooks.models import Attempt, Delivery, Erasure, Event, Webhook
from webhooks.services import erasure as erasures
from webhooks.services.retention import remove_old

pytestmark = [pytest.mark.django_db(transaction=True)]
TABLES = (Event, Delivery, Attempt)
MONDAY = datetime(2026, 10, 19, tzinfo=UTC)  # the first moment of a week
LAST, NEXT = MONDAY - timedelta(seconds=1), MONDAY + timedelta(seconds=1)
OVER = MONDAY + timedelta(days=30)  # the week before has been over for 30 days


@pytest.fixture(params=[True, False], ids=["weeks", "no weeks"])
def _weeks(request: pytest.FixtureRequest) -> Iterator[None]:
    """With a partition for each week, or with all rows outside of them, as on SQLite. Later tests have those of a migrated database."""
    if connection.vendor != "postgresql":
        yield
        return
    partitions.drop_before(MONDAY + timedelta(days=365), *TABLES)
    for moment in (LAST, NEXT) if request.param else ():
        partitions.make_ahead(*TABLES, now=moment)
    yield
    partitions.drop_before(MONDAY + timedelta(days=365), *TABLES)
    partitions.make_ahead(*TABLES)


@pytest.mark.usefixtures("_weeks")
@pytest.mark.spec("Contract 5 Webhooks", "Deliveries and attempts are kept 30 days, then removed")
@pytest.mark.parametrize("status", list(DeliveryStatus))
def test_week_that_is_over_for_30_days_is_removed_whatever_it_holds(
    webhook: Webhook, status: DeliveryStatus
) -> None:
    delivery(webhook, status, UNAVAILABLE, created_at=LAST)
    kept = delivery(webhook, DeliveryStatus.SUCCEEDED, OK, created_at=NEXT)
    remove_old(now=OVER - timedelta(seconds=1))
    assert [model.objects.count() for model in TABLES] == [2, 2, 2]
    remove_old(now=OVER)
    assert [model.objects.count() for model in TABLES] == [1, 1, 1]
    assert (Delivery.objects.get(), Event.objects.get()) == (kept, kept.event)
    if connection.vendor == "postgresql":
        assert MONDAY not in {each.end for model in TABLES for each in partitions.existing(model)}


@pytest.mark.usefixtures("_weeks")
def test_delivery_that_was_resent_later_goes_with_its_event(webhook: Webhook) -> None:
    delivery(webhook, DeliveryStatus.SUCCEEDED, UNAVAILABLE, OK, created_at=LAST, finished_at=OVER)
    remove_old(now=OVER)
    assert not Delivery.objects.exists()


@pytest.mark.usefixtures("_weeks")
def test_event_without_deliveries_is_removed(webhook: Webhook) -> None:
    delivery(webhook, created_at=LAST).delete()
    assert Event.objects.exists()
    remove_old(now=OVER)
    assert not Event.objects.exists()


@pytest.mark.usefixtures("_weeks")
def test_erasure_forgets_the_event_of_a_past_week(installation: Installation) -> None:
    installing.uninstall(installation=installation)
    made = delivery(
        installation.webhooks.get(), created_at=LAST, event_type="business.data_erasure", data={"a": 1}
    )
    Erasure.objects.update(event=made.event)
    remove_old(now=OVER - timedelta(seconds=1))
    assert Erasure.objects.get().event_id == made.event_id
    remove_old(now=OVER)
    assert Erasure.objects.get().event_id is None


def test_proof_of_an_erasure_outlives_its_delivery(installation: Installation, receiver: Receiver) -> None:
    installation.app.webhook_url = receiver.url
    installation.app.save()
    ended = installing.uninstall(installation=installation)
    made = Delivery.objects.get()
    sent_at = made.created_at + timedelta(hours=48)
    Attempt.objects.create(delivery=made, number=1, attempted_at=sent_at, http_status=204, duration_ms=5)
    Delivery.objects.update(status="SUCCEEDED", due_at=None, finished_at=sent_at, attempt_count=1)
    assert erasures.update_states(now=sent_at) == 1
    remove_old(now=sent_at + timedelta(days=38))
    assert not Delivery.objects.exists()
    erasure = Erasure.objects.get()
    assert (erasure.event, erasure.confirmed_at) == (None, sent_at)
    assert erasure_state(ended) == ErasureState.CONFIRMED
    assert ended.history.get(kind="ERASURE_CONFIRMED").note == "Answered with 204"
