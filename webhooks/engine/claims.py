"""Step 1, claim: leases due deliveries to a dispatcher, and ends leases.

PostgreSQL claims in one statement. The portable form is for SQLite, where each transaction holds the only write lock
from its start (IMMEDIATE). Both select the same deliveries.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet

from common.db.prepared import BoundStatement, Prepared, rows_of_each
from installations.models import Installation
from webhooks.engine import claim_selection, slots
from webhooks.engine.claim_selection import EVER, LEASE, OlderLeases
from webhooks.engine.lookback import Lookback
from webhooks.enums import WAITING, DeliveryStatus, HeldReason, Pace
from webhooks.models import Delivery, Webhook

log = logging.getLogger(__name__)

CONFIRMED_AFTER: Final = 0.9  # seconds; a little less than the time between two checks
RECENT: Final = timedelta(seconds=2)  # every claim finds what became due within this time
# Seconds between two counts of the leases that began before `RECENT`, while looks are expensive.
COUNT_OLDER_EVERY: Final = 0.5
# Every check finds leases that began within this time. Those of a dispatcher that was killed are no older.
RECENTLY_LEASED: Final = timedelta(seconds=24)


@dataclass(frozen=True, slots=True)
class Claim:
    """A delivery that this dispatcher may attempt as long as the row has this `fence`.

    `attempts_made` doesn't count this attempt. `pace` is the endpoint's at the time of the claim.
    """

    delivery_id: UUID
    fence: int
    event_id: UUID
    webhook_id: UUID
    endpoint: int
    attempts_made: int
    due_at: datetime
    pace: Pace


COLUMNS: Final = ("id", "fence", "event_id", "webhook_id", "endpoint", "attempts_made", "due_at")


def claim_of(columns: Sequence[Any], pace: Pace) -> Claim:
    """The claim of a delivery, by the values of its `COLUMNS`."""
    id_, fence, event, webhook, endpoint, made, due_at = columns
    return Claim(id_, fence, event, webhook, endpoint, made, due_at, pace)


@dataclass(slots=True)
class Turn:
    """A claim's turn: `taken` says whether it takes the lock that lets one dispatcher claim at a time, and `waited` is set to
    the seconds that it waited for that lock.
    """

    taken: bool = True
    waited: float = 0.0


class Claimer:
    """Makes the claims of a process's dispatchers, which may overlap."""

    def __init__(self) -> None:
        self._lookback = Lookback()
        self._older: OlderLeases | None = None
        self._count_older_at = 0.0

    def claim(self, limit: int, now: datetime, slot: int) -> list[Claim]:
        """Like `claim`, but leave out what has been due for longer than `RECENT` while looking for it takes long."""
        if not self._lookback.is_due():
            return claim(limit, now, slot, since=now - RECENT, older=self._older_leases(now))
        turn = Turn(taken=not self._lookback.is_expensive)  # the others don't wait for a long look
        began = monotonic()
        claimed = claim(limit, now, slot, turn=turn)
        if all(each.due_at > now - RECENT for each in claimed):
            took = monotonic() - began - turn.waited
            self._lookback.found_nothing_old(took=took, rows=len(claimed))
        return claimed

    def is_anything_due(self, now: datetime) -> bool:
        """Whether `claim` might get something. Leaves out what it would leave out.

        When it isn't known what looking all the way back costs now, a claim has to find out. On SQLite a claim asks itself.
        """
        if not connection.features.has_select_for_update_skip_locked:
            return True
        if self._lookback.is_expensive:
            return self._lookback.is_due() or is_anything_due(now, now - RECENT)
        return self._lookback.last_was_expensive or is_anything_due(now)

    @property
    def expected(self) -> float:
        """How long the next claim may take, in seconds, by what it took to look all the way back."""
        return self._lookback.expected

    def _older_leases(self, now: datetime) -> OlderLeases:
        """Those that began before `RECENT`, as of the last count."""
        if self._older is None or monotonic() >= self._count_older_at:
            self._older = claim_selection.older_leases(now, now - RECENT)
            self._count_older_at = monotonic() + COUNT_OLDER_EVERY
        return self._older


_PEEK = Prepared(
    "webhooks_peek",
    """
SELECT id FROM webhooks_delivery
WHERE lease_until IS NULL AND due_at IS NOT NULL AND due_at BETWEEN %(since)s AND %(now)s
ORDER BY due_at, id LIMIT 1
""",
    since="timestamptz",
    now="timestamptz",
)


def is_anything_due(now: datetime, since: datetime = EVER) -> bool:
    """Whether a delivery has become due since then and isn't leased, on PostgreSQL. It may still be one that no claim gets,
    because its endpoint has no room.
    """
    return bool(_PEEK.rows(since=since, now=now))


def claim(
    limit: int,
    now: datetime,
    slot: int,
    *,
    since: datetime = EVER,
    older: OlderLeases | None = None,
    turn: Turn | None = None,
) -> list[Claim]:
    """Lease up to `limit` due deliveries to the dispatcher of this slot. No other one can claim them meanwhile.

    `since`: only those that became due since then, but older ones of other endpoints too if these are too few. `older`:
    leases that have been counted already.
    """
    if connection.features.has_select_for_update_skip_locked:
        parameters = claim_selection.parameters(limit, now, since, older)
        return _claim_in_one_statement(now, slot, parameters, turn or Turn())
    return _claim_portably(limit, now, slot)  # without old index entries


# Dispatchers that select at the same moment would select the same rows, and all but one of them would find these locked and
# get nothing. So they select one after another, and each sees the leases of those before it. This gives the seconds waited.
_ONE_AT_A_TIME: Final = BoundStatement("""
SELECT extract(epoch FROM clock_timestamp() - statement_timestamp())::float
FROM (SELECT pg_advisory_xact_lock(hashtext('webhooks_claim')) OFFSET 0) AS locked
""")

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


def _claim_in_one_statement(now: datetime, slot: int, parameters: dict[str, Any], turn: Turn) -> list[Claim]:
    claim = _CLAIM.call(**parameters, lease_until=now + LEASE, slot=slot)
    if turn.taken:
        [[turn.waited]], rows = rows_of_each(_ONE_AT_A_TIME, claim)
    else:
        [rows] = rows_of_each(claim)
    return [claim_of(columns, Pace(pace)) for *columns, pace in rows]


def _claim_portably(limit: int, now: datetime, slot: int) -> list[Claim]:
    due = Delivery.objects.filter(status__in=WAITING, lease_until=None, due_at__lte=now)
    if not due.exists():  # this needs no lock, and usually nothing is due
        return []
    with transaction.atomic():
        paces = {choice.delivery_id: choice.pace for choice in claim_selection.choose(limit, now)}
        chosen = Delivery.objects.filter(id__in=paces)
        chosen.update(lease_until=now + LEASE, leased_by=slot, fence=F("fence") + 1)
        rows = chosen.values_list(*COLUMNS)
        return [claim_of(row, paces[row[0]]) for row in rows]


class LostLeases:
    """Frees the leases of dead dispatchers, and leases older than `LEASE`. Shared by a process's dispatchers, which may
    overlap.

    A slot counts as dead when a second check, `CONFIRMED_AFTER` later, still finds no heartbeat. After a database
    outage all heartbeats are old, so this gives each dispatcher time to beat again.
    """

    def __init__(self) -> None:
        self._silent_since: dict[int, float] = {}  # by slot, in seconds of the monotonic clock
        self._lookback = Lookback()

    @property
    def expected(self) -> float:
        """How long the next `free` may take, in seconds."""
        return self._lookback.expected

    def free(self, now: datetime) -> int:
        """Make such deliveries claimable again. Returns how many. Call it once a second.

        The fence doesn't change, so a late result still counts until another dispatcher claims the row.
        """
        all_the_way, began = self._lookback.is_due(), monotonic()
        since = EVER if all_the_way else now + LEASE - RECENTLY_LEASED
        leased = Delivery.objects.filter(lease_until__gte=since)
        silent = ~Q(leased_by__in=slots.alive().values("id"))
        expired = Q(lease_until__lte=now) & ~Q(leased_by__in=slots.holding().values("id"))
        lost = set(leased.filter(expired | silent).values_list("leased_by", flat=True))
        if all_the_way and not lost:
            self._lookback.found_nothing_old(took=monotonic() - began)
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


def free_unknown(slot: int, *, known: Collection[UUID]) -> int:
    """Make deliveries claimable again that this slot has leased without knowing it: the database failed between their claim
    and their attempt.
    """
    leased = Delivery.objects.filter(lease_until__isnull=False, leased_by=slot)
    return _free(leased.exclude(id__in=known))


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
