"""Slots: a row with a heartbeat for each running dispatcher (docs/decisions/0024).

A dispatcher leases deliveries under its slot. Once its heartbeat stops, others free its leases within five seconds.
The rows also show whether enough dispatchers run, so that Celery starts no more. All times are the database's.
"""

import os
import socket
import threading
from datetime import timedelta
from math import inf
from time import monotonic
from typing import Final

from django.db.models import QuerySet
from django.db.models.functions import Now

from webhooks.models import DispatcherSlot

DISPATCHERS: Final = 2  # that Celery starts
BEAT_EVERY: Final = 1.0  # seconds
COUNT_EVERY: Final = 5  # heartbeats; the second one counts too, since many dispatchers start together
ALIVE_FOR: Final = timedelta(seconds=2.5)  # after the last heartbeat
HOLD_FOR: Final = timedelta(seconds=10)  # beyond a heartbeat, while results can't be recorded
REMOVED_AFTER: Final = timedelta(minutes=1)

_taking = threading.Lock()


def alive() -> QuerySet[DispatcherSlot]:
    """The slots with a recent heartbeat."""
    return DispatcherSlot.objects.filter(seen_at__gte=Now() - ALIVE_FOR)


def holding() -> QuerySet[DispatcherSlot]:
    """The slots whose leases don't end, because they can't record their results."""
    return DispatcherSlot.objects.filter(seen_at__gt=Now(), seen_at__lte=Now() + HOLD_FOR)


def claiming() -> QuerySet[DispatcherSlot]:
    """The slots of dispatchers. The others are listeners'."""
    return alive().filter(is_claiming=True)


class Slot:
    """The slot of one dispatcher. Only the dispatcher's thread may use it."""

    def __init__(self) -> None:
        self.id: int | None = None
        self.beaten_at = -inf  # the last heartbeat, by the monotonic clock
        self.share = 1.0  # how many dispatchers ran for each one that is needed, a few seconds ago
        self._beats = 0
        self._beat_at = 0.0

    def beat(self, *, holding: bool = False) -> None:
        """Update the heartbeat, once a second at most. Call it often.

        `holding`: results can't be recorded, so the leases last for `HOLD_FOR` from now, also beyond their end. This is written
        at each call. Creates the row for a new dispatcher, or for one that was paused so long that its row was deleted.
        """
        began = monotonic()
        if began < self._beat_at and not holding:
            return
        seen_at = Now() + (HOLD_FOR if holding else timedelta())
        if not self._row().update(seen_at=seen_at):
            DispatcherSlot.objects.filter(seen_at__lt=Now() - REMOVED_AFTER).delete()
            self.id = DispatcherSlot.objects.create(process=_process(), seen_at=seen_at).pk
        if self._beats == 1 or self._beats % COUNT_EVERY == 0:
            self.share = max(1.0, claiming().count() / DISPATCHERS)
        self._beats += 1
        self.beaten_at = began
        self._beat_at = monotonic() + BEAT_EVERY

    def leave(self) -> None:
        self._row().delete()

    def _row(self) -> QuerySet[DispatcherSlot]:
        return DispatcherSlot.objects.filter(pk=self.id or 0)


def take() -> Slot | None:
    """A slot for a dispatcher that Celery starts. None if this process already runs one, or enough run elsewhere.

    A second dispatcher in the same process would only share its CPU.
    """
    with _taking:
        processes = list(claiming().values_list("process", flat=True))
        if len(processes) >= DISPATCHERS or _process() in processes:
            return None
        slot = Slot()
        slot.beat()
        return slot


def _process() -> str:
    return f"{socket.gethostname()[:80]}:{os.getpid()}"
