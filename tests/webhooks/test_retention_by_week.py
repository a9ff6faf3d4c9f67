"""A week that has been over for 30 days is dropped, and what is still needed from it stays."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from common.db import partitions
from installations import services as installing
from installations.models import Installation
from tests.deliveries import OK, UNAVAILABLE, delivery
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, Erasure, Event, Webhook
from webhooks.services.retention import remove_old

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
TABLES = (Event, Delivery, Attempt)
NOW = timezone.now()
OLD, YOUNG = NOW - timedelta(days=40), NOW - timedelta(days=20)


@pytest.fixture(autouse=True)
def _weeks() -> None:
    """That of OLD is over for 30 days, that of YOUNG is not."""
    for then in (OLD, YOUNG):
        partitions.make_ahead(*TABLES, now=then)


def homes(made: Delivery) -> set[str]:
    """Where the delivery, its event and its attempts lie: `default` or a date."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT tableoid::regclass::text FROM webhooks_delivery WHERE id = %(id)s
            UNION SELECT tableoid::regclass::text FROM webhooks_event WHERE id = %(event)s
            UNION SELECT tableoid::regclass::text FROM webhooks_attempt WHERE delivery_id = %(id)s
            """,
            {"id": made.pk, "event": made.event_id},
        )
        return {name.rpartition("_")[2] for (name,) in cursor.fetchall()}


def week_of(moment: datetime) -> str:
    return f"{Delivery.partitions.start(moment):%Y%m%d}"


@pytest.mark.spec("Contract 5 Webhooks", "Deliveries and attempts are kept 30 days, then removed")
def test_past_week_is_dropped_and_the_rest_stays(webhook: Webhook) -> None:
    old, young = (delivery(webhook, DeliveryStatus.SUCCEEDED, OK, created_at=at) for at in (OLD, YOUNG))
    assert homes(old) == {week_of(OLD)}
    remove_old(now=NOW)
    assert homes(old) == set()
    assert homes(young) == {week_of(YOUNG)}
    assert [model.objects.count() for model in TABLES] == [1, 1, 1]
    assert {each.start for each in partitions.existing(Delivery)} == {
        each.start for each in partitions.existing(Attempt)
    }
    assert week_of(OLD) not in {each.table[-8:] for model in TABLES for each in partitions.existing(model)}


def test_what_is_still_needed_of_a_past_week_stays_until_it_is_not(webhook: Webhook) -> None:
    """Resent later, waiting, being sent."""
    resent = delivery(
        webhook,
        DeliveryStatus.SUCCEEDED,
        UNAVAILABLE,
        OK,
        created_at=OLD,
        finished_at=NOW - timedelta(days=9),
    )
    waiting = delivery(webhook, DeliveryStatus.RETRYING, UNAVAILABLE, created_at=OLD)
    leased = delivery(webhook, DeliveryStatus.PENDING, created_at=OLD, lease_until=NOW)
    gone = delivery(webhook, DeliveryStatus.EXHAUSTED, UNAVAILABLE, created_at=OLD)
    remove_old(now=NOW)
    assert [homes(each) for each in (resent, waiting, leased)] == [{"default"}] * 3
    assert Attempt.objects.filter(delivery=resent).count() == 2
    assert not homes(gone)
    remove_old(now=NOW + timedelta(days=22))
    assert [bool(homes(each)) for each in (resent, waiting, leased)] == [False, True, True]


def test_erasure_forgets_the_event_of_a_past_week(installation: Installation) -> None:
    installing.uninstall(installation=installation, now=NOW)
    made = delivery(
        installation.webhooks.get(), created_at=OLD, event_type="business.data_erasure", data={"a": 1}
    )
    Erasure.objects.update(event=made.event)
    remove_old(now=NOW)
    assert Erasure.objects.get().event_id is None


def test_missing_partition_of_one_table_keeps_no_week(webhook: Webhook) -> None:
    """It couldn't be made in time, and its rows are in the DEFAULT partition."""
    made = delivery(webhook, DeliveryStatus.SUCCEEDED, OK, created_at=OLD)
    with connection.cursor() as cursor:
        name = f"webhooks_attempt_{week_of(OLD)}"
        cursor.execute(f"ALTER TABLE webhooks_attempt DETACH PARTITION {name}")
        cursor.execute(f"INSERT INTO webhooks_attempt_default SELECT * FROM {name}")  # noqa: S608
        cursor.execute(f"DROP TABLE {name}")
    assert homes(made) == {week_of(OLD), "default"}
    remove_old(now=NOW)
    assert not homes(made)


def test_week_in_use_is_left_for_the_next_run(webhook: Webhook) -> None:
    made = delivery(webhook, DeliveryStatus.SUCCEEDED, OK, created_at=OLD)
    other = connections["default"].copy()
    with other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("UPDATE webhooks_delivery SET status = 'PENDING', due_at = now(), finished_at = NULL")
        remove_old(now=NOW)
        cursor.execute("COMMIT")
    other.close()
    assert homes(made) == {week_of(OLD)}
    remove_old(now=NOW)
    assert homes(made) == {"default"}  # it waits


def test_nothing_is_compiled_while_others_wait(webhook: Webhook) -> None:
    """PostgreSQL would compile each plan that looks expensive, for a quarter of a second."""
    delivery(webhook, DeliveryStatus.SUCCEEDED, OK, created_at=OLD)
    compiling = []

    def watched(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith("DROP TABLE"):
            with connection.cursor() as cursor:
                cursor.execute("SELECT current_setting('enable_seqscan'), current_setting('jit')")
                compiling.append(cursor.fetchone())
        return execute(sql, *rest)

    with connection.execute_wrapper(watched):
        remove_old(now=NOW)
    assert set(compiling) == {("off", "off")}
