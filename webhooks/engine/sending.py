"""Step 3, send: hands requests to the transport's thread, and collects the outcomes.

The dispatcher's thread does all SQL, the transport's thread all HTTP. An attempt in flight holds a timer, not a thread.
"""

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Final
from uuid import UUID

from common.http import transport
from common.http.exchanges import Exchange
from common.observability.metrics import DELIVERY_STEPS
from webhooks.engine.claims import Claim
from webhooks.engine.clocks import DatabaseClock
from webhooks.messages.message import Message

WORTH_WAKING: Final = 64  # outcomes, or all in flight: the dispatcher stops waiting then


@dataclass(frozen=True, slots=True)
class SentRequest:
    """The request of one attempt. `began` is in seconds of the monotonic clock."""

    claim: Claim
    url: str
    attempted_at: datetime
    began: float


@dataclass(frozen=True, slots=True)
class Answered:
    """A finished attempt, whether it got a response or failed. `exchange` is an exception if it couldn't be made."""

    request: SentRequest
    ended_at: datetime
    ended: float
    exchange: Exchange | Exception


class InFlight:
    """The attempts that one dispatcher has in flight."""

    def __init__(self, clock: DatabaseClock) -> None:
        self._in_flight: dict[tuple[UUID, int], Claim] = {}  # a delivery may have two, under two fences
        self._clock = clock
        self._answered: list[Answered] = []
        self._enough = 1
        self._enough_came = threading.Event()

    @property
    def in_flight(self) -> Collection[Claim]:
        return self._in_flight.values()

    def send(self, messages: Sequence[tuple[Claim, Message]]) -> None:
        """Begin an attempt for each. Returns at once."""
        now, began = self._clock.now(), monotonic()
        self._in_flight |= {(claim.delivery_id, claim.fence): claim for claim, _ in messages}
        transport.submit_all(
            (
                (SentRequest(claim, message.url, now, began), message.url, message.headers, message.body)
                for claim, message in messages
            ),
            self._put,
        )

    def _put(self, request: SentRequest, exchange: Exchange | Exception) -> None:
        """Runs on the transport's thread."""
        self._answered.append(Answered(request, self._clock.now(), monotonic(), exchange))
        if len(self._answered) >= self._enough:
            self._enough_came.set()

    def stop_waiting(self) -> None:
        """Let `answers` return now. For any thread."""
        self._enough_came.set()

    def answers(self, *, until: float) -> list[Answered]:
        """The finished attempts, as soon as there are many or at `until`. Removes them from `in_flight`."""
        self._enough = max(1, min(WORTH_WAKING, len(self._in_flight)))
        if len(self._answered) < self._enough:
            self._enough_came.wait(max(0.0, until - monotonic()))
        self._enough_came.clear()
        # Another thread may append at any moment, so remove exactly the copied ones.
        finished = self._answered[:]
        del self._answered[: len(finished)]
        for answered in finished:
            claim = answered.request.claim
            self._in_flight.pop((claim.delivery_id, claim.fence), None)
        _observe(finished)
        return finished


def _observe(finished: Sequence[Answered]) -> None:
    connected, first_byte = [], []
    for each in finished:
        exchange = each.exchange
        if isinstance(exchange, Exchange) and exchange.connected_at is not None:
            connected.append(exchange.connected_at - each.request.began)
            if exchange.first_byte_at is not None:
                first_byte.append(exchange.first_byte_at - exchange.connected_at)
    DELIVERY_STEPS.observe("connected", connected)
    DELIVERY_STEPS.observe("first_byte", first_byte)
