"""What a transaction that somebody leaves open costs dispatchers, and what they leave out meanwhile."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import Max
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import Business
from tests.sessions import another_session
from tests.webhooks.helpers import add_copies, published
from webhooks.engine import claim_selection, claims, lookback, planning
from webhooks.engine.claim_selection import COUNTED, EVER, LEASE, OlderLeases
from webhooks.engine.claims import COUNT_OLDER_EVERY, RECENT, Claimer, LostLeases
from webhooks.engine.dispatcher import Dispatcher
from webhooks.engine.lookback import CHEAP, FOR_EACH_ROW, LOOKS, Lookback
from webhooks.engine.slots import ALIVE_FOR, Slot
from webhooks.models import Delivery, DispatcherSlot, Webhook

pytestmark = pytest.mark.django_db(transaction=True)

PAST = timedelta(seconds=30)
A_MOMENT_AGO = timedelta(seconds=5)  # later than `COUNTED`
ENDED = 2000  # deliveries
ROWS_A_PAGE = 50  # at most


@pytest.fixture
def open_transaction(transactional_db: None) -> Iterator[None]:
    """As a report or a forgotten console leaves it."""
    with another_session() as session:
        session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        session.execute("SELECT count(*) FROM webhooks_delivery")
        yield
        session.rollback()


def send_many(sandbox: Business, ago: timedelta) -> None:
    """Due, leased and confirmed, each in a version of the row that the open transaction keeps."""
    then = timezone.now() - ago
    add_copies(published(sandbox, now=then), ENDED - 1)
    sent = Delivery.objects.all()
    sent.update(lease_until=then + LEASE)
    sent.update(lease_until=None, due_at=None, status="SUCCEEDED")
    with connection.cursor() as cursor:  # its figures favor an index by endpoint
        cursor.execute("ANALYZE webhooks_delivery")


def claim_reads(since: timedelta | None) -> int:
    """Pages, by a claim that finds nothing, with leases counted from there on only, too."""
    now = timezone.now()
    older = OlderLeases(now - since, {}) if since else None
    with planning.by_index_here():
        return _pages_read(
            f"WITH {claim_selection.CHOSEN} SELECT id FROM chosen",  # noqa: S608
            claim_selection.parameters(128, now, now - since if since else EVER, older),
        )


def peek_reads(since: timedelta | None) -> int:
    """Pages, by a peek that finds nothing."""
    now = timezone.now()
    with planning.by_index_here():
        assert not claims.is_anything_due(now)  # prepares it
        return _pages_read("EXECUTE webhooks_peek (%s, %s)", [now - since if since else EVER, now])


def _pages_read(statement: str, parameters: Any) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", parameters)
        plan = cursor.fetchone()[0][0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


@pytest.mark.postgres
@pytest.mark.usefixtures("open_transaction")
@pytest.mark.parametrize("ago", [PAST, A_MOMENT_AGO])
@pytest.mark.parametrize("pages_read", [claim_reads, peek_reads])
def test_looking_for_recent_deliveries_steps_over_no_older_entries(
    sandbox: Business, webhook: Webhook, ago: timedelta, pages_read: Callable[[timedelta | None], int]
) -> None:
    before = pages_read(RECENT)
    send_many(sandbox, ago)
    assert pages_read(None) >= before + ENDED / ROWS_A_PAGE, "Nothing was kept."
    assert pages_read(RECENT) <= before + 10


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Of the looks. It stops unless a test moves it."""
    standing = Clock()
    monkeypatch.setattr(lookback, "monotonic", standing)
    return standing


def expensive(looks: Lookback) -> None:
    for _ in range(LOOKS):
        looks.found_nothing_old(took=0.1)


@pytest.mark.parametrize("rows", [0, 128])
def test_looks_go_all_the_way_back_while_one_of_the_last_was_cheap(clock: Clock, rows: int) -> None:
    looks, cheap = Lookback(), CHEAP * 0.9 + FOR_EACH_ROW * rows
    others = [cheap + 0.1] * (LOOKS - 1)
    for took in [*others, cheap, *others]:
        looks.found_nothing_old(took=took, rows=rows)
        assert looks.is_due()


def test_expensive_looks_take_a_thirtieth_of_the_time(clock: Clock) -> None:
    looks = Lookback()
    expensive(looks)
    assert not looks.is_due()
    clock.now += 2.9
    assert not looks.is_due()
    clock.now += 0.2
    assert looks.is_due()
    looks.found_nothing_old(took=0.3)
    clock.now += 8.9
    assert not looks.is_due(), "One more is enough."
    clock.now += 0.2
    looks.found_nothing_old(took=0.001)
    assert looks.is_due(), "It is cheap again."
    expensive(looks)
    clock.now += 100
    looks.found_nothing_old(took=90)
    clock.now += 61
    assert looks.is_due(), "A machine that was frozen makes it no rarer than once a minute."


def test_look_is_expected_to_take_twice_as_long_as_the_last(clock: Clock) -> None:
    looks = Lookback()
    assert looks.expected == 0.0
    expensive(looks)
    assert looks.expected == 0.0, "The next one doesn't go all the way."
    clock.now += 3.1
    assert looks.expected == pytest.approx(0.2)


@pytest.mark.postgres
@pytest.mark.parametrize(("looking", "expected"), [(Claimer, 40.0), (LostLeases, 40.0), (Claimer, 400.0)])
def test_dispatcher_announces_a_look_that_takes_long(
    looking: type, expected: float, webhook: Webhook, slow_looks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others would take it for dead, and resend what it has in flight."""
    announced = []

    class Announcing(Slot):
        def beat(self, *, silent_for: float = 0.0) -> None:
            super().beat(silent_for=silent_for)
            ahead = DispatcherSlot.objects.filter(pk=self.id).aggregate(ahead=Max("seen_at") - Now())["ahead"]
            announced.append(ahead.total_seconds())

    monkeypatch.setattr(looking, "expected", expected)
    Dispatcher(slot=Announcing()).run(idle=0.1, limit=2)
    longest = min(expected, LEASE.total_seconds())  # after that others resend anyway
    assert longest - 1 < max(announced) <= longest


@pytest.fixture
def claimer(slow_looks: None) -> Claimer:
    return Claimer()


@pytest.fixture
def slow_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look is too expensive to be repeated at once."""
    monkeypatch.setattr(lookback, "CHEAP", -1.0)
    monkeypatch.setattr(lookback, "PAUSE", 10**6)


@pytest.fixture
def slot() -> int:
    started = Slot()
    started.beat()
    assert started.id
    return started.id


@pytest.mark.postgres
def test_what_is_due_for_long_waits_only_while_looks_are_expensive(
    sandbox: Business, webhook: Webhook, claimer: Claimer, slot: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def claim() -> set[object]:
        return {each.delivery_id for each in claimer.claim(10, timezone.now(), slot)}

    for _ in range(LOOKS):
        assert claim() == set()
    old = published(sandbox, now=timezone.now() - PAST)
    assert claims.is_anything_due(timezone.now())
    assert not claimer.is_anything_due(timezone.now()), "It would step over the old entries."
    fresh = published(sandbox)
    assert claimer.is_anything_due(timezone.now())
    assert claim() == {fresh.pk}
    monkeypatch.setattr(lookback, "monotonic", lambda: time.monotonic() + 10**9)
    assert claimer.is_anything_due(timezone.now())
    with another_session() as other:  # another dispatcher's claim
        other.execute(claims._ONE_AT_A_TIME.text)  # noqa: SLF001
        assert claim() == {old.pk}, "A look that is known to be expensive goes beside others."
    another = published(sandbox, now=timezone.now() - PAST)
    assert claim() == {another.pk}, "A look that found old ones is followed by another."


@pytest.mark.postgres
def test_claims_find_out_what_looking_back_costs_when_the_last_was_expensive(
    webhook: Webhook, claimer: Claimer, slot: int
) -> None:
    """With peeks, which are not measured, it would take as long as they find nothing."""
    assert not claimer.is_anything_due(timezone.now())
    for made in range(1, LOOKS + 1):
        claimer.claim(10, timezone.now(), slot)
        assert claimer.is_anything_due(timezone.now()) == (made < LOOKS)


@pytest.mark.postgres
@pytest.mark.timed
def test_older_leases_of_an_endpoint_count_while_looks_are_expensive(
    sandbox: Business, webhook: Webhook, claimer: Claimer, slot: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint that hangs gets no more than at other times."""
    for _ in range(LOOKS):
        claimer.claim(10, timezone.now(), slot)
    then = timezone.now() - A_MOMENT_AGO
    published(sandbox, now=then)
    (hanging,) = claims.claim(10, then, slot)
    fresh = published(sandbox)
    assert claimer.claim(10, timezone.now(), slot) == []
    claims.cancel([hanging], timezone.now())
    assert claimer.claim(10, timezone.now(), slot) == [], "They are not counted again at once."
    monkeypatch.setattr(claims, "monotonic", lambda: time.monotonic() + COUNT_OLDER_EVERY)
    assert [each.delivery_id for each in claimer.claim(10, timezone.now(), slot)] == [fresh.pk]


def test_leases_of_a_killed_dispatcher_are_freed_while_looks_are_expensive(
    sandbox: Business, webhook: Webhook, slow_looks: None, slot: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "CONFIRMED_AFTER", 0.1)
    lost = LostLeases()
    for _ in range(LOOKS):
        assert lost.free(timezone.now()) == 0
    published(sandbox, now=timezone.now() - PAST)
    assert claims.claim(10, timezone.now() - COUNTED, slot)
    DispatcherSlot.objects.filter(pk=slot).update(seen_at=Now() - ALIVE_FOR - timedelta(seconds=0.1))
    assert lost.free(timezone.now()) == 0
    time.sleep(0.15)
    assert lost.free(timezone.now()) == 1
