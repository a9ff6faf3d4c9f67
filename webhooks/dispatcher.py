"""Sends what is due.

One thread does all SQL, in batches; the transport's thread does all HTTP, with hundreds of attempts in flight, so
that a slow endpoint costs no thread. A claim never takes more than can be sent at once, and no transaction is open
while anything is sent. Whatever dies when: a delivery that was claimed and not recorded is sent again when its
lease runs out, under the same id.
"""

import logging
import threading
from asyncio import Future
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Final, Protocol
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection

from common.transactions import forbid_transaction
from webhooks import claims, outbox, planning, transport
from webhooks.awake import Place
from webhooks.claims import Claim, Result
from webhooks.clocks import DatabaseClock
from webhooks.outage import Guard
from webhooks.outcomes import Answered, Attempt, Outcomes, due_again
from webhooks.transport import Exchange

log = logging.getLogger(__name__)

IN_FLIGHT: Final = 512  # attempts at once
CLAIMED_AT_ONCE: Final = 128
RECORDED_AT_ONCE: Final = 128
WORTH_WAKING: Final = 64  # answers, or all there can be, for which the loop does not wait until it is time
# Times in seconds.
POLL: Final = 0.01  # between looks for work while there is some
IDLE_POLL: Final = 0.05  # and at most while there is none
RECORD_WITHIN: Final = 0.025
FREE_EXPIRED_EVERY: Final = 1.0
COMPARE_CLOCKS_EVERY: Final = 60.0
GRACE: Final = 12.0  # for what is in flight when we stop: a little over an attempt's deadline
OUTAGE_PAUSE: Final = 1.0


class Stop(Protocol):
    """Says when to stop: a `threading.Event`, or what is like one."""

    def is_set(self) -> bool: ...


class Answers:
    """What the transport's thread hands to the dispatcher's, which wakes for many at once."""

    def __init__(self, clock: DatabaseClock) -> None:
        self._clock = clock
        self._answered: list[Answered] = []
        self._enough = 1
        self._enough_came = threading.Event()

    def put(self, attempt: Attempt, exchange: "Future[Exchange]") -> None:
        self._answered.append(Answered(attempt, self._clock.now(), monotonic(), exchange))
        if len(self._answered) >= self._enough:
            self._enough_came.set()

    def take(self, enough: int, *, until: float) -> list[Answered]:
        """Those that have come once they are enough, or once it is time."""
        self._enough = enough
        if len(self._answered) < enough:
            self._enough_came.wait(max(0.0, until - monotonic()))
        self._enough_came.clear()
        # Another thread may append at any moment, so what is taken is exactly what is removed.
        taken = self._answered[:]
        del self._answered[: len(taken)]
        return taken


class Dispatcher:
    """Claims, sends and records until told to stop. Not to be shared between threads."""

    def __init__(self, *, place: Place | None = None, stop: Stop | None = None) -> None:
        self._place = place
        self._stop = stop or threading.Event()
        self._guard = Guard(room=IN_FLIGHT)
        self._in_flight: dict[UUID, Claim] = {}
        self._clock = DatabaseClock()
        self._answers = Answers(self._clock)
        self._outcomes = Outcomes(self._guard)
        self._results: list[Result] = []
        self._spared: list[Claim] = []
        self._recorded = 0
        self._planned = False
        self._poll = POLL
        self._claim_at = self._record_at = self._free_expired_at = self._compare_clocks_at = 0.0
        self._worked_at = self._looked_in_vain_at = 0.0

    def run(self, *, idle: float | None = None, limit: float | None = None) -> int:
        """Work until there was nothing to do for `idle` seconds, `limit` seconds are over, or `stop` is set.

        None means without end. Returns the number of attempts that were recorded.
        """
        try:
            self._serve(idle=idle, limit=limit)
            if self._place:
                self._place.leave()
                if not self._stop.is_set():
                    # Whoever committed just now saw us awake and gave no hint.
                    with self._surviving_outages():
                        self._send_due()
            self._finish()
        finally:
            with self._surviving_outages():
                planning.as_usual()
        return self._recorded

    def _serve(self, *, idle: float | None, limit: float | None) -> None:
        began = self._worked_at = monotonic()
        while not self._stop.is_set():
            if self._place:
                self._place.keep()
            with self._surviving_outages():
                self._step()
            if limit is not None and monotonic() - began >= limit:
                return
            if idle is not None and self._idle_for() >= idle:
                return
            self._collect(until=min(self._claim_at, self._record_at if self._results else self._claim_at))

    def _step(self) -> None:
        """Record what is to be recorded, then send what is to be sent."""
        if not self._planned:
            planning.by_index()
            self._planned = True
        self._record()
        now = monotonic()
        if now >= self._compare_clocks_at:
            self._clock.compare()
            self._compare_clocks_at = now + COMPARE_CLOCKS_EVERY
        if now >= self._free_expired_at:
            self._free_expired_at = now + FREE_EXPIRED_EVERY
            claims.free_expired(self._clock.now())
        if now >= self._claim_at:
            self._send_due()

    def _busy(self) -> bool:
        return bool(self._in_flight or self._results or self._spared or self._outcomes)

    def _idle_for(self) -> float:
        """For how long there has been nothing to do, as of the last look; negative while there is something."""
        return -1.0 if self._busy() else self._looked_in_vain_at - self._worked_at

    # Sending

    def _send_due(self) -> None:
        """Claim and send what there is room for."""
        room = min(self._guard.room(len(self._in_flight), monotonic()), CLAIMED_AT_ONCE)
        claimed = claims.claim(room, self._clock.now()) if room else []
        self._claim_at = monotonic() + self._pause(room, len(claimed))
        if claimed:
            self._send(claimed)
            self._worked_at = monotonic()
        else:
            self._looked_in_vain_at = monotonic()

    def _pause(self, asked: int, came: int) -> float:
        """Look again at once while much is due, soon after some was, and ever more seldom after that."""
        if came:
            self._poll = POLL
            return 0.0 if came > asked / 2 else POLL
        pause, self._poll = self._poll, min(self._poll * 1.2, IDLE_POLL)
        return pause

    def _send(self, claimed: Sequence[Claim]) -> None:
        forbid_transaction()
        prepared = outbox.prepare(claimed)
        now, began = self._clock.now(), monotonic()
        requests = [
            (Attempt(claim, request.url, now, began), request.url, request.headers, request.body)
            for claim, request in prepared.messages
        ]
        self._in_flight |= {claim.delivery_id: claim for claim, _ in prepared.messages}
        transport.submit_all(requests, self._answers.put)
        if prepared.unwanted:
            claims.cancel(prepared.unwanted, self._clock.now())
        if prepared.kept:
            claims.hold(prepared.kept)

    # Recording

    def _collect(self, *, until: float) -> None:
        """Take in the answers that have come by then."""
        enough = max(1, min(WORTH_WAKING, len(self._in_flight)))
        for answered in self._answers.take(enough, until=until):
            self._in_flight.pop(answered.attempt.claim.delivery_id, None)
            self._keep(self._outcomes.of(answered))
        for claim, result in self._outcomes.judged(monotonic()):
            if result is None:
                self._spared.append(claim)
            self._keep(result)

    def _keep(self, result: Result | None) -> None:
        if result is None:
            return
        if not self._results:
            self._record_at = monotonic() + RECORD_WITHIN
        self._results.append(result)

    def _record(self) -> None:
        """Write results down once they are many, old, or all that is left."""
        while self._results and (
            len(self._results) >= RECORDED_AT_ONCE or monotonic() >= self._record_at or not self._in_flight
        ):
            batch = self._results[:RECORDED_AT_ONCE]
            self._recorded += claims.record(batch)
            del self._results[:RECORDED_AT_ONCE]  # only now: a database that fails gets them again
            self._worked_at = self._claim_at = monotonic()  # endpoints have room again
        if self._spared:
            claims.postpone(self._spared, due_again(self._clock.now()))
            self._spared.clear()

    # Stopping

    def _finish(self) -> None:
        """Take in what is in flight or in doubt, and leave to others what takes too long."""
        end = monotonic() + GRACE
        while self._busy() and monotonic() < end:
            with self._surviving_outages():
                self._record()
            if self._busy():
                self._collect(until=min(end, monotonic() + POLL))
        with self._surviving_outages():
            claims.release(list(self._in_flight.values()))

    @contextmanager
    def _surviving_outages(self) -> Iterator[None]:
        """A database that restarts must end neither the work nor what we know of attempts already made."""
        try:
            yield
        except (OperationalError, InterfaceError) as error:
            log.warning("The database failed, trying on: %s", error)
            connection.close()
            self._planned = False
            sleep(OUTAGE_PAUSE)
