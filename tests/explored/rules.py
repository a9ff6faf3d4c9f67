"""What has to hold in every run, whatever happens. Each rule is judged by rows and requests, not by what a dispatcher believes."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from tests.explored.lockstep import Seat
from tests.explored.schedules import Reply
from webhooks.engine.claim_selection import LEASE

ROOM: Final = {"": 8, "FAST": 64, "PROVEN": 16, "SLOW": 4, "SILENT": 1}  # attempts of an endpoint at once
# With a lease of half a second, an endpoint that is not slow gets one attempt at a time. A claim takes a moment, too.
HANGS_AFTER: Final = timedelta(seconds=0.6)
COUNTED: Final = timedelta(seconds=12)  # older leases don't count: no attempt takes as long
FREED_WITHIN: Final = 5.5  # seconds after a dispatcher's death
TOLERATED: Final = timedelta(seconds=1)  # between two clocks
HOSTS_OF_AN_OUTAGE: Final = 5
ENDED: Final = ("SUCCEEDED", "EXHAUSTED", "HELD", "CANCELLED")

ATTEMPTS: Final = (
    "SELECT delivery_id, number, attempted_at, http_status, error_class FROM webhooks_attempt ORDER BY 1, 2"
)


class DeliveryRow(NamedTuple):
    id: UUID
    status: str
    due_at: datetime | None
    lease_until: datetime | None
    leased_by: int | None
    fence: int
    attempts_made: int
    attempt_count: int
    endpoint: int
    webhook: UUID
    pace: str

    @property
    def is_over(self) -> bool:
        return self.status in ENDED


@dataclass
class Sent:
    """A request of a dispatcher."""

    seat: Seat
    life: int
    delivery: UUID
    fence: int
    host: str
    at: datetime  # by the true clock
    answer: Reply
    network_was_cut: bool


class Violation(Exception):
    """A rule that a run has broken."""


def require(holds: bool, rule: str) -> None:
    if not holds:
        raise Violation(rule)


@dataclass
class Book:
    """What has happened so far in a run."""

    rows: dict[UUID, DeliveryRow] = field(default_factory=dict)
    requests: list[Sent] = field(default_factory=list)
    owners: dict[int, tuple[Seat, int]] = field(default_factory=dict)  # of slots: the seat and its life
    died: dict[tuple[str, int], float] = field(default_factory=dict)
    touched: dict[UUID, int] = field(default_factory=dict)  # by people: the fence after that

    # What people and the store did

    def changed_by_people(self, rows: dict[UUID, DeliveryRow], published: int) -> None:
        require(len(rows) == published, "Each event is written for each webhook that gets it, or not at all.")
        for id_, row in rows.items():
            if id_ in self.rows and row.fence != self.rows[id_].fence:
                self.touched[id_] = row.fence
        self.rows = rows

    # What a dispatcher wrote

    def changed_by(self, seat: Seat, rows: dict[UUID, DeliveryRow], now: datetime, elapsed: float) -> None:
        """Judge each row that a dispatcher's commit has changed."""
        if seat.dispatcher and (slot := seat.dispatcher._slot.id):  # noqa: SLF001
            self.owners[slot] = seat, seat.lives
        require(rows.keys() == self.rows.keys(), "A dispatcher neither writes nor removes deliveries.")
        for id_, after in rows.items():
            before = self.rows[id_]
            if before == after:
                continue
            if after.attempt_count != before.attempt_count:
                self._recorded(seat, before, after)
            elif after.lease_until is None and before.lease_until is not None and after.fence == before.fence:
                self._freed(seat, before, now, elapsed)
            elif after.lease_until is not None and (after.fence, after.leased_by) != (
                before.fence,
                before.leased_by,
            ):
                self._leased(seat, before, after, now)
        self._require_room(rows, now)
        self.rows = rows

    def _leased(self, seat: Seat, before: DeliveryRow, after: DeliveryRow, now: datetime) -> None:
        require(before.lease_until is None, "A delivery has one lease at a time.")
        owner, life = self.owners.get(after.leased_by or 0, (None, 0))
        require(
            owner is seat and life == seat.lives, "A delivery is leased to the dispatcher that claims it."
        )
        require(not before.is_over, "What has ended is not claimed.")
        require(
            before.due_at is not None and before.due_at <= now + TOLERATED,
            "Nothing is claimed before it is due.",
        )

    def _freed(self, seat: Seat, before: DeliveryRow, now: datetime, elapsed: float) -> None:
        """A lease has ended without a result."""
        owner, life = self.owners.get(before.leased_by or 0, (None, 0))
        if owner is None or owner is seat or life != owner.lives or not owner.is_alive:
            return
        was_away = owner.is_stopped or elapsed - owner.away_at < FREED_WITHIN
        require(was_away, "The lease of a dispatcher that works stays its own.")

    def _recorded(self, seat: Seat, before: DeliveryRow, after: DeliveryRow) -> None:
        require(after.attempt_count == before.attempt_count + 1, "One attempt is recorded at a time.")
        found = [
            each for each in self.requests
            if (each.delivery, each.fence, each.seat, each.life) == (before.id, before.fence, seat, seat.lives)
        ]  # fmt: skip
        require(bool(found), "A result counts only for the latest lease.")
        if found[0].network_was_cut:
            near = {
                each.host for each in self.requests
                if each.seat is seat and each.network_was_cut and abs(each.at - found[0].at) < TOLERATED
            }  # fmt: skip
            require(len(near) < HOSTS_OF_AN_OUTAGE, "An attempt doesn't count in an outage of our own.")

    def _require_room(self, rows: dict[UUID, DeliveryRow], now: datetime) -> None:
        held: dict[int, list[DeliveryRow]] = {}
        for row in rows.values():
            if row.lease_until and row.lease_until - LEASE > now - COUNTED:
                held.setdefault(row.endpoint, []).append(row)
        for leases in held.values():
            before = [row for row in leases if row.fence == self.rows[row.id].fence]
            hangs = any(now - (row.lease_until - LEASE) > HANGS_AFTER for row in before if row.lease_until)
            room = 1 if hangs and leases[0].pace != "SLOW" else ROOM[leases[0].pace]
            fits = len(leases) <= max(room, len(before))
            require(fits, "An endpoint has no more attempts at once than it has room for.")

    # What a dispatcher sent

    def sent(self, request: Sent, now: datetime, *, may_get: bool) -> None:
        row = self.rows.get(request.delivery)
        require(row is not None, "Nothing is sent before it is committed.")
        assert row
        self.requests.append(request)
        if request.fence >= self.touched.get(row.id, 0):  # else people have ended the lease meanwhile
            leased = row.lease_until is not None and row.fence == request.fence
            require(leased, "A dispatcher sends only what it holds the lease of.")
        require(may_get, "An endpoint that has ended gets nothing.")
        require(row.due_at is None or row.due_at <= now + TOLERATED, "Nothing is sent before it is due.")

    # As time passes

    def waits_since(self, moment: datetime) -> bool:
        """Whether one without a lease has been due since then."""
        return any(
            row.due_at and row.due_at < moment and row.lease_until is None for row in self.rows.values()
        )

    def require_dead_are_noticed(self, elapsed: float, working_since: float) -> None:
        """While another dispatcher works, it frees what a dead one has left."""
        for row in self.rows.values():
            if row.lease_until is None:
                continue
            seat, life = self.owners.get(row.leased_by or 0, (None, 0))
            died = self.died.get((seat.name, life)) if seat else None
            if died is not None:
                waited = elapsed - max(died, working_since)
                require(
                    waited <= FREED_WITHIN, "What a dead dispatcher has leased is free within five seconds."
                )

    def next_due(self, now: datetime) -> datetime | None:
        """When the next delivery without a lease is due: a day later if there is none. None if one is due."""
        waiting = [row.due_at for row in self.rows.values() if row.due_at and row.lease_until is None]
        first = min(waiting, default=now + timedelta(days=1))
        return first if first > now else None

    def is_leased(self) -> bool:
        return any(row.lease_until for row in self.rows.values())

    def is_over(self) -> bool:
        return all(row.is_over for row in self.rows.values())

    # At the end

    def require_all_is_well(
        self, attempts: list[tuple[Any, ...]], may_get: dict[UUID, bool], schedule: int
    ) -> None:
        require(self.is_over(), "Every delivery ends.")
        by_delivery: dict[UUID, list[tuple[Any, ...]]] = {id_: [] for id_ in self.rows}
        for id_, *attempt in attempts:
            by_delivery[id_].append(tuple(attempt))
        for id_, row in self.rows.items():
            made = by_delivery[id_]
            require(
                [number for number, *_ in made] == [*range(1, row.attempt_count + 1)],
                "Attempts are numbered in their order.",
            )
            unmatched = [each for each in self.requests if each.delivery == id_]
            for _, attempted_at, status, error in made:
                match = next((each for each in unmatched if _fits(each, attempted_at, status, error)), None)
                require(match is not None, "Each attempt that is recorded was made, once, with that outcome.")
                unmatched.remove(match)  # type: ignore[arg-type]
            if row.status == "SUCCEEDED":
                require(bool(made) and made[-1][3] == "", "A delivery succeeds by an answer with success.")
            elif row.status == "EXHAUSTED":
                require(row.attempts_made == schedule, "A delivery is given up after all its attempts.")
            else:
                require(not may_get[row.webhook], "Only what may not be sent any more is held or cancelled.")


def _fits(request: Sent, attempted_at: datetime, status: int | None, error: str) -> bool:
    answer = request.answer
    return abs(request.at - attempted_at) <= TOLERATED and (answer.status, answer.error or "") == (
        status,
        error,
    )
