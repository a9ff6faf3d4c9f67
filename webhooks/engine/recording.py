"""Step 5, record: writes attempts and updates their deliveries, in batches.

On PostgreSQL dispatchers do it in one statement. The portable form is for SQLite and for listeners. Both write the same.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import orjson
from django.db import connection, transaction

from common.db.prepared import Prepared
from common.observability.objectives import FIRST_ATTEMPTS
from webhooks.engine.claims import Claim, held
from webhooks.enums import DeliveryStatus, Pace
from webhooks.models import Attempt, Delivery, Endpoint

log = logging.getLogger(__name__)

IN_TIME: Final = timedelta(seconds=FIRST_ATTEMPTS.within)
UNHEALTHY: Final = (Pace.SLOW, Pace.SILENT)  # endpoints whose deliveries wait for one another


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """An attempt, and the delivery's state after it."""

    claim: Claim
    status: DeliveryStatus
    due_at: datetime | None
    finished_at: datetime | None
    attempted_at: datetime
    http_status: int | None
    duration_ms: int
    error_class: str
    response_excerpt: str
    pace: Pace | None = None  # the endpoint's new pace, if the attempt changes it
    by_listener: bool = False
    # Of a test store: seconds until the next attempt, counted from when this one was due. An advance of the store's clock moves
    # that time while the attempt is under way, so only the row knows it.
    wait: float | None = None
    ended: float | None = None  # by the monotonic clock; not of a listener's attempt


def record(results: Sequence[AttemptResult], *, plainly: bool = False) -> int:
    """Write the attempts and update their deliveries. Returns how many counted.

    A result whose claim is no longer valid is only logged. `plainly`: without a prepared statement, which would stay in
    the session of a web process.
    """
    if not results:
        return 0
    latest = _latest(results)
    if not plainly and connection.features.has_select_for_update_skip_locked:
        counted = _record_in_one_statement(list(latest.values()))
    else:
        counted = _record_portably(list(latest.values()))
    for each in results:
        id_ = each.claim.delivery_id
        if id_ not in counted or each is not latest[id_]:
            log.warning(
                "The result of delivery %s came too late and was dropped: HTTP status %s, %s",
                id_,
                each.http_status,
                each.error_class or "success",
            )
    _count_first_attempts([each for id_, each in latest.items() if id_ in counted])
    return len(counted)


def _count_first_attempts(results: Sequence[AttemptResult]) -> None:
    """For the service's objectives."""
    late = [each.attempted_at - each.claim.due_at > IN_TIME for each in results if _is_measured(each)]
    if late:
        FIRST_ATTEMPTS.count(good=late.count(False), bad=late.count(True))


def _is_measured(result: AttemptResult) -> bool:
    claim = result.claim
    is_ours = not (result.by_listener or claim.by_store_clock)
    return is_ours and claim.attempts_made == 0 and claim.pace not in UNHEALTHY


def _latest(results: Sequence[AttemptResult]) -> dict[UUID, AttemptResult]:
    """One result of each delivery, that of its last claim. A batch has two if the delivery was cancelled or freed during
    an attempt and then claimed again.
    """
    found: dict[UUID, AttemptResult] = {}
    for each in results:
        known = found.get(each.claim.delivery_id)
        if known is None or known.claim.fence < each.claim.fence:
            found[each.claim.delivery_id] = each
    return found


# The values go there as one JSON text: psycopg takes six times as long for an array of each column. The rows are locked in
# the order of their ids, as in `cancel_waiting`, and LATERAL looks each up by its key, as in the claim.
_COLUMNS = {
    "id": "uuid", "fence": "bigint", "status": "text", "due_at": "timestamptz", "finished_at": "timestamptz",
    "attempted_at": "timestamptz", "http_status": "int", "duration_ms": "int", "error_class": "text",
    "response_excerpt": "text", "by_listener": "boolean", "wait": "double precision",
}  # fmt: skip
_OF_RESULTS = [column for column in _COLUMNS if column not in ("id", "fence")]
_RECORD = Prepared(
    "webhooks_record",
    f"""
WITH result AS (
    SELECT * FROM json_to_recordset(%(results)s) AS row ({", ".join(f"{each} {_COLUMNS[each]}" for each in _COLUMNS)})
), held AS (
    SELECT locked.id, locked.due_at AS was_due
    FROM (SELECT id, fence FROM result ORDER BY id) AS due CROSS JOIN LATERAL (
        SELECT id, due_at FROM webhooks_delivery AS delivery
        WHERE delivery.id = due.id AND delivery.fence = due.fence AND status IN ('PENDING', 'RETRYING')
        FOR UPDATE
    ) AS locked
), moved AS (
    UPDATE webhooks_delivery AS delivery
    SET status = result.status, finished_at = result.finished_at,
        due_at = CASE
            WHEN result.due_at IS NULL OR result.wait IS NULL THEN result.due_at
            ELSE delivery.due_at + result.wait * interval '1 second'
        END,
        lease_until = NULL, leased_by_id = NULL, fence = delivery.fence + 1,
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
    (delivery_id, number, attempted_at, http_status, duration_ms, error_class, response_excerpt, by_listener, due_at)
SELECT id, attempt_count, attempted_at, http_status, duration_ms, error_class, response_excerpt, by_listener,
    CASE WHEN wait IS NOT NULL THEN was_due END
FROM moved JOIN result USING (id) JOIN held USING (id)
RETURNING delivery_id
""",  # noqa: S608
    results="json",
    endpoints="bigint[]",
    paces="text[]",
)


def _record_in_one_statement(results: Sequence[AttemptResult]) -> set[UUID]:
    rows = [
        {"id": each.claim.delivery_id, "fence": each.claim.fence}
        | {column: getattr(each, column) for column in _OF_RESULTS}
        for each in results
    ]
    news = paces_learnt(results)
    recorded = _RECORD.rows(
        results=orjson.dumps(rows).decode(), endpoints=list(news.keys()), paces=list(news.values())
    )
    return {row[0] for row in recorded}


@transaction.atomic
def _record_portably(results: Sequence[AttemptResult]) -> set[UUID]:
    deliveries = held([each.claim for each in results])
    counted = [each for each in results if each.claim.delivery_id in deliveries]
    was_due: dict[UUID, datetime | None] = {}
    for each in counted:
        delivery = deliveries[each.claim.delivery_id]
        was_due[delivery.pk] = None if each.wait is None else delivery.due_at
        delivery.status, delivery.due_at = each.status, _due_again(each, delivery.due_at)
        delivery.finished_at, delivery.lease_until, delivery.leased_by_id = each.finished_at, None, None
        delivery.fence += 1
        delivery.attempts_made += 1
        delivery.attempt_count += 1
    Delivery.objects.bulk_update(
        deliveries.values(),
        [
            "status",
            "due_at",
            "finished_at",
            "lease_until",
            "leased_by",
            "fence",
            "attempts_made",
            "attempt_count",
        ],
    )
    Attempt.objects.bulk_create(
        Attempt(
            delivery_id=each.claim.delivery_id,
            number=deliveries[each.claim.delivery_id].attempt_count,
            attempted_at=each.attempted_at,
            http_status=each.http_status,
            duration_ms=each.duration_ms,
            error_class=each.error_class,
            response_excerpt=each.response_excerpt,
            by_listener=each.by_listener,
            due_at=was_due[each.claim.delivery_id],
        )
        for each in counted
    )
    Endpoint.objects.bulk_create(
        (Endpoint(id=endpoint, pace=pace) for endpoint, pace in paces_learnt(results).items()),
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["pace"],
    )
    return set(deliveries)


def _due_again(result: AttemptResult, was_due: datetime | None) -> datetime | None:
    if result.due_at is None or result.wait is None or was_due is None:
        return result.due_at
    return was_due + timedelta(seconds=result.wait)


def paces_learnt(results: Sequence[AttemptResult]) -> dict[int, Pace]:
    """The new pace of each endpoint, from the last attempt that determined one."""
    return {each.claim.endpoint: each.pace for each in results if each.pace is not None}
