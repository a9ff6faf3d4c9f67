"""Step 1, claim: leases due deliveries to a dispatcher, and ends leases.

PostgreSQL claims in one statement. On SQLite each transaction holds the only write lock from its start (IMMEDIATE).
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf
from time import monotonic
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from common.db.prepared import BoundStatement, Prepared, rows_of_each
from installations.models import Installation
from webhooks.engine import claim_selection, slots
from webhooks.engine.claim_selection import LEASE
from webhooks.enums import WAITING, DeliveryStatus, HeldReason, Pace
from webhooks.models import Delivery, Endpoint, Webhook

log = logging.getLogger(__name__)

CONFIRMED_AFTER: Final = 0.9  # seconds; a little less than the time between two checks


@dataclass(frozen=True, slots=True)
class Claim:
    """A delivery that this dispatcher may attempt as long as the row has this `fence`.

    `attempts_made` doesn't count this attempt. `pace` is the endpoint's at the time of the claim. `by_store_clock`: of a test
    store, whose clock an author moves. Preparing it finds that out.
    """

    delivery_id: UUID
    fence: int
    event_id: UUID
    webhook_id: UUID
    endpoint: int
    attempts_made: int
    due_at: datetime
    pace: Pace
    by_store_clock: bool = False


COLUMNS: Final = ("id", "fence", "event_id", "webhook_id", "endpoint", "attempts_made", "due_at")


def claim_of(columns: Sequence[Any], pace: Pace) -> Claim:
    """The claim of a delivery, by the values of its `COLUMNS`."""
    id_, fence, event, webhook, endpoint, made, due_at = columns
    return Claim(id_, fence, event, webhook, endpoint, made, due_at, pace)


_PEEK = Prepared(
    "webhooks_peek",
    """
SELECT id FROM webhooks_delivery
WHERE lease_until IS NULL AND due_at IS NOT NULL AND due_at <= %(now)s
ORDER BY due_at, id LIMIT 1
""",
    now="timestamptz",
)


class Peek:
    """Looks whether a delivery is due and not leased. It may still be one that no claim gets, because its endpoint has no room.

    On SQLite, rows are read only after something was written since the last look. So an idle demo asks for a number, not for rows.
    """

    def __init__(self) -> None:
        self._written: tuple[int, int] | None = None
        self._next_due: datetime | None = None

    def finds(self, now: datetime) -> bool:
        if connection.features.has_select_for_update_skip_locked:
            return bool(_PEEK.rows(now=now))
        written = _writes() if connection.vendor == "sqlite" else None
        if written is None or written != self._written:
            waiting = Delivery.objects.filter(status__in=WAITING, lease_until=None, due_at__isnull=False)
            self._next_due = waiting.order_by("due_at").values_list("due_at", flat=True).first()
            self._written = written
        return self._next_due is not None and self._next_due <= now

    def due_in(self, now: datetime) -> float:
        """Seconds until what is due next, if the last look learned of it."""
        if self._next_due is None or self._next_due <= now:
            return inf
        return (self._next_due - now).total_seconds()


def _writes() -> tuple[int, int]:
    """Numbers that change when another session of SQLite has written, or this one."""
    connection.ensure_connection()
    session = connection.connection
    (by_others,) = session.execute("PRAGMA data_version").fetchone()
    return by_others, session.total_changes


def claim(limit: int, now: datetime, slot: int) -> list[Claim]:
    """Lease up to `limit` due deliveries to the dispatcher of this slot. No other one can claim them meanwhile."""
    if connection.features.has_select_for_update_skip_locked:
        return _claim_in_one_statement(limit, now, slot)
    return _claim_plainly(limit, now, slot)


# Dispatchers that select at the same moment would select the same rows, and all but one of them would find these locked and
# get nothing. So they select one after another, and each sees the leases of those before it.
_ONE_AT_A_TIME: Final = BoundStatement("SELECT pg_advisory_xact_lock(hashtext('webhooks_claim'))")

# LATERAL makes PostgreSQL look up each row by its key, even when its statistics about the queue are wrong, as they usually
# are. Its time is checked again there, since it may have been sent meanwhile; without COALESCE, PostgreSQL took three times as
# much processor time for each delivery of a backlog. A claim doesn't wait until it is on disk: if PostgreSQL loses it, the
# deliveries in flight are resent. Their results do wait, and take the claim along.
_CLAIM = Prepared(
    "webhooks_claim",
    f"""
WITH {claim_selection.CHOSEN}, mine AS (
    SELECT locked.id, pace
    FROM chosen CROSS JOIN LATERAL (
        SELECT id FROM webhooks_delivery AS delivery
        WHERE delivery.id = chosen.id AND status IN ('PENDING', 'RETRYING') AND lease_until IS NULL
            AND COALESCE(due_at, 'infinity') <= %(now)s
        FOR UPDATE SKIP LOCKED
    ) AS locked
)
UPDATE webhooks_delivery AS delivery
SET lease_until = %(lease_until)s, leased_by_id = %(slot)s, fence = fence + 1
FROM mine
WHERE delivery.id = mine.id AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'
RETURNING
    delivery.id, delivery.fence, delivery.event_id, delivery.webhook_id, delivery.endpoint,
    delivery.attempts_made, delivery.due_at, mine.pace
""",  # noqa: S608
    **claim_selection.PARAMETERS,
    lease_until="timestamptz",
    slot="bigint",
)


def _claim_in_one_statement(limit: int, now: datetime, slot: int) -> list[Claim]:
    parameters = claim_selection.parameters(limit, now)
    claim = _CLAIM.call(**parameters, lease_until=now + LEASE, slot=slot)
    _, rows = rows_of_each(_ONE_AT_A_TIME, claim)
    return [claim_of(columns, Pace(pace)) for *columns, pace in rows]


@transaction.atomic
def _claim_plainly(limit: int, now: datetime, slot: int) -> list[Claim]:
    chosen = claim_selection.choose_plainly(limit, now)
    chosen.update(lease_until=now + LEASE, leased_by=slot, fence=F("fence") + 1)
    pace = Endpoint.objects.filter(id=OuterRef("endpoint")).values("pace")
    return [
        claim_of(columns, Pace(known or ""))
        for *columns, known in chosen.values_list(*COLUMNS, Subquery(pace))
    ]


class LostLeases:
    """Frees the leases of dead dispatchers, and leases older than `LEASE`.

    A slot counts as dead when a second check, `CONFIRMED_AFTER` later, still finds no heartbeat. After a database
    outage all heartbeats are old, so this gives each dispatcher time to beat again.
    """

    def __init__(self) -> None:
        self._silent_since: dict[int, float] = {}  # by slot, in seconds of the monotonic clock

    def free(self, now: datetime) -> int:
        """Make such deliveries claimable again. Returns how many. Call it once a second.

        The fence doesn't change, so a late result still counts until another dispatcher claims the row.
        """
        leased = Delivery.objects.filter(lease_until__isnull=False)
        if not leased.exists():
            self.forget()
            return 0
        silent = ~Q(leased_by__in=slots.alive().values("id"))
        expired = Q(lease_until__lte=now) & ~Q(leased_by__in=slots.holding().values("id"))
        lost = set(leased.filter(expired | silent).values_list("leased_by", flat=True))
        dead = self._dead(lost)
        if not lost:
            return 0
        freed = _free(leased.filter(expired | (silent & Q(leased_by__in=dead))))
        if freed:
            log.warning("%s deliveries lost their dispatcher. They will be resent.", freed)
        return freed

    def forget(self) -> None:
        """Start over, because this dispatcher itself was cut off from the database."""
        self._silent_since = {}

    def _dead(self, silent: set[int]) -> list[int]:
        looked_at = monotonic()
        self._silent_since = {slot: self._silent_since.get(slot, looked_at) for slot in silent}
        return [slot for slot, since in self._silent_since.items() if looked_at - since >= CONFIRMED_AFTER]


@transaction.atomic
def _free(lost: QuerySet[Delivery]) -> int:
    skip = connection.features.has_select_for_update_skip_locked
    ids = lost.select_for_update(skip_locked=skip).values("id")
    return Delivery.objects.filter(id__in=ids).update(lease_until=None, leased_by=None)


def free_unknown(slot: int, *, known: Collection[Claim]) -> int:
    """Make deliveries claimable again that this slot has leased without knowing it: the database failed between their claim
    and their attempt. An earlier claim of the same delivery, which may be in flight, is another one.
    """
    leased = Delivery.objects.filter(lease_until__isnull=False, leased_by=slot)
    fences = {(claim.delivery_id, claim.fence) for claim in known}
    unknown = [row[0] for row in leased.values_list("id", "fence") if row not in fences]
    return _free(leased.filter(id__in=unknown)) if unknown else 0


@transaction.atomic
def still_leased(claims: Sequence[Claim]) -> set[UUID]:
    """The deliveries of these claims whose lease has not been freed."""
    return {row.id for row in held(claims).values() if row.lease_until is not None}


# Ending a claim without an attempt


def cancel(claims: Sequence[Claim], now: datetime) -> None:
    """Cancel deliveries that may no longer be sent."""
    _end(claims, status=DeliveryStatus.CANCELLED, due_at=None, finished_at=now)


def hold(claims: Sequence[Claim]) -> None:
    """Hold deliveries whose webhook was disabled after they were written."""
    _end(claims, status=DeliveryStatus.HELD, held_reason=HeldReason.DISABLED, due_at=None)


@transaction.atomic
def hold_while_paused(claims: Sequence[Claim]) -> None:
    """Hold deliveries of paused apps until they are resumed.

    The installations are locked first, so a concurrent resume either comes before this, and the deliveries stay due,
    or after it, and sends them.
    """
    webhooks = Webhook.objects.filter(id__in={claim.webhook_id for claim in claims})
    installations = Installation.objects.filter(pk__in=webhooks.values("installation")).order_by("pk")
    locked = installations.select_for_update(no_key=True).values_list("pk", "paused_at")
    paused = {pk for pk, paused_at in locked if paused_at is not None}
    waiting = set(webhooks.filter(installation__in=paused).values_list("pk", flat=True))
    _end(
        [claim for claim in claims if claim.webhook_id in waiting],
        status=DeliveryStatus.HELD,
        held_reason=HeldReason.PAUSED,
        due_at=None,
    )
    release([claim for claim in claims if claim.webhook_id not in waiting])


def release(claims: Sequence[Claim]) -> None:
    """Give deliveries back unchanged, because this dispatcher can't finish them."""
    _end(claims)


def postpone(claims: Sequence[Claim], due_at: datetime) -> None:
    """Set a later due time without counting an attempt."""
    _end(claims, due_at=due_at)


@transaction.atomic
def _end(claims: Sequence[Claim], **changes: object) -> None:
    Delivery.objects.filter(id__in=held(claims)).update(
        lease_until=None, leased_by=None, fence=F("fence") + 1, **changes
    )


def held(claims: Sequence[Claim]) -> dict[UUID, Delivery]:
    """The deliveries of these claims that have not been claimed or changed since, locked."""
    fences: dict[UUID, int] = {}
    for each in claims:  # a delivery may have two
        fences[each.delivery_id] = max(each.fence, fences.get(each.delivery_id, 0))
    rows = Delivery.objects.filter(id__in=fences, status__in=WAITING).order_by("id").select_for_update()
    return {row.id: row for row in rows if row.fence == fences[row.id]}
