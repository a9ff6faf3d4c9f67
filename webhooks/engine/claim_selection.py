"""Selects the due deliveries of a claim (docs/decisions/0010).

1. Count the leases of each endpoint. Its room is how many more attempts it may have at once.
2. Rank the earliest due deliveries by endpoint, and select those that fit into the room of their endpoint, and into that of their host
   if the endpoint is not proven.
3. If these are too few, visit all endpoints with waiting deliveries, and select the first of each, then the second.

The cost depends on the number of leases and endpoints, not on how many deliveries are waiting or have been sent. SQLite, which only
the demo uses, has a plain queue.
"""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import QuerySet

from webhooks.endpoints import HOST_SHIFT, LOWEST, SERVER_SHIFT
from webhooks.engine import planning
from webhooks.enums import WAITING, Pace
from webhooks.models import Delivery, Endpoint

LEASE: Final = timedelta(seconds=60)  # the longest; six times the deadline of an attempt
# Older leases don't count: an attempt ends within 10 s, so its dispatcher hangs or is dead.
COUNTED: Final = timedelta(seconds=12)
LOOKED_AT: Final = 256  # the earliest due deliveries that step 2 ranks

SLOW: Final = timedelta(milliseconds=500)  # an attempt that takes longer is not quick
# The limit for an endpoint.
LEASES: Final = {Pace.UNKNOWN: 8, Pace.FAST: 16, Pace.PROVEN: 16, Pace.SLOW: 4, Pace.SILENT: 1}
# While little else is leased, a fast endpoint may hold more: up to `MOST_LEASES`, as long as all leases together stay below
# `SPARE_LEASES`. A server that handles one request after another still answers the last of so many within the deadline.
FAST: Final = timedelta(milliseconds=100)
MOST_LEASES: Final = 64
SPARE_LEASES: Final = 128
# Endpoints that quickly answered with success. All others of one host name have this many attempts at once together, however many
# URLs and apps they are of: the host has not shown yet that it wants what it gets (docs/decisions/0068).
PROVEN: Final = (Pace.FAST, Pace.PROVEN)
HOST_ATTEMPTS: Final = 16
# A dead host may have thousands of URLs that were proven, each with its own room. So the endpoints of an app on one host get nothing
# more while they hold this many leases that are older than `SLOW` or belong to endpoints that are not proven.
HOST_LEASES: Final = 384
PLAIN_LEASES: Final = 8  # for an endpoint on SQLite

_PACES = " ".join(
    f"WHEN '{pace}' THEN {leases}" for pace, leases in (LEASES | {Pace.FAST: "spare.leases"}).items() if pace
)

# The room of an endpoint, from the joins below: its leases, its pace, and its host if that is busy or crowded. A lease older than `SLOW`
# is normal for an endpoint that is known to be slow; any other may be hanging, and gets one.
_UNPROVEN = "COALESCE(known.pace, '') NOT IN ('{}', '{}')".format(*PROVEN)
_ROOM = f"""
    CASE
        WHEN crowded.server IS NOT NULL THEN 0
        WHEN {_UNPROVEN} AND busy.held >= {HOST_ATTEMPTS} THEN 0
        WHEN leased.old > 0 AND COALESCE(known.pace, '') <> 'SLOW' THEN 1 - leased.held
        ELSE CASE COALESCE(known.pace, '') {_PACES} ELSE {LEASES[Pace.UNKNOWN]} END - COALESCE(leased.held, 0)
    END
"""
_JOINED = f"""
    LEFT JOIN leased USING (endpoint)
    LEFT JOIN (SELECT id AS endpoint, pace FROM webhooks_endpoint) AS known USING (endpoint)
    LEFT JOIN crowded ON crowded.server = endpoint >> {SERVER_SHIFT}
    LEFT JOIN busy ON busy.host = endpoint >> {HOST_SHIFT}
    CROSS JOIN spare
"""  # noqa: S608
# Of rows that have the room of their endpoint: whether their host has room, too. `turn` is their place among those of the host.
_HOST_HAS_ROOM = f"(NOT unproven OR turn + busy <= {HOST_ATTEMPTS})"
# The condition of the partial indexes. Adding the states would select the same, but favor another index.
_CLAIMABLE = "lease_until IS NULL AND due_at IS NOT NULL"

# `waiting` and `hopped` ask for the order of the index by endpoint, so that no other is read (docs/decisions/0015).

# Common table expressions. The last one, `chosen`, has the columns `id`, `due_at`, `pace` and `position`.
CHOSEN: Final = f"""
RECURSIVE leased AS (
    SELECT endpoint, count(*) AS held, count(*) FILTER (WHERE lease_until < %(old)s) AS old
    FROM webhooks_delivery WHERE lease_until >= %(counted)s
    GROUP BY endpoint
), spare AS (
    SELECT GREATEST({LEASES[Pace.FAST]}, LEAST({MOST_LEASES}, {SPARE_LEASES} - COALESCE(sum(held), 0))) AS leases
    FROM leased
), crowded AS (
    SELECT endpoint >> {SERVER_SHIFT} AS server
    FROM leased LEFT JOIN webhooks_endpoint AS known ON known.id = endpoint
    GROUP BY endpoint >> {SERVER_SHIFT}
    HAVING sum(CASE WHEN {_UNPROVEN} THEN held ELSE old END) >= {HOST_LEASES}
), busy AS (
    SELECT endpoint >> {HOST_SHIFT} AS host, sum(held)::bigint AS held
    FROM leased LEFT JOIN webhooks_endpoint AS known ON known.id = endpoint
    WHERE {_UNPROVEN}
    GROUP BY endpoint >> {HOST_SHIFT}
), earliest AS MATERIALIZED (
    SELECT id, endpoint, due_at FROM webhooks_delivery
    WHERE {_CLAIMABLE} AND due_at <= %(now)s
    ORDER BY due_at, id LIMIT {LOOKED_AT}
), ranked AS (
    SELECT id, endpoint, due_at, row_number() OVER (PARTITION BY endpoint ORDER BY due_at, id) AS rank
    FROM earliest
), fitting AS MATERIALIZED (
    SELECT id, due_at, pace FROM (
        SELECT id, due_at, known.pace, {_UNPROVEN} AS unproven, COALESCE(busy.held, 0) AS busy,
            row_number() OVER (PARTITION BY endpoint >> {HOST_SHIFT}, {_UNPROVEN} ORDER BY due_at, id) AS turn
        FROM ranked {_JOINED} WHERE rank <= {_ROOM}
    ) AS roomy
    WHERE {_HOST_HAS_ROOM}
), waiting AS (
    (
        SELECT endpoint FROM webhooks_delivery
        WHERE {_CLAIMABLE} AND endpoint >= '{LOWEST}'::bigint
            AND (SELECT count(*) FROM earliest) = {LOOKED_AT}
            AND (SELECT count(*) FROM fitting) < %(limit)s
        ORDER BY endpoint, due_at, id LIMIT 1
    )
    UNION ALL
    SELECT (
        SELECT endpoint FROM webhooks_delivery
        WHERE {_CLAIMABLE} AND endpoint > waiting.endpoint
        ORDER BY endpoint, due_at, id LIMIT 1
    )
    FROM waiting WHERE waiting.endpoint IS NOT NULL
), asked AS (
    SELECT endpoint, known.pace, {_ROOM} AS room, {_UNPROVEN} AS unproven, COALESCE(busy.held, 0) AS busy
    FROM waiting {_JOINED} WHERE endpoint IS NOT NULL
), hopped AS (
    SELECT first.id, first.due_at, pace, endpoint, unproven, busy,
        row_number() OVER (PARTITION BY endpoint ORDER BY due_at, id) AS rank
    FROM asked CROSS JOIN LATERAL (
        SELECT id, due_at FROM webhooks_delivery
        WHERE {_CLAIMABLE} AND endpoint BETWEEN asked.endpoint AND asked.endpoint
        ORDER BY endpoint, due_at, id LIMIT GREATEST(room, 0)
    ) AS first
    WHERE first.due_at <= %(now)s
), candidate AS (
    SELECT id, due_at, COALESCE(pace, '') AS pace, rank FROM (
        SELECT *, row_number() OVER (PARTITION BY endpoint >> {HOST_SHIFT}, unproven ORDER BY rank, due_at, id) AS turn FROM hopped
    ) AS roomy
    WHERE {_HOST_HAS_ROOM}
    UNION ALL
    SELECT id, due_at, COALESCE(pace, ''), 0 FROM fitting WHERE NOT EXISTS (SELECT FROM waiting)
), chosen AS MATERIALIZED (
    SELECT id, due_at, pace, row_number() OVER (ORDER BY rank, due_at, id) AS position
    FROM candidate ORDER BY position LIMIT %(limit)s
)
"""  # noqa: S608


PARAMETERS: Final = {
    "limit": "int", "now": "timestamptz", "old": "timestamptz", "counted": "timestamptz",
}  # fmt: skip


def parameters(limit: int, now: datetime) -> dict[str, Any]:
    """The values for `CHOSEN`, of the types in `PARAMETERS`."""
    return {"limit": limit, "now": now, "old": now + LEASE - SLOW, "counted": now + LEASE - COUNTED}


def first_due(now: datetime) -> datetime | None:
    """The due time of the first delivery that could be claimed now. None if there is none."""
    if connection.vendor != "postgresql":
        return choose_plainly(1, now).values_list("due_at", flat=True).first()
    with planning.by_index_here(), connection.cursor() as cursor:
        cursor.execute(f"WITH {CHOSEN} SELECT due_at FROM chosen", parameters(1, now))  # noqa: S608
        return next((row[0] for row in cursor.fetchall()), None)


def choose_plainly(limit: int, now: datetime) -> QuerySet[Delivery]:
    """What to claim on SQLite: first in, first out, with at most `PLAIN_LEASES` of an endpoint at once, and one of one
    that is silent. Call it under a lock
    that keeps others from claiming.
    """
    held = Counter(Delivery.objects.filter(lease_until__isnull=False).values_list("endpoint", flat=True))
    silent = set(Endpoint.objects.filter(pace=Pace.SILENT).values_list("pk", flat=True))

    def room(endpoint: int) -> int:
        return LEASES[Pace.SILENT] if endpoint in silent else PLAIN_LEASES

    full = [endpoint for endpoint, leases in held.items() if leases >= room(endpoint)]
    due = Delivery.objects.filter(status__in=WAITING, lease_until=None, due_at__lte=now)
    chosen = []
    first = due.exclude(endpoint__in=full).order_by("due_at", "id")
    for id_, endpoint in first.values_list("id", "endpoint")[:LOOKED_AT]:
        held[endpoint] += 1
        if held[endpoint] <= room(endpoint):
            chosen.append(id_)
    return Delivery.objects.filter(id__in=chosen[:limit])
