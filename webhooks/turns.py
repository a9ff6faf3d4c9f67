"""Whose turn it is: which of the due deliveries a claim takes (docs/decisions/0010).

The longest due come first, as far as each endpoint has room for them. Only where the earliest belong to too few
endpoints with room, all endpoints that wait are asked in turn: the first delivery of each, then the second.

Written twice, in SQL for PostgreSQL and portably for SQLite. A test holds both to the same choice. Either way the
cost depends on the leases and endpoints there are, not on how much waits or has been sent.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Q

from webhooks.endpoints import HOST_LEASES, LEASE, LEASES, SLOW, host_of, leases_allowed
from webhooks.enums import WAITING, Pace
from webhooks.models import Delivery, Endpoint

LOOKED_AT: Final = 256  # of the earliest due

# In SQL

_PACES = " ".join(f"WHEN '{pace}' THEN {leases}" for pace, leases in LEASES.items() if pace)

# Of an endpoint with what is joined below: its leases, what is known of it, its host if that is crowded.
_ROOM = f"""
    CASE
        WHEN crowded.host IS NOT NULL THEN 0
        WHEN leased.old > 0 AND COALESCE(known.pace, '') <> 'SLOW' THEN 1 - leased.held
        ELSE CASE COALESCE(known.pace, '') {_PACES} ELSE {LEASES[Pace.UNKNOWN]} END - COALESCE(leased.held, 0)
    END
"""
_JOINED = """
    LEFT JOIN leased USING (endpoint)
    LEFT JOIN (SELECT id AS endpoint, pace FROM webhooks_endpoint) AS known USING (endpoint)
    LEFT JOIN crowded ON crowded.host = endpoint >> 32
"""
# Just what the indexes hold. To name the states too would say no more, and make another index look better.
_CLAIMABLE = "lease_until IS NULL AND due_at IS NOT NULL"

# Common table expressions. The last one, `chosen`, has the columns `id`, `pace` and `turn`.
CHOSEN: Final = f"""
RECURSIVE leased AS (
    SELECT endpoint, count(*) AS held, count(*) FILTER (WHERE lease_until < %(old)s) AS old
    FROM webhooks_delivery WHERE lease_until IS NOT NULL
    GROUP BY endpoint
), crowded AS (
    SELECT endpoint >> 32 AS host
    FROM leased LEFT JOIN webhooks_endpoint AS known ON known.id = endpoint
    GROUP BY endpoint >> 32
    HAVING sum(CASE known.pace WHEN 'PROVEN' THEN old ELSE held END) >= {HOST_LEASES}
), earliest AS MATERIALIZED (
    SELECT id, endpoint, due_at FROM webhooks_delivery
    WHERE {_CLAIMABLE} AND due_at <= %(now)s
    ORDER BY due_at, id LIMIT {LOOKED_AT}
), ranked AS (
    SELECT id, endpoint, due_at, row_number() OVER (PARTITION BY endpoint ORDER BY due_at, id) AS place
    FROM earliest
), fitting AS MATERIALIZED (
    SELECT id, due_at, known.pace FROM ranked {_JOINED} WHERE place <= {_ROOM}
), waiting AS (
    (
        SELECT endpoint FROM webhooks_delivery
        WHERE {_CLAIMABLE}
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
    SELECT endpoint, known.pace, {_ROOM} AS room FROM waiting {_JOINED} WHERE endpoint IS NOT NULL
), answer AS (
    SELECT first.id, first.due_at, pace, row_number() OVER (PARTITION BY endpoint ORDER BY due_at, id) AS place
    FROM asked CROSS JOIN LATERAL (
        SELECT id, due_at FROM webhooks_delivery
        WHERE {_CLAIMABLE} AND due_at <= %(now)s AND endpoint = asked.endpoint
        ORDER BY due_at, id LIMIT GREATEST(room, 0)
    ) AS first
), candidate AS (
    SELECT id, due_at, COALESCE(pace, '') AS pace, place FROM answer
    UNION ALL
    SELECT id, due_at, COALESCE(pace, ''), 0 FROM fitting WHERE NOT EXISTS (SELECT FROM waiting)
), chosen AS MATERIALIZED (
    SELECT id, pace, row_number() OVER (ORDER BY place, due_at, id) AS turn
    FROM candidate ORDER BY turn LIMIT %(limit)s
)
"""  # noqa: S608


PARAMETERS: Final = {"limit": "int", "now": "timestamptz", "old": "timestamptz"}


def parameters(limit: int, now: datetime) -> dict[str, Any]:
    """What `CHOSEN` is executed with, of the types that `PARAMETERS` says."""
    return {"limit": limit, "now": now, "old": now + LEASE - SLOW}


# Portably


@dataclass(frozen=True, slots=True)
class Turn:
    """A due delivery that is to be claimed."""

    delivery_id: UUID
    pace: Pace


def choose(limit: int, now: datetime) -> list[Turn]:
    """The same choice in many statements. Holds only under a lock that keeps others from claiming."""
    claimable = Delivery.objects.filter(status__in=WAITING, lease_until=None, due_at__isnull=False)
    due = claimable.filter(due_at__lte=now).order_by("due_at", "id").values_list("due_at", "id")
    earliest = list(due.values_list("endpoint", "due_at", "id")[:LOOKED_AT])
    rooms = _Rooms(now)
    rooms.look_up({endpoint for endpoint, *_ in earliest})
    fitting = [row for row, place in _ranked(earliest) if place <= rooms.of(row[0])]
    if len(earliest) == LOOKED_AT and len(fitting) < limit:
        waiting = list(_endpoints(claimable))
        rooms.look_up(waiting)
        answers = [
            (place, due_at, id_, endpoint)
            for endpoint in waiting
            for place, (due_at, id_) in enumerate(due.filter(endpoint=endpoint)[: rooms.of(endpoint)])
        ]
        fitting = [(endpoint, due_at, id_) for _, due_at, id_, endpoint in sorted(answers)]
    return [Turn(id_, rooms.paces[endpoint]) for endpoint, _, id_ in fitting[:limit]]


class _Rooms:
    """How many more leases endpoints may have."""

    def __init__(self, now: datetime) -> None:
        self.paces: dict[int, Pace] = {}
        leases = Delivery.objects.filter(lease_until__isnull=False).values_list("endpoint").order_by()
        self._leased = {
            endpoint: (held, old)
            for endpoint, held, old in leases.annotate(
                held=Count("id"), old=Count("id", filter=Q(lease_until__lt=now + LEASE - SLOW))
            )
        }
        self.look_up(self._leased)
        self._crowded = self._crowded_hosts()

    def look_up(self, endpoints: Iterable[int]) -> None:
        asked = [endpoint for endpoint in endpoints if endpoint not in self.paces]
        known = dict(Endpoint.objects.filter(id__in=asked).values_list("id", "pace")) if asked else {}
        self.paces |= {endpoint: Pace(known.get(endpoint, "")) for endpoint in asked}

    def of(self, endpoint: int) -> int:
        if host_of(endpoint) in self._crowded:
            return 0
        held, old = self._leased.get(endpoint, (0, 0))
        return max(0, leases_allowed(self.paces[endpoint], holds_old=old > 0) - held)

    def _crowded_hosts(self) -> set[int]:
        uncertain: dict[int, int] = {}
        for endpoint, (held, old) in self._leased.items():
            host = host_of(endpoint)
            uncertain[host] = uncertain.get(host, 0) + (old if self.paces[endpoint] == Pace.PROVEN else held)
        return {host for host, leases in uncertain.items() if leases >= HOST_LEASES}


Row = tuple[int, datetime | None, UUID]


def _ranked(rows: Iterable[Row]) -> Iterator[tuple[Row, int]]:
    """Each row with its place among those of its endpoint, from 1."""
    places: dict[int, int] = {}
    for row in rows:
        places[row[0]] = places.get(row[0], 0) + 1
        yield row, places[row[0]]


def _endpoints(claimable: Any) -> Iterator[int]:
    """The endpoints that anything waits for, one look into the index for each."""
    by_turn = claimable.order_by("endpoint", "due_at", "id").values_list("endpoint", flat=True)
    endpoint = by_turn.first()
    while endpoint is not None:
        yield endpoint
        endpoint = by_turn.filter(endpoint__gt=endpoint).first()
