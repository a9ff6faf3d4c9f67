"""Dispatchers in lock-step: each has a thread and a session of its own, and only one of them goes on at a time.

A dispatcher runs as it is. It parks where it would wait, and wherever the schedule has something for one of its statements. While
one waits before its commit, others may get stuck at its locks: PostgreSQL is asked whether they are.
"""
# ruff: noqa: SLF001  # a dispatcher's own event is replaced by one of replaced time

import re
import threading
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import Any, Final, Protocol

from django.db import OperationalError, connection, connections
from psycopg.errors import DiskFull

from tests.explored import schedules
from webhooks.engine.dispatcher import Dispatcher

# What a statement does, by its text. The first that fits counts; what fits none is no point of a schedule.
_VERBS: Final = {
    "looks": "EXECUTE webhooks_peek",
    "claims": "EXECUTE webhooks_claim",
    "prepares": "EXECUTE webhooks_prepare",
    "records": "EXECUTE webhooks_record",
    "frees": r'UPDATE "webhooks_delivery" SET "lease_until" = NULL.* IN \(SELECT U0',
    "ends": r'SELECT .* FROM "webhooks_delivery" .* FOR UPDATE',
    "beats": r'UPDATE "webhooks_dispatcherslot"',
}
ROWS: Final = """
SELECT delivery.id, status, due_at, lease_until, leased_by_id, fence, attempts_made, attempt_count, endpoint, webhook_id,
    COALESCE(pace, '')
FROM webhooks_delivery AS delivery LEFT JOIN webhooks_endpoint AS known ON known.id = endpoint
WHERE event_type <> 'business.data_erasure' ORDER BY delivery.id
"""
NEEDS_ROOM: Final = ("records",)  # on PostgreSQL's disk
OFTEN_ENOUGH: Final = 3  # later ones of a verb are no points
STATEMENT_TAKES: Final = 0.001  # seconds
POLL: Final = 0.01  # seconds of the real clock


def verb_of(sql: str) -> str | None:
    return next((verb for verb, pattern in _VERBS.items() if re.search(pattern, sql, re.DOTALL)), None)


class Killed(BaseException):
    """Ends a dispatcher as SIGKILL would: it executes no statement any more."""


class Run(Protocol):
    """What a seat needs of the run."""

    now: float
    database_away_until: float
    disk_full_until: float

    def deviation_at(self, point: str) -> str | None: ...
    def database_time(self) -> str: ...
    def tell(self, who: str, what: str) -> None: ...
    def committed(self, seat: "Seat", verb: str, rows: list[Any] | None = None) -> None: ...


here = threading.local()  # `seat`: the one whose thread this is


class Seat:
    """A place for one dispatcher after the other. If one dies, the next begins with the session that its process would open."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.run: Run
        self.dispatcher: Dispatcher | None = None
        self.lives = 0
        self.wake_at = inf
        self.request = ""  # what the schedule has others do before it goes on
        self.failed: BaseException | None = None
        self.away_at = -inf  # when it last came back from a stop
        self.troubled_at = (
            -inf
        )  # when the database last failed it while it had work, in time that it wasn't stopped
        self.is_holding = self.is_stuck = self.is_stopped = self.is_killed = False
        self.session = 0  # PostgreSQL's number of it
        self.clock_ahead = 0.0
        self.counts: dict[str, int] = {}
        self._go, self.parked = threading.Semaphore(0), threading.Semaphore(0)
        self._waiting: Wakeup | None = None
        self._closing = False
        self._at_commit: tuple[str, str] | None = None
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)
        self._thread.start()

    # By the scheduler's thread

    def begin(self, run: Run, now: float) -> None:
        """A new life, which starts at the next `go_on`."""
        self.run, self.failed, self.is_killed, self.is_stopped = run, None, False, False
        self.lives += 1
        self.dispatcher, self.away_at, self.troubled_at, self.wake_at = Dispatcher(), -inf, -inf, now
        self.dispatcher._sender._enough_came = Wakeup(self)  # type: ignore[assignment]

    def go_on(self) -> None:
        self.wake_at = inf
        self._go.release()

    def kill(self) -> None:
        """At its next step. For the end of a run."""
        self.is_killed = True

    def ring(self) -> None:
        """A hint that deliveries have changed."""
        assert self.dispatcher
        self.dispatcher._wake()

    def close(self) -> None:
        self._closing = True
        self._go.release()
        self._thread.join()

    @property
    def is_alive(self) -> bool:
        return self.dispatcher is not None

    @property
    def is_waiting(self) -> bool:
        """For its next look, or for answers."""
        return self._waiting is not None

    @property
    def is_idle(self) -> bool:
        """Whether it waits, and has nothing to judge or to record."""
        each = self.dispatcher
        if each is None or not self.is_waiting:
            return False
        return not (each._sender._answered or each._results or each._judge.doubtful or each._stop.is_set())

    @property
    def next_chore(self) -> float:
        """When it writes its heartbeat or looks for lost leases next."""
        assert self.dispatcher
        return min(self.dispatcher._slot._beat_at, self.dispatcher._free_lost_at)

    # By its own thread

    def _live(self) -> None:
        here.seat = self
        connection.execute_wrappers.append(self._execute)
        commit, connection.commit = connection.commit, lambda: self._commit(commit)  # type: ignore[method-assign]
        while self._wait_to_go():
            try:
                assert self.dispatcher
                self.dispatcher.run()
            except Killed:
                pass
            except BaseException as error:
                self.failed = error
            with suppress(OperationalError):
                if connection.connection is not None and not connection.get_autocommit():
                    connection.rollback()
                    connection.set_autocommit(True)
            self.dispatcher, self.is_holding, self._at_commit, self._waiting = None, False, None, None
            self.parked.release()
        connections.close_all()

    def _wait_to_go(self) -> bool:
        self._go.acquire()
        return not self._closing

    def park(self, until: float) -> None:
        self.wake_at = until
        self.parked.release()
        self._go.acquire()
        if self.is_killed:
            raise Killed

    def _execute(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if self.is_killed:
            raise Killed
        # Each session prepares a statement once, so that costs no time: it may have happened in an earlier run.
        self.run.now += 0.0 if sql.startswith("PREPARE") else STATEMENT_TAKES
        if not connection.connection.closed:
            self.session = connection.connection.info.backend_pid
        sql = sql.replace("STATEMENT_TIMESTAMP()", self.run.database_time())
        sql = sql.replace("clock_timestamp()", self.run.database_time())
        verb = verb_of(sql)
        begins = not connection.in_atomic_block or self._at_commit is None
        what = self._meet(verb) if verb and begins else None
        self._suffer(verb)
        if connection.in_atomic_block:
            if verb and begins:
                self._at_commit = verb, what or ""
            return self._executed(lambda: execute(sql, params, many, context))
        if what == schedules.HOLDS:
            return self._held_open(lambda: execute(sql, params, many, context), verb or "")
        result = self._executed(lambda: execute(sql, params, many, context))
        if verb:
            self._after(verb, what)
        return result

    def _executed(self, execute: Callable[[], Any]) -> Any:
        result = execute()
        if self.is_stuck:  # no longer; the one that held it up is judged first
            self.park(self.run.now)
        return result

    def _meet(self, verb: str) -> str | None:
        """What the schedule has for this statement. If it is to happen before the statement, it happens now."""
        number = self.counts[verb] = self.counts.get(verb, 0) + 1
        what = self.run.deviation_at(f"{self.name} {verb} {number}") if number <= OFTEN_ENOUGH else None
        if what is None:
            return None
        if what in (*schedules.OF_PEOPLE, *schedules.OF_MACHINES):
            self.request = what
            self.park(self.run.now)
        elif what in schedules.STOPS:
            self.run.tell(self.name, f"{what} before it {verb}")
            self.is_stopped = True
            began = self.run.now
            self.park(began + schedules.STOPS[what])
            self.is_stopped, self.away_at = False, self.run.now
            self.troubled_at += self.run.now - began
        elif what == schedules.IS_ASKED:
            self.run.tell(self.name, what)
            assert self.dispatcher
            self.dispatcher._stop.set()  # type: ignore[attr-defined]
        elif what == schedules.IS_RUNG:
            self.run.tell(self.name, what)
            self.ring()
        elif what == schedules.DIES_BEFORE:
            self._die(f"dies before it {verb}")
        elif what == schedules.CUT_BEFORE:
            self.run.tell(self.name, f"loses its session before it {verb}")
            self._lose_session()
        return what

    def _suffer(self, verb: str | None) -> None:
        """What all suffer for a while."""
        if self.run.now < self.run.database_away_until:
            self._lose_session()
        elif verb in NEEDS_ROOM and self.run.now < self.run.disk_full_until:
            self._note_trouble()
            self.run.tell(self.name, f"{verb} in vain: the disk is full")
            raise OperationalError("No space left on device") from DiskFull()

    def _held_open(self, execute: Callable[[], Any], verb: str) -> Any:
        connection.set_autocommit(False)
        result = self._executed(execute)
        self._hold(verb, connection.commit)
        connection.set_autocommit(True)
        return result

    def _hold(self, verb: str, commit: Callable[[], None]) -> None:
        """Commit a moment later. Those who got stuck meanwhile go on before this one does."""
        self.run.tell(self.name, f"{verb}, and waits before the commit")
        self.is_holding = True
        self.park(self.run.now + 0.02)
        self.is_holding = False
        with connection.connection.cursor() as own:  # as its commit leaves them: others go on with the commit
            rows = own.execute(ROWS).fetchall()
        commit()
        self.run.committed(self, verb, rows)
        self.park(self.run.now)

    def _commit(self, commit: Callable[[], None]) -> None:
        """The end of a transaction of several statements."""
        verb, what = self._at_commit or ("", "")
        self._at_commit = None
        if what == schedules.HOLDS:
            self._hold(verb, commit)
            return
        commit()
        if verb:
            self._after(verb, what)

    def _after(self, verb: str, what: str | None) -> None:
        self.run.committed(self, verb)
        if what == schedules.DIES_AFTER:
            self._die("dies")
        if what == schedules.CUT_AFTER:
            self.run.tell(self.name, "loses its session before it learns of it")
            self._lose_session()
            raise OperationalError("The session has ended.")

    def _lose_session(self) -> None:
        """Whatever is executed next in it fails."""
        self._note_trouble()
        connection.connection.close()

    def _note_trouble(self) -> None:
        if self.dispatcher and self.dispatcher._busy():
            self.troubled_at = self.run.now

    def _die(self, how: str) -> None:
        self.run.tell(self.name, how)
        self.is_killed = True
        raise Killed

    def sleep(self, seconds: float) -> None:
        self.park(self.run.now + seconds)


class Wakeup:
    """Stands in for the event by which the transport's thread wakes a dispatcher."""

    def __init__(self, seat: Seat) -> None:
        self._seat, self._is_set = seat, False

    def wait(self, timeout: float) -> None:
        if not self._is_set:
            self._seat._waiting = self
            self._seat.park(self._seat.run.now + timeout)
            self._seat._waiting = None

    def set(self) -> None:
        self._is_set = True
        if self._seat._waiting is self:
            self._seat.wake_at = self._seat.run.now

    def clear(self) -> None:
        self._is_set = False
