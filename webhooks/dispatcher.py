"""Sends what is due.

One thread does all SQL, in batches; the transport's thread does all HTTP, with hundreds of attempts in flight, so
that a slow endpoint costs no thread. A claim never takes more than can be sent at once, and no transaction is open
while anything is sent. Whatever dies when: a delivery that was claimed and not recorded is sent again when its
lease runs out, under the same id.
"""

import logging
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import Final
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection
from django.db.models import TextField
from django.db.models.functions import Cast
from django.utils import timezone

from common.fields import decrypt
from common.transactions import forbid_transaction
from webhooks import claims, endpoints, message, retry, transport
from webhooks.awake import Place
from webhooks.claims import Claim, Result
from webhooks.enums import DeliveryStatus
from webhooks.models import Event, Webhook
from webhooks.queries import destination, may_receive, must_wait
from webhooks.transport import Exchange

log = logging.getLogger(__name__)

IN_FLIGHT: Final = 512  # attempts at once
CLAIMED_AT_ONCE: Final = 128
RECORDED_AT_ONCE: Final = 128
# Times in seconds.
POLL: Final = 0.01  # between looks for work while there is some
IDLE_POLL: Final = 0.05  # and at most while there is none
RECORD_WITHIN: Final = 0.025
FREE_EXPIRED_EVERY: Final = 1.0
GRACE: Final = 12.0  # for what is in flight when we stop: a little over an attempt's deadline
OUTAGE_PAUSE: Final = 1.0


@dataclass(frozen=True, slots=True)
class Answered:
    """An attempt that is over."""

    claim: Claim
    attempted_at: datetime
    ended_at: datetime
    exchange: Future[Exchange]


class Dispatcher:
    """Claims, sends and records until told to stop. Not to be shared between threads."""

    def __init__(self, *, place: Place | None = None, stop: threading.Event | None = None) -> None:
        self._place = place
        self._stop = stop or threading.Event()
        self._in_flight: dict[UUID, Claim] = {}
        self._answered: SimpleQueue[Answered] = SimpleQueue()
        self._results: list[Result] = []
        self._recorded = 0
        self._poll = POLL
        self._claim_at = self._record_at = self._free_expired_at = 0.0
        self._worked_at = self._looked_in_vain_at = 0.0

    def run(self, *, idle: float | None = None, limit: float | None = None) -> int:
        """Work until there was nothing to do for `idle` seconds, `limit` seconds are over, or `stop` is set.

        None means without end. Returns the number of attempts that were recorded.
        """
        self._serve(idle=idle, limit=limit)
        if self._place:
            self._place.leave()
            if not self._stop.is_set():
                # Whoever committed just now saw us awake and gave no hint.
                with self._surviving_outages():
                    self._send_due()
        self._finish()
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
        self._record()
        now = monotonic()
        if now >= self._free_expired_at:
            self._free_expired_at = now + FREE_EXPIRED_EVERY
            claims.free_expired(timezone.now())
        if now >= self._claim_at:
            self._send_due()

    def _busy(self) -> bool:
        return bool(self._in_flight or self._results)

    def _idle_for(self) -> float:
        """For how long there has been nothing to do, as of the last look; negative while there is something."""
        return -1.0 if self._busy() else self._looked_in_vain_at - self._worked_at

    # Sending

    def _send_due(self) -> None:
        """Claim and send what there is room for."""
        room = min(IN_FLIGHT - len(self._in_flight), CLAIMED_AT_ONCE)
        claimed = claims.claim(room, timezone.now()) if room else []
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
        webhooks = _webhooks({claim.webhook_id for claim in claimed})
        events = Event.objects.in_bulk({claim.event_id for claim in claimed})
        unwanted, kept = [], []
        for claim in claimed:
            webhook, event = webhooks.get(claim.webhook_id), events.get(claim.event_id)
            if webhook is None or event is None:
                continue  # deleted with its business since we claimed it, and the delivery too
            try:
                if may_receive(webhook, event.type):
                    self._attempt(claim, webhook, event)
                elif must_wait(webhook):
                    kept.append(claim)
                else:
                    unwanted.append(claim)
            except Exception:
                # One that can't be sent must not hold up the others. It comes again with the end of its lease.
                log.exception("Delivery %s can't be sent as things stand.", claim.delivery_id)
        if unwanted:
            claims.cancel(unwanted, timezone.now())
        if kept:
            claims.hold(kept)

    def _attempt(self, claim: Claim, webhook: Webhook, event: Event) -> None:
        now = timezone.now()
        request = message.compose(
            event=event,
            delivery_id=claim.delivery_id,
            webhook_id=webhook.id,
            url=destination(webhook),
            secret=decrypt(webhook.sealed_secret),  # type: ignore[attr-defined]
            now=now,
        )
        exchange = transport.submit(request.url, headers=request.headers, body=request.body)
        self._in_flight[claim.delivery_id] = claim
        exchange.add_done_callback(partial(self._on_answer, claim, now))

    def _on_answer(self, claim: Claim, attempted_at: datetime, exchange: Future[Exchange]) -> None:
        """Runs in the transport's thread."""
        self._answered.put(Answered(claim, attempted_at, timezone.now(), exchange))

    # Recording

    def _collect(self, *, until: float) -> None:
        """Take in the answers that are there, waiting for a first one until then."""
        try:
            self._take_in(self._answered.get(timeout=max(0.0, until - monotonic())))
            while True:
                self._take_in(self._answered.get_nowait())
        except Empty:
            return

    def _take_in(self, answered: Answered) -> None:
        self._in_flight.pop(answered.claim.delivery_id, None)
        try:
            result = outcome(answered)
        except Exception:
            log.exception("Delivery %s was lost on the way.", answered.claim.delivery_id)
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
            self._worked_at = monotonic()

    # Stopping

    def _finish(self) -> None:
        """Take in what is in flight, and leave to others what takes too long."""
        end = monotonic() + GRACE
        while self._busy() and monotonic() < end:
            with self._surviving_outages():
                self._record()
            if self._busy():
                self._collect(until=min(end, self._record_at if self._results else end))
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
            sleep(OUTAGE_PAUSE)


def outcome(answered: Answered) -> Result:
    """Where an attempt leaves its delivery (interface, "Retry policy")."""
    claim, exchange = answered.claim, answered.exchange.result()
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
        attempted_at=answered.attempted_at,
        http_status=exchange.status,
        duration_ms=exchange.duration_ms,
        error_class=exchange.error_class or "",
        response_excerpt=message.excerpt(exchange.body),
        pace=endpoints.pace_after(exchange),
    )


def _webhooks(ids: set[UUID]) -> dict[UUID, Webhook]:
    """The webhooks as they are now, with what `may_receive` reads.

    Their secrets come sealed, so that one that can't be decrypted does not keep the others from being read.
    """
    found = (
        Webhook.objects.select_related("installation__app__approved_version", "installation__business")
        .defer("secret", "installation__webhook_secret", "installation__settings")
        .annotate(sealed_secret=Cast("secret", TextField()))
        .filter(id__in=ids)
    )
    return {webhook.id: webhook for webhook in found}
