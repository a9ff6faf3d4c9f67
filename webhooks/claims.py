"""Taking due deliveries, and writing down what came of them: all statements of the dispatcher that change rows.

PostgreSQL does each in one statement; the portable form is for SQLite, where a transaction holds the one write
lock from its beginning (IMMEDIATE). Both choose and write the same.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F

from webhooks import turns
from webhooks.endpoints import LEASE
from webhooks.enums import WAITING, DeliveryStatus, Pace
from webhooks.models import Attempt, Delivery, Endpoint
from webhooks.planning import Prepared

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Claim:
    """A delivery that is ours to attempt, as long as `fence` is the row's. `attempts_made` is without this one.

    `pace` is the endpoint's, as it was known when we claimed.
    """

    delivery_id: UUID
    fence: int
    event_id: UUID
    webhook_id: UUID
    endpoint: int
    attempts_made: int
    pace: Pace


@dataclass(frozen=True, slots=True)
class Result:
    """An attempt that was made, and where it leaves the delivery."""

    claim: Claim
    status: DeliveryStatus
    due_at: datetime | None
    finished_at: datetime | None
    attempted_at: datetime
    http_status: int | None
    duration_ms: int
    error_class: str
    response_excerpt: str
    pace: Pace | None = None  # what the attempt says of the endpoint


# Claiming


def claim(limit: int, now: datetime) -> list[Claim]:
    """Lease up to `limit` due deliveries, those whose turn it is. Nobody else gets them while the lease lasts."""
    if connection.features.has_select_for_update_skip_locked:
        return _claim_in_one_statement(limit, now)
    return _claim_portably(limit, now)


# Dispatchers that choose at the same moment choose the same rows, and all but one of them find them locked. So
# none of them goes by leases that it does not see yet. LATERAL has each chosen row looked up by its key, whatever
# the planner's statistics, which never know the queue as it is, make it believe.
_CLAIM = Prepared(
    "webhooks_claim",
    f"""
WITH {turns.CHOSEN}, mine AS (
    SELECT locked.id, pace
    FROM chosen CROSS JOIN LATERAL (
        SELECT id FROM webhooks_delivery AS delivery
        WHERE delivery.id = chosen.id AND status IN ('PENDING', 'RETRYING') AND lease_until IS NULL
        FOR UPDATE SKIP LOCKED
    ) AS locked
)
UPDATE webhooks_delivery AS delivery
SET lease_until = %(lease_until)s, fence = fence + 1
FROM mine WHERE delivery.id = mine.id
RETURNING
    delivery.id, delivery.fence, delivery.event_id, delivery.webhook_id, delivery.endpoint,
    delivery.attempts_made, mine.pace
""",  # noqa: S608
    **turns.PARAMETERS,
    lease_until="timestamptz",
)


def _claim_in_one_statement(limit: int, now: datetime) -> list[Claim]:
    with connection.cursor() as cursor:
        _CLAIM.execute(cursor, **turns.parameters(limit, now), lease_until=now + LEASE)
        return [
            Claim(id_, fence, event, webhook, endpoint, made, Pace(pace))
            for id_, fence, event, webhook, endpoint, made, pace in cursor.fetchall()
        ]


def _claim_portably(limit: int, now: datetime) -> list[Claim]:
    due = Delivery.objects.filter(status__in=WAITING, lease_until=None, due_at__lte=now)
    if not due.exists():  # looking takes no lock, and mostly nothing is due
        return []
    with transaction.atomic():
        paces = {turn.delivery_id: turn.pace for turn in turns.choose(limit, now)}
        chosen = Delivery.objects.filter(id__in=paces)
        chosen.update(lease_until=now + LEASE, fence=F("fence") + 1)
        rows = chosen.values_list("id", "fence", "event_id", "webhook_id", "endpoint", "attempts_made")
        return [
            Claim(id_, fence, event, webhook, endpoint, made, paces[id_])
            for id_, fence, event, webhook, endpoint, made in rows
        ]


def free_expired(now: datetime) -> int:
    """Make deliveries claimable again whose dispatcher has not been heard of in time. Returns how many.

    The fence stays: as long as nobody has claimed the row anew, a late result is still welcome.
    """
    expired = Delivery.objects.filter(status__in=WAITING, lease_until__lte=now)
    if not expired.exists():
        return 0
    skip = connection.features.has_select_for_update_skip_locked
    with transaction.atomic():
        ids = expired.select_for_update(skip_locked=skip).values("id")
        freed = Delivery.objects.filter(id__in=ids).update(lease_until=None)
    if freed:
        log.warning("%s deliveries were claimed and not heard of; they will be sent again.", freed)
    return freed


# Finishing


def record(results: Sequence[Result]) -> int:
    """Write the attempts and move their deliveries. Returns how many counted.

    A result whose claim has been overtaken changes nothing; it is only logged.
    """
    if not results:
        return 0
    if connection.features.has_select_for_update_skip_locked:
        counted = _record_in_one_statement(results)
    else:
        counted = _record_portably(results)
    for late in (each for each in results if each.claim.delivery_id not in counted):
        log.warning(
            "The result of delivery %s came too late and was dropped: HTTP status %s, %s",
            late.claim.delivery_id,
            late.http_status,
            late.error_class or "success",
        )
    return len(counted)


# The rows are locked in the order of their ids, as `cancel_waiting` does, and LATERAL looks each up by its key, as
# the claim does.
_COLUMNS = {
    "id": "uuid", "fence": "bigint", "status": "text", "due_at": "timestamptz", "finished_at": "timestamptz",
    "attempted_at": "timestamptz", "http_status": "int", "duration_ms": "int", "error_class": "text",
    "response_excerpt": "text",
}  # fmt: skip
_RECORD = Prepared(
    "webhooks_record",
    f"""
WITH result AS (
    SELECT * FROM unnest({", ".join(f"%({column})s" for column in _COLUMNS)}) AS row ({", ".join(_COLUMNS)})
), held AS (
    SELECT locked.id
    FROM (SELECT id, fence FROM result ORDER BY id) AS due CROSS JOIN LATERAL (
        SELECT id FROM webhooks_delivery AS delivery
        WHERE delivery.id = due.id AND delivery.fence = due.fence AND status IN ('PENDING', 'RETRYING')
        FOR UPDATE
    ) AS locked
), moved AS (
    UPDATE webhooks_delivery AS delivery
    SET status = result.status, due_at = result.due_at, finished_at = result.finished_at,
        lease_until = NULL, fence = delivery.fence + 1,
        attempts_made = delivery.attempts_made + 1, attempt_count = delivery.attempt_count + 1
    FROM result JOIN held USING (id) WHERE delivery.id = result.id
    RETURNING delivery.id, delivery.attempt_count
), learnt AS (
    INSERT INTO webhooks_endpoint (id, pace)
    SELECT id, pace FROM unnest(%(endpoints)s, %(paces)s) AS news (id, pace)
    WHERE NOT EXISTS (SELECT FROM webhooks_endpoint AS known WHERE known.id = news.id AND known.pace = news.pace)
    ORDER BY id
    ON CONFLICT (id) DO UPDATE SET pace = EXCLUDED.pace
)
INSERT INTO webhooks_attempt
    (delivery_id, number, attempted_at, http_status, duration_ms, error_class, response_excerpt)
SELECT id, attempt_count, attempted_at, http_status, duration_ms, error_class, response_excerpt
FROM moved JOIN result USING (id)
RETURNING delivery_id
""",  # noqa: S608
    **{column: f"{type_}[]" for column, type_ in _COLUMNS.items()},
    endpoints="bigint[]",
    paces="text[]",
)


def _record_in_one_statement(results: Sequence[Result]) -> set[UUID]:
    claims = [each.claim for each in results]
    columns: dict[str, list[object]] = {
        column: [getattr(each, column) for each in results]
        for column in _COLUMNS
        if column not in ("id", "fence")
    }
    news = paces_learnt(results)
    with connection.cursor() as cursor:
        _RECORD.execute(
            cursor,
            id=[claim.delivery_id for claim in claims],
            fence=[claim.fence for claim in claims],
            **columns,
            endpoints=list(news.keys()),
            paces=list(news.values()),
        )
        return {row[0] for row in cursor.fetchall()}


@transaction.atomic
def _record_portably(results: Sequence[Result]) -> set[UUID]:
    held = _held([each.claim for each in results])
    counted = [each for each in results if each.claim.delivery_id in held]
    for each in counted:
        delivery = held[each.claim.delivery_id]
        delivery.status, delivery.due_at = each.status, each.due_at
        delivery.finished_at, delivery.lease_until = each.finished_at, None
        delivery.fence += 1
        delivery.attempts_made += 1
        delivery.attempt_count += 1
    Delivery.objects.bulk_update(
        held.values(),
        ["status", "due_at", "finished_at", "lease_until", "fence", "attempts_made", "attempt_count"],
    )
    Attempt.objects.bulk_create(
        Attempt(
            delivery_id=each.claim.delivery_id,
            number=held[each.claim.delivery_id].attempt_count,
            attempted_at=each.attempted_at,
            http_status=each.http_status,
            duration_ms=each.duration_ms,
            error_class=each.error_class,
            response_excerpt=each.response_excerpt,
        )
        for each in counted
    )
    Endpoint.objects.bulk_create(
        (Endpoint(id=endpoint, pace=pace) for endpoint, pace in paces_learnt(results).items()),
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["pace"],
    )
    return set(held)


def paces_learnt(results: Sequence[Result]) -> dict[int, Pace]:
    """What the last attempt that says something of an endpoint says, by endpoint."""
    return {each.claim.endpoint: each.pace for each in results if each.pace is not None}


# Giving up a claim without an attempt


@transaction.atomic
def cancel(claims: Sequence[Claim], now: datetime) -> None:
    """What may not be sent any more will never be."""
    Delivery.objects.filter(id__in=_held(claims)).update(
        status=DeliveryStatus.CANCELLED,
        due_at=None,
        lease_until=None,
        fence=F("fence") + 1,
        finished_at=now,
    )


@transaction.atomic
def hold(claims: Sequence[Claim]) -> None:
    """What was recorded while its webhook was being disabled is kept for it like the rest."""
    Delivery.objects.filter(id__in=_held(claims)).update(
        status=DeliveryStatus.HELD, due_at=None, lease_until=None, fence=F("fence") + 1
    )


@transaction.atomic
def release(claims: Sequence[Claim]) -> None:
    """Leave to another dispatcher what we can't finish: it is due as before."""
    Delivery.objects.filter(id__in=_held(claims)).update(lease_until=None, fence=F("fence") + 1)


@transaction.atomic
def postpone(claims: Sequence[Claim], due_at: datetime) -> None:
    """Try again then what could not be tried. Nothing is counted."""
    Delivery.objects.filter(id__in=_held(claims)).update(
        due_at=due_at, lease_until=None, fence=F("fence") + 1
    )


def _held(claims: Sequence[Claim]) -> dict[UUID, Delivery]:
    """The deliveries whose claim nobody has overtaken, locked."""
    fences = {each.delivery_id: each.fence for each in claims}
    rows = Delivery.objects.filter(id__in=fences, status__in=WAITING).order_by("id").select_for_update()
    return {row.id: row for row in rows if row.fence == fences[row.id]}
