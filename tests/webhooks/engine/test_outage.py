"""Telling an outage of our own from one of the endpoints."""

import socket
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Business
from installations.models import Installation
from tests.receivers import Receiver
from tests.webhooks import helpers
from webhooks.engine.dispatcher import Dispatcher
from webhooks.engine.outage import CANARIES, CANARY_PAUSE, DOUBT, HOSTS, WINDOW, Guard
from webhooks.enums import Pace
from webhooks.models import Attempt, Delivery, Endpoint, Webhook

FULL = 512


@pytest.fixture
def guard() -> Guard:
    return Guard(room=FULL)


def miss(guard: Guard, count: int, at: float = 0.0, *, answered_before: bool = True, first: int = 0) -> bool:
    """So many hosts can't be reached; whether an outage began with the last one."""
    return [
        guard.missed(f"host-{number}", at, answered_before=answered_before)
        for number in range(first, first + count)
    ][-1]


def reach(guard: Guard, count: int, at: float = 0.0, first: int = 0) -> None:
    for number in range(first, first + count):
        guard.reached(f"host-{number}", at)


# When it is one


def test_several_hosts_that_answered_before_make_an_outage(guard: Guard) -> None:
    assert not miss(guard, HOSTS - 1)
    assert not guard.outage
    assert miss(guard, 1, first=HOSTS - 1)
    assert guard.outage


def test_one_dead_host_with_many_webhooks_makes_none(guard: Guard) -> None:
    for moment in range(100):
        assert not guard.missed("dead", moment / 10, answered_before=True)


def test_hosts_that_have_long_been_dead_make_none(guard: Guard) -> None:
    assert not miss(guard, 50, answered_before=False)
    assert not guard.outage


@pytest.mark.parametrize(
    ("heard", "outage"),
    [
        ("mmmm", False),
        ("mmmmm", True),
        ("rmmmm", False),
        ("rrrrrrrmmmmm", True),
        ("mmmmrm", True),
        ("mmrmmrm", False),
        ("mrmmrmrmmrmmr", False),
        ("mmrmmrmmmmmm", True),
    ],
)
def test_outage_needs_four_fifths_of_the_hosts_last_heard_of(guard: Guard, heard: str, outage: bool) -> None:
    """Hosts that are missed and reached, in this order."""
    for number, letter in enumerate(heard):
        (miss if letter == "m" else reach)(guard, 1, first=number)
        if guard.outage:
            break
    assert guard.outage is outage


def test_hosts_heard_of_before_the_outage_do_not_hide_it(guard: Guard) -> None:
    reach(guard, 200, at=0.0, first=1000)
    assert miss(guard, HOSTS, at=1.0)


def test_misses_far_apart_make_none(guard: Guard) -> None:
    for number in range(50):
        assert not guard.missed(f"host-{number}", number * WINDOW / 3, answered_before=True)


def test_host_counts_as_it_was_last_heard(guard: Guard) -> None:
    miss(guard, HOSTS - 1)
    reach(guard, HOSTS - 1, at=1.0)
    assert not miss(guard, 1, at=2.0, first=HOSTS)


# While it lasts


def test_outage_leaves_a_few_canaries(guard: Guard) -> None:
    miss(guard, HOSTS, at=10.0)
    assert guard.room(0, 10.0) == 0
    assert guard.room(0, 10.0 + CANARY_PAUSE) == CANARIES
    assert guard.room(CANARIES, 10.0 + CANARY_PAUSE) == 0


def test_each_canary_that_fails_makes_the_next_one_wait(guard: Guard) -> None:
    miss(guard, HOSTS, at=0.0)
    guard.missed("host-0", 5.0, answered_before=False)
    assert guard.room(0, 5.0 + CANARY_PAUSE / 2) == 0
    assert guard.room(0, 5.0 + CANARY_PAUSE) == CANARIES
    assert guard.outage


@pytest.mark.parametrize(
    ("began", "ended", "spared"),
    [
        (9.9, 10.0, True),
        (0.0, 10.0, True),
        (8.0, 10.0 - DOUBT, True),
        (8.0, 9.9 - DOUBT, False),
        (19.0, 29.0, True),
        (20.1, 29.0, False),
    ],
)
def test_attempts_made_during_the_outage_are_spared(
    guard: Guard, began: float, ended: float, spared: bool
) -> None:
    """It lasts from 10 to 20. An attempt may have begun in it and time out when it is over."""
    miss(guard, HOSTS, at=10.0)
    guard.reached("host-1", 20.0)
    assert guard.spares(began, ended) is spared


def test_nothing_is_spared_without_an_outage(guard: Guard) -> None:
    miss(guard, HOSTS - 1)
    assert not guard.spares(0.0, 0.0)


# When it is over


def test_any_answer_ends_it(guard: Guard) -> None:
    miss(guard, HOSTS)
    guard.reached("another", 3.0)
    assert not guard.outage
    assert guard.room(0, 3.0) == CANARIES + 1


def test_room_doubles_with_every_round(guard: Guard) -> None:
    miss(guard, HOSTS)
    guard.reached("host-0", 3.0)
    rooms = []
    for _ in range(9):
        rooms.append(guard.room(0, 3.0))
        reach(guard, rooms[-1], at=3.0)
    assert rooms == [4, 8, 16, 32, 64, 128, 256, 512, 512]


def test_it_may_begin_again(guard: Guard) -> None:
    miss(guard, HOSTS)
    guard.reached("host-0", 3.0)
    assert not miss(guard, HOSTS - 1, at=4.0, first=1)
    assert miss(guard, 1, at=4.0, first=100)
    assert guard.spares(4.0, 4.0)


# In the dispatcher


def refusing(host: str) -> str:
    """A URL on this machine where nothing listens."""
    with socket.create_server((host, 0)) as listener:
        return f"http://{host}:{listener.getsockname()[1]}/"


def proven(installation: Installation, url: str) -> Webhook:
    webhook = helpers.webhook(installation, url, ["order.created"])
    Endpoint.objects.create(id=webhook.endpoint, pace=Pace.PROVEN)
    return webhook


@pytest.mark.django_db(transaction=True)
def test_attempts_made_during_our_outage_are_not_counted(
    installation: Installation, sandbox: Business, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(1, HOSTS + 3):
        proven(installation, refusing(f"127.0.0.{number}"))
    helpers.publish(sandbox)
    assert helpers.drain() == 0
    assert not Attempt.objects.exists()
    assert set(Endpoint.objects.values_list("pace", flat=True)) == {Pace.PROVEN}
    for delivery in Delivery.objects.all():
        assert (delivery.status, delivery.attempts_made, delivery.lease_until) == ("PENDING", 0, None)
        assert delivery.due_at
        assert 10 < (delivery.due_at - timezone.now()).total_seconds() < 30
    assert "outage of our own" in caplog.text


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_attempts_at_one_dead_host_are_counted(installation: Installation, sandbox: Business) -> None:
    for number in range(8):
        proven(installation, refusing("127.0.0.1") + str(number))
    helpers.publish(sandbox)
    assert helpers.drain() == 8
    assert set(Attempt.objects.values_list("error_class", flat=True)) == {"refused"}
    assert set(Endpoint.objects.values_list("pace", flat=True)) == {Pace.SILENT}


@pytest.mark.django_db(transaction=True)
def test_endpoint_at_a_blocked_address_keeps_its_pace(
    installation: Installation, sandbox: Business, settings: Any
) -> None:
    """Nothing is sent there, so no other delivery waits for it."""
    settings.ALLOW_LOCAL_DESTINATIONS = False
    proven(installation, "https://127.0.0.1:9/")
    helpers.publish(sandbox)
    assert helpers.drain() == 1
    assert Attempt.objects.get().error_class == "blocked_address"
    assert Endpoint.objects.get().pace == Pace.PROVEN


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.timed
def test_deliveries_go_out_when_our_outage_is_over(
    installation: Installation, sandbox: Business, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(1, HOSTS + 3):
        proven(installation, refusing(f"127.0.0.{number}"))
    helpers.publish(sandbox)
    stop = threading.Event()
    dispatcher = threading.Thread(target=run_until, args=[stop])
    dispatcher.start()
    try:
        in_due_time = timezone.now() + timedelta(seconds=10)
        helpers.wait_until(lambda: not Delivery.objects.exclude(due_at__gt=in_due_time).exists())
        Webhook.objects.update(url=receiver.url)
        Delivery.objects.update(due_at=timezone.now())
        helpers.wait_until(lambda: not Delivery.objects.exclude(status="SUCCEEDED").exists())
    finally:
        stop.set()
        dispatcher.join()
    assert set(Delivery.objects.values_list("attempts_made", flat=True)) == {1}
    assert "our outage is over" in caplog.text


def run_until(stop: threading.Event) -> None:
    try:
        Dispatcher(stop=stop).run()
    finally:
        connection.close()
