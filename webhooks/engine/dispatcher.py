"""The loop of the delivery engine: claim, prepare, send, judge, record.

One thread does all SQL, in batches, and the transport's thread does all HTTP, with hundreds of attempts in flight. A
claim never leases more than can be sent at once, and no transaction is open during a request. If a process dies, the
deliveries it had claimed but not recorded are resent under the same ids once their leases are free.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from itertools import chain
from math import inf
from time import monotonic, sleep
from typing import Final, Protocol

from django.db import Error, connection

from common.db.outages import is_outage
from common.db.transactions import forbid_transaction
from common.files.disks import is_full
from common.observability.metrics import DELIVERY_STEPS, PUT_OFF
from webhooks.engine import claims, listeners, planning, preparation, recording, wakeup
from webhooks.engine.claims import Claim, LostLeases
from webhooks.engine.clocks import DatabaseClock
from webhooks.engine.judging import Judge, due_again
from webhooks.engine.outage import Guard
from webhooks.engine.recording import UNHEALTHY, AttemptResult
from webhooks.engine.sending import InFlight
from webhooks.engine.slots import ALIVE_FOR, Slot
from webhooks.messages.message import Message

log = logging.getLogger(__name__)

IN_FLIGHT: Final = 512  # attempts at once
CLAIMED_AT_ONCE: Final = 128
RECORDED_AT_ONCE: Final = 128
# Times in seconds.
REST: Final = 0.002  # between two looks for due deliveries, while they find some
RUNG_REST: Final = 0.02  # the same, while hints of writers come: looks find what these miss
RUNG_FOR: Final = 1.0  # after the last hint
# A rest after a look that got none, to the one before it. When a claim gets none, others are at work, or endpoints have no room.
PEEKS_SLOW_DOWN: Final = 1.25
CLAIMS_SLOW_DOWN: Final = 2.0
TURN: Final = (
    0.003  # after a claim, for each two dispatchers beyond two: the others claim, and claims are large
)
LONGEST_REST: Final = 0.05  # of two; more dispatchers rest longer, so that together they ask as often
# Once half of what it sent is answered, so that a slow machine doesn't write small batches.
RECORD_AFTER: Final = 0.025
RECORD_WITHIN: Final = 0.1
LOOK_AGAIN: Final = 0.005
FREE_LOST_EVERY: Final = 1.0
COMPARE_CLOCKS_EVERY: Final = 60.0
GRACE: Final = 12.0  # for attempts in flight when we stop: a little over an attempt's deadline
OUTAGE_PAUSE: Final = 0.5  # short enough that others don't take this dispatcher for dead


class Stop(Protocol):
    """A flag that `run` checks. `threading.Event` is one."""

    def is_set(self) -> bool: ...


class Dispatcher:
    """Claims, sends and records until it is stopped. Use it in one thread only."""

    def __init__(self, *, slot: Slot | None = None, stop: Stop | None = None) -> None:
        self._slot = slot or Slot()
        self._lost_leases = LostLeases()
        self._stop = stop or threading.Event()
        self._guard = Guard(room=IN_FLIGHT)
        self._clock = DatabaseClock()
        self._sender = InFlight(self._clock)
        self._judge = Judge(self._guard)
        self._peek = claims.Peek()
        self._results: list[AttemptResult] = []
        self._spared: list[Claim] = []
        self._recorded = 0
        self._planned = False
        self._may_have_lost_claims = False
        self._failing = False
        self._woken, self._resting = False, threading.Event()
        self._rest = REST
        self._rung_at = -inf
        self._look_at = self._record_at = self._free_lost_at = self._compare_clocks_at = 0.0
        self._others_until = 0.0
        self._idle_since = inf

    def run(self, *, idle: float | None = None) -> int:
        """Work until `stop` is set, or until there was nothing to do for `idle` seconds; None means no end.

        Returns the number of recorded attempts.
        """
        try:
            with wakeup.waking(self._wake, resting=self._resting) if idle is None else nullcontext():
                while not self._stop.is_set():
                    with self._surviving_outages():
                        self._step()
                    if idle is not None and self._idle_for() >= idle:
                        break
                    self._collect(until=self._wake_at())
            self._finish()
        finally:
            with self._surviving_outages():
                self._slot.leave()
                planning.as_usual()
        return self._recorded

    def _wake(self) -> None:
        """Another thread has changed deliveries."""
        self._woken = True
        self._sender.stop_waiting()

    def _step(self) -> None:
        """Record pending results, then claim and send."""
        if not self._planned:
            planning.by_index()
            self._planned = True
        self._hold_and_record()
        self._free_lost_claims()
        now = monotonic()
        if now >= self._compare_clocks_at:
            self._clock.compare()
            self._compare_clocks_at = now + COMPARE_CLOCKS_EVERY
        if now >= self._free_lost_at:
            self._free_lost_at = now + FREE_LOST_EVERY
            self._lost_leases.free(self._clock.now())
        woken, self._woken = self._woken, False
        if woken:
            self._rung_at, self._look_at = now, self._others_until
            self._rest = self._shortest_rest()
        if now >= self._look_at:
            self._look(peeks=not woken or wakeup.is_heard())
        self._failing = False

    def _hold_and_record(self) -> None:
        """The heartbeat comes first: on a full disk results can't be recorded, and no other dispatcher may resend these deliveries.

        Without any it holds nothing, so that others free what it claimed and didn't send as soon as if it had died at once.
        """
        self._slot.beat(holding=self._failing and self._busy())
        self._record()

    def _free_lost_claims(self) -> None:
        """After an outage, those that this dispatcher may have made without learning of them."""
        if self._may_have_lost_claims and self._slot.id:
            claims.free_unknown(self._slot.id, known=self._unfinished())
            self._may_have_lost_claims = False

    def _busy(self) -> bool:
        return bool(self._sender.in_flight or self._results or self._spared or self._judge.doubtful)

    def _unfinished(self) -> list[Claim]:
        """Those that are in flight, in doubt, or still to be written."""
        answered = chain((result.claim for result in self._results), self._spared, self._judge.doubtful)
        return [*self._sender.in_flight, *answered]

    def _idle_for(self) -> float:
        """How long looks have found nothing, and nothing was recorded, in seconds. Negative while there is work."""
        return -1.0 if self._busy() else monotonic() - self._idle_since

    # 1 claim, 2 prepare, 3 send

    def _look(self, *, peeks: bool) -> None:
        """Peek, and claim if anything is due. Then rest, for longer and longer while there is nothing to send.

        Without a peek: somebody has said that there is something.
        """
        began = monotonic()
        room = min(self._guard.room(len(self._sender.in_flight), began), CLAIMED_AT_ONCE)
        if not (room and self._slot.id and (not peeks or self._peek.finds(self._clock.now()))):
            self._rest_longer(PEEKS_SLOW_DOWN)
        elif claimed := claims.claim(room, seen_at := self._clock.now(), self._slot.id):
            # After a full claim more are due.
            self._rest, self._idle_since = self._shortest_rest() if len(claimed) < room else REST, inf
            self._others_until = began + TURN * (self._slot.share - 1)
            self._send(claimed, seen_at)
        else:
            self._rest_longer(CLAIMS_SLOW_DOWN)
        rest = min(self._rest, self._peek.due_in(self._clock.now()))
        self._look_at = max(monotonic() + rest, self._others_until)

    def _shortest_rest(self) -> float:
        is_rung = monotonic() - self._rung_at < RUNG_FOR and not wakeup.is_heard()
        return RUNG_REST if is_rung else REST

    def _rest_longer(self, slow_down: float) -> None:
        longest = wakeup.LONGEST_REST if wakeup.is_heard() else LONGEST_REST * self._slot.share
        self._rest = min(self._rest * slow_down, longest)
        self._idle_since = min(self._idle_since, monotonic())

    def _send(self, claimed: list[Claim], seen_at: datetime) -> None:
        forbid_transaction()
        claimed_at, took = monotonic(), (self._clock.now() - seen_at).total_seconds()
        prepared = preparation.prepare(claimed)
        if monotonic() - self._slot.beaten_at > ALIVE_FOR.total_seconds():
            prepared.messages = self._still_leased(prepared.messages)
        self._sender.send(prepared.messages)
        # Deliveries of the other endpoints wait for one another.
        healthy = [each for each in claimed if each.pace not in UNHEALTHY]
        DELIVERY_STEPS.observe("seen", [(seen_at - each.due_at).total_seconds() for each in healthy])
        DELIVERY_STEPS.observe("claimed", [took] * len(claimed))
        DELIVERY_STEPS.observe("prepared", [monotonic() - claimed_at] * len(prepared.messages))
        if prepared.listened:
            listeners.hand_over(prepared.listened)
        prepared.set_aside(self._clock.now())

    def _still_leased(self, messages: list[tuple[Claim, Message]]) -> list[tuple[Claim, Message]]:
        """Leave out deliveries that others have freed because this process was paused and seemed dead."""
        self._slot.beat()
        leased = claims.still_leased([claim for claim, _ in messages])
        return [(claim, message) for claim, message in messages if claim.delivery_id in leased]

    # 4 judge, 5 record

    def _wake_at(self) -> float:
        """When to peek, claim or record next. Results that are late wait for more, and are looked at again soon."""
        if not self._results:
            return self._look_at
        return min(self._look_at, max(self._record_at, monotonic() + LOOK_AGAIN))

    def _collect(self, *, until: float) -> None:
        """Judge the attempts that are over by `until`."""
        self._resting.set()
        finished = self._sender.answers(until=until)
        self._resting.clear()
        for answered in finished:
            self._keep(self._judge.judge(answered))
        for claim, result in self._judge.settled(monotonic()):
            if result is None:
                self._spared.append(claim)
            self._keep(result)

    def _keep(self, result: AttemptResult | None) -> None:
        if result is None:
            return
        if not self._results:
            self._record_at = monotonic() + RECORD_AFTER
        self._results.append(result)

    def _record(self) -> None:
        """Write results once there are enough, they are old enough, or nothing else is in flight."""
        while self._results and self._should_record():
            batch = self._results[:RECORDED_AT_ONCE]
            self._recorded += recording.record(batch)
            now = monotonic()
            DELIVERY_STEPS.observe("recorded", [now - each.ended for each in batch if each.ended])
            del self._results[:RECORDED_AT_ONCE]  # not earlier, so that they are kept if the database fails
            self._look_at = max(monotonic(), self._others_until)  # endpoints have room again
            self._idle_since = inf
        if self._spared:
            claims.postpone(self._spared, due_again(self._clock.now()))
            PUT_OFF.labels("outage").inc(len(self._spared))
            self._spared.clear()

    def _should_record(self) -> bool:
        in_flight, late = len(self._sender.in_flight), monotonic() - self._record_at
        return (
            not in_flight
            or len(self._results) >= RECORDED_AT_ONCE
            or late >= RECORD_WITHIN - RECORD_AFTER
            or (late >= 0 and len(self._results) >= in_flight)
        )

    # Stopping

    def _finish(self) -> None:
        """Wait for attempts in flight or in doubt, and release those that take too long to other dispatchers."""
        end = monotonic() + GRACE
        while self._busy() and monotonic() < end:
            with self._surviving_outages():
                self._hold_and_record()
                self._free_lost_claims()
            if self._busy():
                self._collect(until=min(end, monotonic() + LOOK_AGAIN))
        with self._surviving_outages():
            claims.release(list(self._sender.in_flight))

    @contextmanager
    def _surviving_outages(self) -> Iterator[None]:
        """Continue after a database failure, and keep the results of attempts already made."""
        try:
            yield
        except Error as error:
            if not is_outage(error):
                raise
            log.warning("The database failed, retrying: %s", error)
            self._failing = True
            if not is_full(error):  # on a full disk PostgreSQL may refuse another session
                connection.close()
                self._planned = False
                self._may_have_lost_claims = True
            self._lost_leases.forget()
            sleep(OUTAGE_PAUSE)
