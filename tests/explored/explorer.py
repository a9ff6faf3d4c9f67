"""Runs schedules under replaced time, one after the other."""

from contextlib import ExitStack, nullcontext
from typing import Any, Final, Self
from unittest.mock import patch

from django.conf import settings
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from common.http import transport
from common.processes import wakeups
from tests.explored.lockstep import Seat, here
from tests.explored.rules import Violation
from tests.explored.runs import START, Choose, Explored, Run
from tests.explored.scenes import OF_A_RUN, Scene
from tests.explored.schedules import Schedule
from webhooks.engine import claims, clocks, dispatcher, sending, slots, wakeup

DELAYS: Final = (4,)  # seconds before each retry
# So that fewer looks find nothing.
LONGER_RESTS: Final = {"REST": 0.05, "LONGEST_REST": 0.25, "LOOK_AGAIN": 0.05}
VACUUMED_AFTER: Final = 500  # runs; rows that are gone would slow down every look
DATABASE_AHEAD: Final = clocks.database_ahead  # as it is, before a test replaces it


class Explorer:
    """Runs schedules, one after the other, with the same threads and sessions."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.seats = [Seat("A"), Seat("B")]
        self.observer: BaseDatabaseWrapper = connection.copy()  # type: ignore[no-untyped-call]
        self.observer.inc_thread_sharing()
        self.ran = 0

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        for module in (dispatcher, sending, slots, claims):
            self._stack.enter_context(patch.object(module, "monotonic", lambda: self.current.now))
        for name, value in LONGER_RESTS.items():
            self._stack.enter_context(patch.object(dispatcher, name, value))
        replaced: tuple[tuple[Any, str, Any], ...] = (
            (wakeup, "waking", lambda *_, **__: nullcontext()),
            (wakeups, "wake", lambda _: self.current.ring()),
            (dispatcher, "sleep", lambda seconds: here.seat.sleep(seconds)),
            (timezone, "now", lambda: self.current.machine_time()),
            (clocks, "database_ahead", DATABASE_AHEAD),
            (transport, "submit_all", lambda *sent: self.current.submit_all(*sent)),
            (transport, "submit", lambda *_, **__: self.current.submit()),
            (settings, "WEBHOOK_RETRY_DELAYS", DELAYS),
        )
        for owner, name, value in replaced:
            self._stack.enter_context(patch.object(owner, name, value))
        return self

    def __exit__(self, *_: object) -> None:
        for seat in self.seats:
            seat.close()
        self.observer.close()
        self._stack.close()

    def run(self, schedule: Schedule, choose: Choose | None = None) -> Explored:
        """`choose` goes on where the schedule says nothing; what it chooses is part of the outcome's schedule."""
        self.current = Run(self.scene, self.seats, self.read, schedule, choose)
        self.ran += 1
        if self.ran % VACUUMED_AFTER == 0:
            with self.observer.cursor() as cursor:
                cursor.execute(f"VACUUM {', '.join(OF_A_RUN)}")
        broken = None
        try:
            self.current.go()
        except Violation as violation:
            broken = str(violation)
        finally:
            self.current.end()
        ended = self.current.now - START
        return Explored(self.current.schedule, self.current.points, self.current.turns, ended, broken)

    def read(self, statement: str) -> list[tuple[Any, ...]]:
        with self.observer.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()
