"""How often dispatchers ask the database, and that many share the work without asking more often than two would.

Time is replaced, so that the statements that are counted don't depend on how busy the machine is; the statements are real.
"""
# ruff: noqa: SLF001  # the loop's steps are called one by one, at the moments at which it would wake up

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Business
from common.http import transport
from common.http.exchanges import Exchange
from installations.models import Installation
from tests.webhooks import helpers
from webhooks.engine import claims, clocks, dispatcher, sending, slots
from webhooks.engine.claim_selection import LEASES
from webhooks.engine.dispatcher import Dispatcher
from webhooks.enums import DeliveryStatus, Pace
from webhooks.models import Delivery, Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]

ANSWER = Exchange(200, {}, b"ok", False, 5, None)
ANSWER_AFTER = 0.005  # seconds


@dataclass
class Simulation:
    """Dispatchers in one thread, and a clock that jumps to whatever happens next."""

    now: float = 1000.0
    began: datetime = field(default_factory=timezone.now)
    dispatchers: list[Dispatcher] = field(default_factory=list)
    answers: list[tuple[float, Callable[[], None]]] = field(default_factory=list)
    sent: list[float] = field(default_factory=list)

    def time(self) -> datetime:
        return self.began + timedelta(seconds=self.now - 1000.0)

    def submit_all(self, requests: Iterable[Any], done: Callable[..., None]) -> None:
        for key, *_ in requests:
            self.sent.append(self.now)
            self.answers.append((self.now + ANSWER_AFTER, lambda key=key: done(key, ANSWER)))

    def start(self, count: int) -> None:
        phases = Random(1)
        for _ in range(count):
            self.dispatchers.append(Dispatcher())
            self.dispatchers[-1]._step()
            self.now += phases.uniform(0, 0.01)
        self.run(self.now + WARM_UP, [], lambda: None)

    def end(self) -> None:
        """Stop all dispatchers, and forget what was counted."""
        for each in self.dispatchers:
            each._slot.leave()
        self.dispatchers.clear()
        self.sent.clear()
        Delivery.objects.all().delete()

    def run(self, until: float, moments: Sequence[float], happen: Callable[[], None]) -> None:
        """Let all work until then, and until nothing is in flight. Something happens at each of the moments."""
        coming = deque(moments)
        while self.now < until or coming or any(each._busy() for each in self.dispatchers):
            wakings = [each._wake_at() for each in self.dispatchers]
            self.now = max(self.now, min([*wakings, *list(coming)[:1], *(at for at, _ in self.answers)]))
            while coming and coming[0] <= self.now:
                coming.popleft()
                happen()
            over = [answer for at, answer in self.answers if at <= self.now]
            self.answers = [(at, answer) for at, answer in self.answers if at > self.now]
            for answer in over:
                answer()
            for each in self.dispatchers:
                if each._wake_at() <= self.now or _has_enough(each):
                    each._collect(until=self.now)
                    each._step()


def _has_enough(waiting: Dispatcher) -> bool:
    """Whether it would have stopped waiting by now."""
    sender = waiting._sender
    return len(sender._answered) >= max(1, min(sending.WORTH_WAKING, len(sender.in_flight)))


@pytest.fixture
def simulation(monkeypatch: pytest.MonkeyPatch) -> Simulation:
    simulated = Simulation()
    for module in (dispatcher, sending, slots, claims):
        monkeypatch.setattr(module, "monotonic", lambda: simulated.now)
    monkeypatch.setattr(clocks.DatabaseClock, "now", lambda _: simulated.time())
    monkeypatch.setattr(transport, "submit_all", simulated.submit_all)
    monkeypatch.setattr(slots, "ALIVE_FOR", timedelta(hours=1))  # a slow machine doesn't beat in time
    return simulated


SECONDS, RATE = 2, 40
WARM_UP = 1.5  # seconds; a heartbeat tells each how many there are
FAN_OUT = 10


@dataclass(frozen=True)
class Cost:
    statements: float  # of each delivery
    wait: float  # seconds from the event to its request


def cost(simulation: Simulation, installation: Installation, business: Business, count: int) -> Cost:
    """At a steady pace, with the heartbeats."""
    for number in range(FAN_OUT):
        helpers.webhook(installation, f"https://{number}.example.com/", ["order.created"])
    simulation.start(count)
    begun, asked, ours = simulation.now, 0, True
    moments = [begun + number / RATE for number in range(SECONDS * RATE)]

    def counted(execute: Any, *arguments: Any) -> Any:
        nonlocal asked
        asked += ours
        return execute(*arguments)

    def happen() -> None:
        nonlocal ours
        ours = False
        helpers.publish(business, now=simulation.time())
        ours = True

    with connection.execute_wrapper(counted):
        simulation.run(begun + SECONDS, moments, happen)
    deliveries = FAN_OUT * len(moments)
    assert (
        Delivery.objects.filter(status=DeliveryStatus.SUCCEEDED).count() == len(simulation.sent) == deliveries
    )
    return Cost(asked / deliveries, (sum(simulation.sent) - FAN_OUT * sum(moments)) / deliveries)


@pytest.mark.slow  # some seconds of a simulation
def test_eight_dispatchers_cost_the_database_as_much_as_two_and_send_as_soon(
    simulation: Simulation, installation: Installation, sandbox: Business
) -> None:
    two = cost(simulation, installation, sandbox, 2)
    simulation.end()
    Webhook.objects.all().delete()
    eight = cost(simulation, installation, sandbox, 8)
    assert eight.statements <= 1.15 * two.statements
    assert eight.wait <= max(1.5 * two.wait, 3 * dispatcher.REST)


@dataclass
class Asked:
    """The simulated times of peeks and of claims."""

    peeks: list[float] = field(default_factory=list)
    claims: list[float] = field(default_factory=list)

    def forget(self) -> None:
        self.peeks.clear()
        self.claims.clear()


@contextmanager
def claims_and_peeks(simulation: Simulation) -> Iterator[Asked]:
    times = Asked()

    def noted(execute: Any, sql: str, *arguments: Any) -> Any:
        if "EXECUTE webhooks_peek" in sql:
            times.peeks.append(simulation.now)
        if "EXECUTE webhooks_claim" in sql:
            times.claims.append(simulation.now)
        return execute(sql, *arguments)

    with connection.execute_wrapper(noted):
        yield times


@pytest.fixture
def asked(simulation: Simulation) -> Iterator[Asked]:
    """Of one dispatcher."""
    simulation.start(1)
    with claims_and_peeks(simulation) as times:
        yield times


@pytest.mark.long
def test_eight_dispatchers_claim_hardly_more_than_two_where_no_endpoint_has_room(
    simulation: Simulation, webhook: Webhook, sandbox: Business
) -> None:
    def claims_in_vain(count: int) -> int:
        simulation.start(count)
        for _ in range(LEASES[Pace.UNKNOWN] + 1):
            helpers.publish(sandbox, now=simulation.time())
        slot = simulation.dispatchers[0]._slot.id
        assert slot
        assert len(claims.claim(128, simulation.time(), slot)) == LEASES[Pace.UNKNOWN]
        with claims_and_peeks(simulation) as asked:
            simulation.run(simulation.now + 1, [], lambda: None)
        assert simulation.sent == []
        simulation.end()
        return len(asked.claims)

    assert claims_in_vain(8) <= 1.5 * claims_in_vain(2)


def publish_now(simulation: Simulation, business: Business) -> None:
    """And go on until it is sent and recorded."""
    moment = [simulation.now]
    simulation.run(moment[0] + 0.02, moment, lambda: helpers.publish(business, now=simulation.time()))


def test_what_becomes_due_soon_after_work_is_found_by_peeks_which_cost_less_than_claims(
    simulation: Simulation, asked: Asked, webhook: Webhook, sandbox: Business
) -> None:
    publish_now(simulation, sandbox)
    simulation.sent.clear()
    asked.forget()
    simulation.run(simulation.now + 0.015, [], lambda: None)
    assert len(asked.peeks) >= 4
    assert asked.claims == []
    published = simulation.now
    publish_now(simulation, sandbox)
    assert asked.claims == simulation.sent
    assert simulation.sent[0] - published <= 8 * dispatcher.REST


def test_idle_dispatcher_peeks_and_never_claims(simulation: Simulation, asked: Asked) -> None:
    simulation.run(simulation.now + 2, [], lambda: None)
    asked.forget()
    simulation.run(simulation.now + 5, [], lambda: None)
    assert asked.claims == []
    assert 85 <= len(asked.peeks) <= 101
