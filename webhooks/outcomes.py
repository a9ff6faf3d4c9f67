"""What comes of attempts: where each leaves its delivery, and which of them were our own failure."""

import logging
from asyncio import CancelledError, Future
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import uniform
from typing import Final

from webhooks import endpoints, message, retry
from webhooks.claims import Claim, Result
from webhooks.enums import DeliveryStatus, Pace
from webhooks.outage import DOUBT, Guard
from webhooks.outbox import host
from webhooks.transport import ErrorClass, Exchange

log = logging.getLogger(__name__)

ANSWERED_BEFORE: Final = (Pace.PROVEN, Pace.SLOW)
UNREACHED: Final[tuple[ErrorClass, ...]] = ("dns", "refused", "timeout_connect")
SPARED_FOR: Final = 15.0, 30.0  # seconds, at least and at most, until what was spared is due again


@dataclass(frozen=True, slots=True)
class Attempt:
    """One that was begun. `began` is in seconds of the monotonic clock."""

    claim: Claim
    url: str
    attempted_at: datetime
    began: float


@dataclass(frozen=True, slots=True)
class Answered:
    """An attempt that is over."""

    attempt: Attempt
    ended_at: datetime
    ended: float
    exchange: "Future[Exchange]"


class Outcomes:
    """Turns answers into results, apart from those that an outage of our own explains."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._doubtful: deque[Answered] = deque()

    def __len__(self) -> int:
        """How many are not judged yet."""
        return len(self._doubtful)

    def of(self, answered: Answered) -> Result | None:
        """The result, or None where there is none, or not yet."""
        try:
            exchange = answered.exchange.result()
            if exchange.error_class not in UNREACHED:
                if exchange.status is not None:
                    self._hear_of_an_answer(answered)
                return outcome(answered.attempt.claim, exchange, answered)
            return self._of_unreached(answered, exchange)
        except (Exception, CancelledError):
            log.exception("Delivery %s was lost on the way.", answered.attempt.claim.delivery_id)
            return None

    def judged(self, now: float) -> Iterator[tuple[Claim, Result | None]]:
        """Those about which there is no doubt any more. None stands for an attempt that does not count."""
        while self._doubtful and (self._guard.outage or self._doubtful[0].ended <= now - DOUBT):
            answered = self._doubtful.popleft()
            claim = answered.attempt.claim
            if self._guard.spares(answered.attempt.began, answered.ended):
                yield claim, None
            else:
                yield claim, outcome(claim, answered.exchange.result(), answered)

    def _hear_of_an_answer(self, answered: Answered) -> None:
        outage = self._guard.outage
        self._guard.reached(host(answered.attempt.url), answered.ended)
        if outage:
            log.warning("%s answers: our outage is over.", host(answered.attempt.url))

    def _of_unreached(self, answered: Answered, exchange: Exchange) -> Result | None:
        attempt = answered.attempt
        answered_before = attempt.claim.pace in ANSWERED_BEFORE
        if self._guard.missed(host(attempt.url), answered.ended, answered_before=answered_before):
            log.error(
                "Hosts that answered before can't be reached, one after the other, lately %s (%s). This looks like "
                "an outage of our own network or name service: attempts are not counted until one answers.",
                host(attempt.url),
                exchange.error_class,
            )
        if answered_before or self._guard.spares(attempt.began, answered.ended):
            self._doubtful.append(answered)
            return None
        return outcome(attempt.claim, exchange, answered)


def due_again(now: datetime) -> datetime:
    """When what was spared is tried again."""
    return now + timedelta(seconds=uniform(*SPARED_FOR))  # noqa: S311


def outcome(claim: Claim, exchange: Exchange, answered: Answered) -> Result:
    """Where an attempt leaves its delivery (interface, "Retry policy")."""
    due_at, status = None, DeliveryStatus.SUCCEEDED
    if not exchange.succeeded:
        due_at = retry.next_attempt_at(
            attempts_made=claim.attempts_made + 1,
            failed_at=answered.ended_at,
            retry_after=retry.requested_wait(
                exchange.status, exchange.headers.get("retry-after"), answered.ended_at
            ),
        )
        status = DeliveryStatus.RETRYING if due_at else DeliveryStatus.EXHAUSTED
    return Result(
        claim=claim,
        status=status,
        due_at=due_at,
        finished_at=None if due_at else answered.ended_at,
        attempted_at=answered.attempt.attempted_at,
        http_status=exchange.status,
        duration_ms=exchange.duration_ms,
        error_class=exchange.error_class or "",
        response_excerpt=message.excerpt(exchange.body),
        pace=endpoints.pace_after(exchange),
    )
