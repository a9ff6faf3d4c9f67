"""Whose turn it is: how many of each endpoint's deliveries a claim takes, and which come first."""

import random
import threading
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction

from accounts.models import Business
from installations.models import Installation
from tests import factories
from tests.sessions import another_session
from tests.webhooks import helpers
from webhooks.endpoints import HOST_SHIFT, SERVER_SHIFT, endpoint_key
from webhooks.engine import claims
from webhooks.engine.claim_selection import (
    COUNTED,
    HOST_ATTEMPTS,
    HOST_LEASES,
    LEASE,
    LEASES,
    MOST_LEASES,
    PROVEN,
)
from webhooks.enums import WAITING, DeliveryStatus, Pace
from webhooks.models import Delivery, Endpoint, Event, Webhook
from webhooks.services.deliveries import follow_url

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
# On hosts of their own.
DEAD, SOUND, OTHER = (number << HOST_SHIFT for number in (-1, 1, 2))
Add = Callable[..., None]


@pytest.fixture
def add(installation: Installation, sandbox: Business) -> Add:
    """Add deliveries of an endpoint: due for so many seconds, leased for so many seconds or not."""
    webhook = helpers.webhook(installation, "https://app.example.com/", ["order.created"])

    def add_rows(
        endpoint: int,
        count: int = 1,
        *,
        due: float = 1.0,
        leased: float | None = None,
        status: DeliveryStatus = DeliveryStatus.PENDING,
    ) -> None:
        events = Event.objects.bulk_create(
            Event(business=sandbox, type="order.created", data="{}", occurred_at=NOW) for _ in range(count)
        )
        Delivery.objects.bulk_create(
            Delivery(
                event=event,
                webhook=webhook,
                endpoint=endpoint,
                status=status,
                due_at=NOW - timedelta(seconds=due) + timedelta(microseconds=number),
                lease_until=None if leased is None else NOW + LEASE - timedelta(seconds=leased),
            )
            for number, event in enumerate(events)
        )

    return add_rows


def known(endpoint: int, pace: Pace) -> None:
    Endpoint.objects.create(id=endpoint, pace=pace)


def claimed(limit: int = 128) -> Counter[int]:
    """How many deliveries of each endpoint a claim takes."""
    return Counter(claim.endpoint for claim in helpers.claim(limit, NOW))


# How many


@pytest.mark.parametrize("pace", Pace)
def test_claim_takes_as_many_as_the_pace_of_the_endpoint_allows(add: Add, pace: Pace) -> None:
    add(SOUND, 100)
    if pace:
        known(SOUND, pace)
    assert claimed() == {SOUND: MOST_LEASES if pace == Pace.FAST else LEASES[pace]}
    assert claimed() == {}


def test_claim_counts_what_the_endpoint_holds_already(add: Add) -> None:
    add(SOUND, 20)
    add(SOUND, 3, leased=0.1)
    assert claimed() == {SOUND: 5}


@pytest.mark.long
def test_fast_endpoints_get_less_the_more_is_leased(add: Add) -> None:
    """So however many of them begin to hang at the same moment, they never fill a dispatcher."""
    for number in range(20):
        add(SOUND + number, 100)
        known(SOUND + number, Pace.FAST)
    taken = [claimed(40).total() for _ in range(20)]
    assert sum(taken) == 20 * LEASES[Pace.FAST]
    held = Counter(Delivery.objects.exclude(lease_until=None).values_list("endpoint", flat=True))
    assert max(held.values()) <= MOST_LEASES


@pytest.mark.parametrize("pace", [Pace.UNKNOWN, Pace.FAST, Pace.PROVEN, Pace.SILENT])
def test_endpoint_that_leaves_an_attempt_waiting_gets_no_more(add: Add, pace: Pace) -> None:
    add(SOUND, 20)
    add(SOUND, 1, leased=0.6)
    known(SOUND, pace)
    assert claimed() == {}


def test_endpoint_known_to_be_slow_keeps_its_four(add: Add) -> None:
    add(SOUND, 20)
    add(SOUND, 1, leased=0.6)
    known(SOUND, Pace.SLOW)
    assert claimed() == {SOUND: 3}


def test_lease_that_no_attempt_can_have_any_more_does_not_count(add: Add) -> None:
    add(SOUND, 20)
    add(SOUND, 3, leased=13)
    assert claimed() == {SOUND: LEASES[Pace.UNKNOWN]}


def test_claim_says_what_was_known_of_the_endpoint(add: Add) -> None:
    add(SOUND)
    add(OTHER)
    known(SOUND, Pace.SLOW)
    assert {claim.endpoint: claim.pace for claim in helpers.claim(10, NOW)} == {
        SOUND: Pace.SLOW,
        OTHER: Pace.UNKNOWN,
    }


@pytest.mark.long
def test_dead_host_with_many_urls_gets_no_more_than_its_share(add: Add) -> None:
    """Also where all of them were proven."""
    for number in range(HOST_LEASES):
        add(DEAD + number, leased=2)
        known(DEAD + number, Pace.PROVEN)
    add(DEAD + HOST_LEASES, 3)
    known(DEAD + HOST_LEASES, Pace.PROVEN)
    add(DEAD + (1 << SERVER_SHIFT), 2)  # another app on the same host
    add(SOUND, 3)
    assert claimed() == {SOUND: 3, DEAD + (1 << SERVER_SHIFT): 2}


@pytest.mark.long
@pytest.mark.spec(
    "Contract 15 Doors", "Endpoints of one host that are not proven have 16 attempts at once together"
)
@pytest.mark.parametrize("pace", [each for each in Pace if each not in PROVEN])
@pytest.mark.parametrize("backlog", [2, 300])
def test_unproven_endpoints_of_a_host_share_its_room(add: Add, pace: Pace, backlog: int) -> None:
    """Of whichever app, and whether they are found among the earliest or by visiting every endpoint."""
    for number in range(20):
        add(DEAD + number * ((1 << SERVER_SHIFT) + 1), backlog, due=60)
        if pace:
            known(DEAD + number * ((1 << SERVER_SHIFT) + 1), pace)
    add(SOUND, 5)
    add(DEAD + 5000, 40)
    known(DEAD + 5000, Pace.PROVEN)
    taken = claimed()
    assert (taken.pop(SOUND), taken.pop(DEAD + 5000)) == (5, LEASES[Pace.PROVEN])
    assert taken.total() == HOST_ATTEMPTS
    assert claimed() == {}


@pytest.mark.long
def test_room_of_a_host_is_what_its_unproven_endpoints_leave(add: Add) -> None:
    add(DEAD, 3, leased=0.1)
    add(DEAD + 1, 16, leased=0.1)
    known(DEAD + 1, Pace.FAST)
    for number in range(2, 40):
        add(DEAD + number)
    assert claimed().total() == HOST_ATTEMPTS - 3


# Which


@pytest.mark.long
def test_backlog_of_a_dead_endpoint_keeps_nobody_waiting(add: Add) -> None:
    add(DEAD, 1000, due=3600)
    add(DEAD, 1, leased=5)
    add(SOUND, 2)
    add(OTHER, 3)
    assert claimed() == {SOUND: 2, OTHER: 3}


def test_first_delivery_of_each_endpoint_comes_before_the_second_of_any(add: Add) -> None:
    add(DEAD, 300, due=3600)
    known(DEAD, Pace.SILENT)
    for number in range(5):
        add(SOUND + number, 8, due=60 - number)
        known(SOUND + number, Pace.PROVEN)
    assert claimed(6) == {DEAD: 1} | {SOUND + number: 1 for number in range(5)}


def test_claim_takes_the_longest_due_of_an_endpoint(add: Add) -> None:
    add(SOUND, 20, due=5)
    add(SOUND, 2, due=9)
    due = Delivery.objects.order_by("due_at").values_list("id", flat=True)
    assert {claim.delivery_id for claim in helpers.claim(4, NOW)} == set(due[:4])


@pytest.mark.parametrize("status", [each for each in DeliveryStatus if each not in WAITING])
def test_claim_takes_nothing_that_has_ended(add: Add, status: DeliveryStatus) -> None:
    add(SOUND, status=status)
    assert claimed() == {}


def fill_at_random(add: Add, seed: int) -> int:
    """Rows and paces of all kinds, and a number to ask for."""
    dice = random.Random(seed)
    endpoints = [dice.choice((DEAD, SOUND, OTHER)) + dice.randrange(100) for _ in range(dice.randint(1, 30))]
    for endpoint in set(endpoints):
        if dice.random() < 0.7:
            known(endpoint, dice.choice(list(Pace)))
        if dice.random() < 0.5:
            add(endpoint, dice.randint(1, 12), leased=dice.choice((0.1, 0.4, 0.5, 0.6, 13, 70)))
        if dice.random() < 0.2:
            add(endpoint, dice.randint(1, 5), due=-30)
        status = dice.choice((DeliveryStatus.PENDING, DeliveryStatus.RETRYING))
        add(endpoint, dice.choice((0, 1, 5, 40, 300)), due=dice.choice((0, 1, 1, 60)), status=status)
    if dice.random() < 0.2:
        add(DEAD + 1000, HOST_LEASES, leased=9)
    return dice.choice((1, 5, 128))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 110))
def test_no_choice_exceeds_what_an_endpoint_may_have(add: Add, seed: int) -> None:
    limit = fill_at_random(add, seed)
    counted = Delivery.objects.filter(lease_until__gte=NOW + LEASE - COUNTED)
    before = Counter(counted.values_list("endpoint", flat=True))
    taken = claimed(limit)
    assert sum(taken.values()) <= limit
    paces = dict(Endpoint.objects.values_list("id", "pace"))
    for endpoint, count in taken.items():
        pace = Pace(paces.get(endpoint, ""))
        assert before[endpoint] + count <= (MOST_LEASES if pace == Pace.FAST else LEASES[pace])
    unproven = [each for each in {*taken, *before} if paces.get(each, "") not in PROVEN]
    for host in {each >> HOST_SHIFT for each in unproven}:
        held = sum(before[each] for each in unproven if each >> HOST_SHIFT == host)
        added = sum(taken[each] for each in unproven if each >> HOST_SHIFT == host)
        assert not added or held + added <= HOST_ATTEMPTS


@pytest.mark.long
def test_dispatchers_that_claim_at_the_same_moment_keep_to_the_limit(add: Add) -> None:
    add(DEAD, 500, due=60)
    add(SOUND, 500)
    barrier = threading.Barrier(6)

    def claim() -> None:
        barrier.wait()
        for _ in range(5):
            helpers.claim(128, NOW)
        connection.close()

    threads = [threading.Thread(target=claim) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    held = Counter(Delivery.objects.exclude(lease_until=None).values_list("endpoint", flat=True))
    assert held == {DEAD: 8, SOUND: 8}


def waits_for_its_turn() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database"
            " WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted)"
        )
        return cursor.fetchone()[0]  # type: ignore[no-any-return]


def test_dispatcher_that_claims_while_another_does_gets_the_next(add: Add) -> None:
    """It selects once the other has its leases, so it doesn't come back with nothing."""
    add(SOUND, 8)
    add(OTHER, 8)
    later: list[UUID] = []

    def claim() -> None:
        later.extend(each.delivery_id for each in claims.claim(8, NOW, slot=0))
        connection.close()

    with transaction.atomic():
        first = [each.delivery_id for each in helpers.claim(8, NOW)]
        thread = threading.Thread(target=claim)
        thread.start()
        helpers.wait_until(waits_for_its_turn)
    thread.join()
    assert len(first) == len(later) == 8
    assert not set(first) & set(later)


def test_claim_passes_over_what_is_being_changed(add: Add) -> None:
    """As by an uninstall, whose transaction takes long: it holds up no other delivery."""
    add(SOUND, 3)
    claimed_then: list[UUID] = []

    def claim() -> None:
        claimed_then.extend(each.delivery_id for each in helpers.claim(8, NOW))
        connection.close()

    with transaction.atomic():
        first, *others = Delivery.objects.order_by("due_at").values_list("pk", flat=True)
        Delivery.objects.filter(pk=first).update(status=DeliveryStatus.CANCELLED, due_at=None)
        thread = threading.Thread(target=claim)
        thread.start()
        thread.join(timeout=10)
        assert claimed_then == others
    thread.join()


def waits_for_a_table() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'webhooks_endpoint'::regclass AND NOT granted)"
        )
        return cursor.fetchone()[0]  # type: ignore[no-any-return]


@pytest.mark.spec("Contract 5 Webhooks", "Retries are never early")
def test_claim_that_takes_long_passes_over_what_is_due_later_by_now(add: Add) -> None:
    """It found the delivery due. Before it locks it, another dispatcher has sent it, and recorded a failure."""
    claimed_then: list[UUID] = []
    prepared, go = threading.Event(), threading.Event()

    def claim() -> None:
        claims.claim(8, NOW - timedelta(days=1), slot=0)
        prepared.set()
        go.wait(10)
        claimed_then.extend(each.delivery_id for each in claims.claim(8, NOW, slot=0))
        connection.close()

    add(SOUND, 3)
    retried, *others = Delivery.objects.order_by("due_at").values_list("pk", flat=True)
    thread = threading.Thread(target=claim)
    thread.start()
    assert prepared.wait(10)
    with another_session() as other:
        other.execute("LOCK TABLE webhooks_endpoint")  # the claim waits here, and sees what was there before
        go.set()
        helpers.wait_until(waits_for_a_table)
        Delivery.objects.filter(pk=retried).update(status="RETRYING", due_at=NOW + timedelta(seconds=30))
    thread.join(10)
    assert claimed_then == others


# What an endpoint is


def test_installations_of_an_app_at_one_url_are_one_endpoint(
    installation: Installation, shop: Business
) -> None:
    """Only the developer's own sandbox store has another."""
    url, other = "https://app.example.com/hooks", factories.merchant("noor@example.com", name="Noor")
    stores = (shop, Business.objects.get(owner=other))
    installed = [factories.installation(installation.app, store) for store in stores]
    first, second = (helpers.webhook(each, url, ["order.created"]) for each in installed)
    assert first.endpoint == second.endpoint != helpers.webhook(installation, url, []).endpoint


def test_urls_and_apps_have_endpoints_of_their_own() -> None:
    app, other_app = uuid4(), uuid4()
    keys = [
        endpoint_key(app, "https://app.example.com/a"),
        endpoint_key(app, "https://app.example.com/b"),
        endpoint_key(app, "https://other.example.com/a"),
        endpoint_key(other_app, "https://app.example.com/a"),
        endpoint_key(app, "https://APP.example.com.:8443/a"),
        endpoint_key(app, "http://127.0.0.1:8000/a"),
        endpoint_key(app, "http://127.0.0.1:8001/a"),
        endpoint_key(app, ""),
    ]
    assert len(set(keys)) == len(keys)
    assert all(-(2**63) <= key < 2**63 for key in keys)
    hosts, servers = [key >> HOST_SHIFT for key in keys], [key >> SERVER_SHIFT for key in keys]
    assert hosts[0] == hosts[1] == hosts[3] == hosts[4], "The host is that of every app, with every port,"
    assert len(set(hosts)) == 5, "but on the loopback each port is another one."
    assert servers[0] == servers[1] == servers[4] != servers[3], "A server is one app's."


def test_nobody_outside_can_compute_the_number_of_an_endpoint(settings: Any) -> None:
    """Or they could look for a URL with the number of another app's endpoint, and slow that down."""
    numbers = []
    for secret in ("one", "another"):
        settings.SECRET_KEY = secret
        numbers.append(endpoint_key(UUID(int=1), "https://app.example.com/a"))
    one, another = numbers
    for low, high in ((0, SERVER_SHIFT), (SERVER_SHIFT, HOST_SHIFT), (HOST_SHIFT, 64)):
        assert (one ^ another) >> low & (1 << high - low) - 1, (
            "The host, the app and the URL are each hashed with the key."
        )


def test_delivery_takes_the_endpoint_of_its_webhook(webhook: Webhook, sandbox: Business) -> None:
    published = helpers.published(sandbox)
    written_plainly = Delivery.objects.create(
        event=Event.objects.create(business=sandbox, type="order.created", data="{}", occurred_at=NOW),
        webhook=webhook,
    )
    assert published.endpoint == written_plainly.endpoint == webhook.endpoint


def test_what_waits_follows_the_webhook_to_its_new_endpoint(webhook: Webhook, sandbox: Business) -> None:
    delivery = helpers.published(sandbox)
    webhook.url = "https://moved.example.com/"
    webhook.save()
    assert follow_url(webhooks=Webhook.objects.filter(pk=webhook.pk), endpoint=webhook.endpoint) == 1
    delivery.refresh_from_db()
    own = endpoint_key(webhook.installation.app_id, webhook.url, sandbox=sandbox.pk)
    assert delivery.endpoint == webhook.endpoint == own
