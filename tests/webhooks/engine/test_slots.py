"""Dispatchers, their heartbeats, and what becomes of the leases of one that has died."""

import time
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Business
from tests.webhooks.helpers import published
from webhooks.engine import claims, slots
from webhooks.engine.claims import LostLeases
from webhooks.engine.slots import ALIVE_FOR, DISPATCHERS, HOLD_FOR, Slot
from webhooks.models import Delivery, DispatcherSlot, Webhook

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _confirmed_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "CONFIRMED_AFTER", 0.1)


@pytest.fixture
def slot() -> Slot:
    """Of a dispatcher that has just started."""
    started = Slot()
    started.beat()
    return started


def silence(slot: Slot) -> None:
    """Its last heartbeat is too long ago."""
    DispatcherSlot.objects.filter(pk=slot.id).update(seen_at=Now() - ALIVE_FOR - timedelta(seconds=0.1))


def leased(slot: Slot) -> Delivery:
    assert slot.id
    (claim,) = claims.claim(10, timezone.now(), slot.id)
    return Delivery.objects.get(pk=claim.delivery_id)


def freed_after_one_look() -> int:
    return LostLeases().free(timezone.now())


def freed_after_two_looks() -> int:
    lost = LostLeases()
    assert lost.free(timezone.now()) == 0, "One look proves nothing."
    time.sleep(0.15)
    return lost.free(timezone.now())


@pytest.mark.long
@pytest.mark.timed
def test_heartbeat_is_one_statement_a_second(slot: Slot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "BEAT_EVERY", 0.2)
    time.sleep(1.0)
    slot.beat()  # the second one and each fifth also count the dispatchers
    time.sleep(0.25)
    with CaptureQueriesContext(connection) as queries:
        for _ in range(10):
            slot.beat()
    assert len(queries) == 1


@pytest.mark.timed
def test_leases_of_a_dispatcher_that_died_are_free_at_the_second_look(
    webhook: Webhook, sandbox: Business, slot: Slot
) -> None:
    published(sandbox)
    lease = leased(slot)
    silence(slot)
    assert freed_after_two_looks() == 1
    lease.refresh_from_db()
    assert (lease.lease_until, lease.leased_by_id, lease.fence) == (None, None, 1)


@pytest.mark.timed
def test_dispatcher_that_cannot_record_keeps_its_leases_beyond_their_end(
    webhook: Webhook, sandbox: Business, slot: Slot
) -> None:
    published(sandbox)
    leased(slot)
    Delivery.objects.update(lease_until=timezone.now())
    slot.beat(holding=True)
    assert freed_after_two_looks() == 0
    DispatcherSlot.objects.update(seen_at=F("seen_at") - HOLD_FOR)
    assert freed_after_one_look() == 1, "A lease that has ended proves enough."


@pytest.mark.timed
def test_leases_of_a_dispatcher_that_lives_are_kept(webhook: Webhook, sandbox: Business, slot: Slot) -> None:
    published(sandbox)
    leased(slot)
    assert freed_after_two_looks() == 0


@pytest.mark.timed
def test_leases_are_kept_of_a_dispatcher_that_beats_again_after_an_outage(
    webhook: Webhook, sandbox: Business, slot: Slot
) -> None:
    published(sandbox)
    leased(slot)
    silence(slot)
    lost = LostLeases()
    assert lost.free(timezone.now()) == 0
    DispatcherSlot.objects.update(seen_at=Now())
    time.sleep(0.15)
    assert lost.free(timezone.now()) == 0


@pytest.mark.timed
def test_dispatcher_that_was_cut_off_itself_looks_twice_again(
    webhook: Webhook, sandbox: Business, slot: Slot
) -> None:
    published(sandbox)
    leased(slot)
    silence(slot)
    lost = LostLeases()
    lost.free(timezone.now())
    time.sleep(0.15)
    lost.forget()
    assert lost.free(timezone.now()) == 0


@pytest.mark.timed
def test_lease_of_a_slot_that_is_gone_is_freed(webhook: Webhook, sandbox: Business, slot: Slot) -> None:
    published(sandbox)
    leased(slot)
    slot.leave()
    assert freed_after_two_looks() == 1


@pytest.mark.long
@pytest.mark.timed
def test_dispatcher_whose_slot_was_removed_gets_another(slot: Slot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "BEAT_EVERY", 0.0)
    before = slot.id
    slot.beat()
    assert slot.id == before
    DispatcherSlot.objects.all().delete()
    time.sleep(1.0)
    slot.beat()
    assert slot.id != before
    assert slots.alive().filter(pk=slot.id).exists()


def test_slots_of_long_ago_are_removed(slot: Slot) -> None:
    DispatcherSlot.objects.update(seen_at=Now() - timedelta(minutes=2))
    Slot().beat()
    assert not DispatcherSlot.objects.filter(pk=slot.id).exists()


def test_process_takes_one_slot() -> None:
    first = slots.take()
    assert first is not None
    assert slots.take() is None
    first.leave()
    assert slots.take() is not None


def test_no_slot_is_taken_while_enough_dispatchers_run() -> None:
    for number in range(DISPATCHERS):
        DispatcherSlot.objects.create(process=f"elsewhere:{number}", seen_at=Now())
    with CaptureQueriesContext(connection) as queries:
        assert slots.take() is None
    assert len(queries) == 1
    DispatcherSlot.objects.update(seen_at=Now() - ALIVE_FOR - timedelta(seconds=1))
    assert slots.take() is not None
