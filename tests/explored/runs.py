"""One run of a schedule: time jumps to whatever happens next, and whose turn it is goes on until it would wait."""

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count, groupby
from math import inf
from typing import Any, Final
from uuid import UUID

from django.utils import timezone

from common.http.exchanges import Exchange
from tests.explored import rules, schedules
from tests.explored.lockstep import POLL, ROWS, Seat, here
from tests.explored.rules import Book, DeliveryRow, Sent, Violation
from tests.explored.scenes import Scene
from tests.explored.schedules import Deviation, Reply, Schedule
from webhooks.engine import retry, slots
from webhooks.insight import backlog

Choose = Callable[[str], str | None]  # what happens at a point
Read = Callable[[str], list[tuple[Any, ...]]]  # the rows of a statement, in a session of its own

START: Final = 1000.0  # seconds of the monotonic clock
LONGEST: Final = 240.0  # seconds that a run may take, by its own clock
STARTS_AFTER: Final = 1.0  # seconds after a dispatcher's death; Celery's schedule looks each second
NOTICED_WITHIN: Final = 5.0  # seconds
HOLDS_AFTER: Final = 2.5  # seconds: a pause, a heartbeat's second, and a longer rest
CUT_FOR, AWAY_FOR = 20.0, 4.0


@dataclass
class Turn:
    """One turn, as a line of what is printed."""

    at: float
    who: str
    what: list[str]

    def __str__(self) -> str:
        counted = ((what, len([*same])) for what, same in groupby(self.what))
        return f"{self.who}: {', '.join(what if times == 1 else f'{what} ({times} times)' for what, times in counted)}"


@dataclass(frozen=True, slots=True)
class Explored:
    """What a run showed. `points` are those where it could have gone another way, in their order; `broken` is the rule."""

    schedule: Schedule
    points: list[str]
    turns: list[Turn]
    ended: float  # seconds after the start
    broken: str | None

    def steps(self) -> list[str]:
        """The turns that did something, numbered, with the seconds since the start."""
        return [f"{n:>2}. {turn.at:6.2f} s  {turn}" for n, turn in enumerate(self.turns, 1)]


@dataclass
class Run:
    """A run under way. It is what its seats see of time, of the network and of the schedule."""

    scene: Scene
    seats: list[Seat]
    read: Read
    schedule: Schedule
    choose: Choose | None = None
    now: float = START
    began: datetime = field(default_factory=lambda: datetime.now(timezone.get_default_timezone()))
    database_away_until: float = -inf
    disk_full_until: float = -inf
    network_cut_until: float = -inf
    points: list[str] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    coming: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    order: Iterator[int] = field(default_factory=count)  # of those at the same time
    book: Book = field(default_factory=Book)
    broken: Violation | None = None
    known: dict[UUID, bool] = field(default_factory=dict)  # webhooks: whether they get events
    is_unheard: bool = False  # hints get lost
    alarm_at: float = -inf  # when to ask next whether there is one
    asked: dict[str, int] = field(default_factory=dict)
    births: dict[str, float] = field(default_factory=dict)

    # Time

    def time(self) -> datetime:
        return self.began + timedelta(seconds=self.now - START)

    def machine_time(self) -> datetime:
        """The clock of the machine whose thread asks."""
        seat: Seat | None = getattr(here, "seat", None)
        return self.time() + timedelta(seconds=seat.clock_ahead if seat else 0.0)

    def database_time(self) -> str:
        return f"'{self.time().isoformat()}'::timestamptz"

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        self.coming.append((self.now + seconds, next(self.order), what))

    # What seats ask for

    def deviation_at(self, point: str) -> str | None:
        self.points.append(point)
        what = self.schedule.at(point)
        if what is None and self.choose and (what := self.choose(point)):
            self.schedule = self.schedule.plus(Deviation(point, what))
        return what

    def tell(self, who: str, what: str) -> None:
        if self.turns and self.turns[-1].who == who:
            self.turns[-1].what.append(what)
        else:
            self.turns.append(Turn(self.now - START, who, [what]))

    def committed(self, seat: Seat, verb: str, rows: list[Any] | None = None) -> None:
        """A dispatcher's commit. A rule that it broke ends the run."""
        if verb in ("looks", "prepares", "beats"):
            return
        before, after = self.book.rows, _by_id(self.read(ROWS)) if rows is None else _by_id(rows)
        if after != before:
            self.tell(seat.name, _of_rows(verb, before, after))
        with self._judging():
            self.book.changed_by(seat, after, self.time(), self.now)

    @contextmanager
    def _judging(self) -> Iterator[None]:
        """On any thread: the scheduler's ends the run."""
        try:
            yield
        except Violation as violation:
            self.broken = self.broken or violation

    def ring(self) -> None:
        """A hint of deliveries that changed, for one that rests. The schedule may lose it."""
        seat = next((each for each in self.seats if each.is_waiting), None)
        if seat and not self.is_unheard:
            seat.ring()

    # The network

    def submit(self) -> None:
        with self._judging():
            rules.require(False, "Only dispatchers send.")

    def submit_all(self, requests: Iterable[Any], done: Callable[..., None]) -> None:
        seat: Seat = here.seat
        for key, url, *_ in sorted(requests, key=lambda each: (each[1], each[0].claim.due_at)):
            host = url.split("/")[2].partition(".")[0]
            number = self.asked[host] = self.asked.get(host, 0) + 1
            answer = self._answer(f"{host} answers {number}")
            self.tell(seat.name, f"sends to {host}")
            request = Sent(
                seat, seat.lives, key.claim.delivery_id, key.claim.fence, host, self.time(), answer,
                self.now < self.network_cut_until,
            )  # fmt: skip
            with self._judging():
                self.book.sent(request, self.time(), may_get=self._may_get(key.claim.webhook_id))
            self._answer_later(seat, key, host, answer, done)

    def _may_get(self, webhook: UUID) -> bool:
        """Only people change that."""
        if webhook not in self.known:
            self.known[webhook] = self.scene.may_get(webhook)
        return self.known[webhook]

    def _answer(self, point: str) -> Reply:
        if self.now < self.network_cut_until:
            return schedules.ANSWERS["no connection"]
        what = self.deviation_at(point)
        return schedules.ANSWERS[what] if what else schedules.USUAL

    def _answer_later(
        self, seat: Seat, key: Any, host: str, answer: Reply, done: Callable[..., None]
    ) -> None:
        life = seat.lives

        def arrive() -> None:
            if seat.is_alive and seat.lives == life:
                self.tell(host, f"answers {answer.status}" if answer.status else f"{answer.error}")
                here.seat = seat  # whose machine's clock notes the moment
                exchange = Exchange(answer.status, {}, b"", False, int(answer.after * 1000), answer.error)  # type: ignore[arg-type]
                done(key, exchange)
                del here.seat

        self.later(answer.after, arrive)

    # The loop

    def go(self) -> None:
        random.seed(0)
        self.scene.begin(self.schedule.scene, self.time())
        self.tell("the store", f"publishes for {self.schedule.scene}")
        self.book.changed_by_people(_by_id(self.read(ROWS)), self.scene.published)
        for seat in self.seats:
            seat.counts, seat.lives = {}, 0
            seat.clock_ahead = schedules.CLOCKS.get(self.deviation_at(f"{seat.name} starts 1") or "", 0.0)
            self._start(seat)
            if seat.clock_ahead:
                self.tell(seat.name, f"starts with its clock {seat.clock_ahead:+.0f} s off")
            self.now += 0.02
        while not self._is_over():
            self._next()
            if self.broken:
                raise self.broken
            rules.require(self.now < START + LONGEST, "Every delivery ends.")
        may_get = {row.webhook: self._may_get(row.webhook) for row in self.book.rows.values()}
        self.book.require_all_is_well(self.read(rules.ATTEMPTS), may_get, len(retry.delays()) + 1)

    def _start(self, seat: Seat) -> None:
        seat.begin(self, self.now)
        self.births[seat.name] = self.now

    def _is_over(self) -> bool:
        quiet = all(seat.is_waiting for seat in self.seats)
        return quiet and not self.coming and self.book.is_over()

    def _next(self) -> None:
        """Whatever comes first. Looks that would find nothing are left out."""
        self._leave_out_idle_turns()
        seats = [seat for seat in self.seats if seat.is_alive and not seat.is_stuck]
        seat = min(seats, key=lambda each: each.wake_at, default=None)
        first = min(self.coming, default=None)
        if first and (seat is None or first[0] <= seat.wake_at):
            self.now = max(self.now, first[0])
            self.coming.remove(first)
            first[2]()
        elif seat:
            self.now = max(self.now, seat.wake_at)
            self._turn(seat)
        self._require_work_goes_on()

    def _leave_out_idle_turns(self) -> None:
        next_due, is_leased = self.book.next_due(self.time()), self.book.is_leased()
        if next_due is None:
            return
        for seat in self.seats:
            if seat.is_idle:
                until = self.now + (next_due - self.time()).total_seconds()
                seat.wake_at = max(seat.wake_at, min(until, seat.next_chore) if is_leased else until)

    def _turn(self, seat: Seat) -> None:
        seat.go_on()
        self._wait_for(seat)
        while seat.request:
            what, seat.request = seat.request, ""
            self._let_holders_commit()
            self._happens(what)
            seat.go_on()
            self._wait_for(seat)
        for stuck in self.seats:
            if stuck.is_stuck:
                self._wait_for(stuck)

    def _wait_for(self, seat: Seat) -> None:
        """Until it parks, has ended, or is stuck at the locks of one that waits before its commit."""
        while not seat.parked.acquire(timeout=POLL if self._holders() else None):
            if self._holders() and self._is_stuck(seat):
                seat.is_stuck = True
                return
        seat.is_stuck = False
        if not seat.is_alive:
            self._note_end(seat)

    def _holders(self) -> list[Seat]:
        return [each for each in self.seats if each.is_holding]

    def _is_stuck(self, seat: Seat) -> bool:
        return bool(self.read(f"SELECT 1 WHERE cardinality(pg_blocking_pids({seat.session})) > 0")[:1])

    def _let_holders_commit(self) -> None:
        for holder in self._holders():
            holder.go_on()
            self._wait_for(holder)

    def _note_end(self, seat: Seat) -> None:
        # The first heartbeat after a failure of the database is ahead while there is something to record.
        holds = slots.HOLD_FOR.total_seconds() if self.now - seat.troubled_at < HOLDS_AFTER else 0.0
        self.book.died[seat.name, seat.lives] = self.now + holds
        if seat.failed:
            self.broken = self.broken or Violation(f"No dispatcher fails: {type(seat.failed).__name__}.")
        self.later(STARTS_AFTER, lambda: self._start(seat))

    def _happens(self, what: str) -> None:
        self.tell("meanwhile", what)
        if what == schedules.NO_NETWORK:
            self.network_cut_until = self.now + CUT_FOR
        elif what == schedules.NO_DATABASE:
            self.database_away_until = self.now + AWAY_FOR
        elif what in schedules.FULL_DISKS:
            self.disk_full_until = self.now + schedules.FULL_DISKS[what]
        else:
            self.known.clear()
            self.is_unheard = what == schedules.UNHEARD
            self.scene.happens(what, self.time())
            self.is_unheard = False
            self.book.changed_by_people(_by_id(self.read(ROWS)), self.scene.published)

    def _require_work_goes_on(self) -> None:
        """As far as there is a dispatcher that works."""
        since = min(
            (self._works_since(seat) for seat in self.seats if seat.is_alive and not seat.is_stopped),
            default=inf,
        )
        with self._judging():
            self.book.require_dead_are_noticed(self.now, since)
            waits = self.book.waits_since(self.time() - backlog.OVERDUE)
            if waits and self.now >= max(since + NOTICED_WITHIN, self.alarm_at):
                self.alarm_at = self.now + 1.0
                rules.require(not backlog.is_overdue(self.time()), "No alarm while only an endpoint is slow.")

    def _works_since(self, seat: Seat) -> float:
        held_until = self.disk_full_until + slots.HOLD_FOR.total_seconds()
        return max(self.births[seat.name], seat.away_at, self.database_away_until, held_until)

    def end(self) -> None:
        """Kill the dispatchers: the next run begins with none."""
        for seat in sorted(self.seats, key=lambda each: each.is_stuck):
            seat.kill()
            if seat.is_stuck:
                seat.parked.acquire()  # as soon as it isn't any more
                seat.is_stuck = False
            if seat.is_alive:
                seat.go_on()
                seat.parked.acquire()


def _by_id(rows: list[Any]) -> dict[Any, DeliveryRow]:
    return {row[0]: DeliveryRow(*row) for row in rows}


def _of_rows(verb: str, before: dict[Any, DeliveryRow], after: dict[Any, DeliveryRow]) -> str:
    changed = [row for id_, row in after.items() if row != before.get(id_)]
    if verb not in ("records", "ends"):
        return f"{verb} {len(changed)}"
    return f"{verb} {len(changed)} ({', '.join(sorted({row.status for row in changed}))})"
