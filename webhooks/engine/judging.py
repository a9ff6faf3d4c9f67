"""Step 4, judge: turns each response or failure into a result, unless the failure is our own."""

import logging
from collections import deque
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from random import uniform
from typing import Final
from urllib.parse import urlsplit

from common.http.exchanges import ErrorClass, Exchange
from webhooks.engine import retry
from webhooks.engine.claim_selection import FAST, SLOW
from webhooks.engine.claims import Claim
from webhooks.engine.outage import DOUBT, Guard
from webhooks.engine.recording import AttemptResult
from webhooks.engine.sending import Answered
from webhooks.enums import DeliveryStatus, Pace
from webhooks.messages import message

log = logging.getLogger(__name__)

ANSWERED_BEFORE: Final = (Pace.FAST, Pace.PROVEN, Pace.SLOW)
UNREACHED: Final[tuple[ErrorClass, ...]] = ("dns", "refused", "timeout_connect")
SPARED_FOR: Final = 15.0, 30.0  # seconds, minimum and maximum, until a spared delivery is due again


class Judge:
    """Judges the attempts of one dispatcher."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._doubtful: deque[tuple[Answered, Exchange]] = deque()
        self._lost: list[Claim] = []

    @property
    def doubtful(self) -> list[Claim]:
        """Those whose attempts are in doubt or were lost."""
        return [answered.request.claim for answered, _ in self._doubtful] + self._lost

    def judge(self, answered: Answered) -> AttemptResult | None:
        """The result. None if the attempt was lost or is in doubt: `settled` has it later."""
        try:
            exchange = answered.exchange
            if isinstance(exchange, Exception):
                raise exchange
            if exchange.error_class not in UNREACHED:
                if exchange.status is not None:
                    self._hear_of_an_answer(answered)
                return _result(answered, exchange)
            return self._of_unreached(answered, exchange)
        except Exception:
            log.exception("Delivery %s was lost on the way.", answered.request.claim.delivery_id)
            self._lost.append(answered.request.claim)
            return None

    def settled(self, now: float) -> Iterator[tuple[Claim, AttemptResult | None]]:
        """The attempts that are no longer in doubt. The result is None if the attempt doesn't count."""
        while self._lost:
            yield self._lost.pop(), None
        while self._doubtful and (self._guard.outage or self._doubtful[0][0].ended <= now - DOUBT):
            answered, exchange = self._doubtful.popleft()
            spared = self._guard.spares(answered.request.began, answered.ended)
            yield answered.request.claim, None if spared else _result(answered, exchange)

    def _hear_of_an_answer(self, answered: Answered) -> None:
        outage = self._guard.outage
        self._guard.reached(host(answered.request.url), answered.ended)
        if outage:
            log.warning("%s responds: our outage is over.", host(answered.request.url))

    def _of_unreached(self, answered: Answered, exchange: Exchange) -> AttemptResult | None:
        request = answered.request
        answered_before = request.claim.pace in ANSWERED_BEFORE
        if self._guard.missed(host(request.url), answered.ended, answered_before=answered_before):
            log.error(
                "Several hosts that responded before can't be reached, the latest %s (%s). This looks like an outage "
                "of our own network or name service. Attempts are not counted until a host responds.",
                host(request.url),
                exchange.error_class,
            )
        if answered_before or self._guard.spares(request.began, answered.ended):
            self._doubtful.append((answered, exchange))
            return None
        return _result(answered, exchange)


def due_again(now: datetime) -> datetime:
    """When a spared delivery is due again."""
    return now + timedelta(seconds=uniform(*SPARED_FOR))  # noqa: S311


def _result(answered: Answered, exchange: Exchange) -> AttemptResult:
    request = answered.request
    return result_of(
        request.claim,
        exchange,
        attempted_at=request.attempted_at,
        ended_at=answered.ended_at,
        ended=answered.ended,
    )


def result_of(
    claim: Claim,
    exchange: Exchange,
    *,
    attempted_at: datetime,
    ended_at: datetime,
    ended: float | None = None,
    by_listener: bool = False,
) -> AttemptResult:
    """The delivery's new state after an attempt (contract, section 5)."""
    due_at, status = None, DeliveryStatus.SUCCEEDED
    if not exchange.succeeded:
        due_at = retry.next_attempt_at(
            attempts_made=claim.attempts_made + 1,
            failed_at=ended_at,
            retry_after=retry.requested_wait(exchange.status, exchange.headers.get("retry-after"), ended_at),
        )
        status = DeliveryStatus.RETRYING if due_at else DeliveryStatus.EXHAUSTED
    return AttemptResult(
        claim=claim,
        status=status,
        due_at=due_at,
        finished_at=None if due_at else ended_at,
        attempted_at=attempted_at,
        http_status=exchange.status,
        duration_ms=exchange.duration_ms,
        error_class=exchange.error_class or "",
        response_excerpt=message.excerpt(exchange.body),
        # The attempts of a test store come one after the other at each endpoint, however quickly it answers.
        pace=None if claim.by_store_clock else pace_after(exchange),
        by_listener=by_listener,
        wait=((due_at or ended_at) - ended_at).total_seconds() if claim.by_store_clock else None,
        ended=ended,
    )


def pace_after(exchange: Exchange) -> Pace | None:
    """The endpoint's pace after an attempt. None if it stays as it was.

    A quick error status costs others nothing, but doesn't prove that the endpoint works either.
    """
    if exchange.status is None:
        return None if exchange.error_class == "blocked_address" else Pace.SILENT
    took = timedelta(milliseconds=exchange.duration_ms)
    if took > SLOW:
        return Pace.SLOW
    if not exchange.succeeded:
        return None
    return Pace.FAST if took <= FAST else Pace.PROVEN


@lru_cache(4096)
def host(url: str) -> str:
    """The URL's host. Empty if it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
