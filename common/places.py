"""How many requests of a process may take long at once (contract, section 15, "Threads").

A process has two sets of places, each for a quarter of its threads: one for requests that wait for servers of others
(`common.strangers`), and one for work of our own that can last longer than half a second:

    places.require(Work.PICTURE)

The request keeps its place to its end. One person, app or store has at most half of a set.
Threads that answer no request, such as a worker's, need no place.
"""

import logging
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from threading import Condition
from time import monotonic
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext as _

from common.db import transactions
from common.errors import Unavailable
from common.observability.metrics import PLACES_TAKEN
from common.web import visits
from common.web.client_address import client_network
from common.web.visits import Visit

log = logging.getLogger(__name__)

WAIT: Final = 5.0  # seconds for a place of our own work
LOOK_EVERY: Final = 0.05  # seconds, at whether it is crowded
RETRY_AFTER: Final = 5  # seconds


class Work(StrEnum):
    """All work of our own that can last longer than half a second within a request. The value says it in the log."""

    PICTURE = "decoding a picture"
    TEXT = "reading a page's text"
    MANIFEST = "checking a manifest"
    PASSWORD = "hashing a password"  # noqa: S105
    TEST_STORE = "opening a test store"
    SEARCH = "a search"
    EXPORT = "an export"
    ROWS = "rows of a shop"
    FIGURES = "an app's figures"


class Busy(Unavailable):
    """All places of our own work are taken."""

    def __init__(self) -> None:
        message = _("The service is busy at the moment. Try again in a few seconds.")
        super().__init__(message, retry_after=RETRY_AFTER, code="service_busy")


class Places:
    """One set. A request may wait for a place while a thread is free for others, and begins to only while a quarter is."""

    def __init__(self, name: str, threads: int) -> None:
        self.threads = threads
        self.number = max(1, threads // 4)
        self.for_each = max(1, self.number // 2)
        self._gauge = PLACES_TAKEN.labels(name)
        self._changed = Condition()
        self._holds: dict[Visit, set[str]] = {}
        self._taken_by: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()

    @property
    def is_crowded(self) -> bool:
        """Whether every thread of the process is taken."""
        return len(visits.in_progress) >= self.threads

    def holds(self, visit: Visit) -> frozenset[str] | None:
        """For whom its place counts; None without a place."""
        found = self._holds.get(visit)
        return None if found is None else frozenset(found)

    def take(self, visit: Visit, who: Iterable[object], *, wait: float = 0.0) -> bool:
        """Give the visit a place that counts for these, too. Whether it has one now, or within `wait` seconds."""
        names = set(map(str, who))
        with self._changed:
            return self._give(visit, names) or bool(wait and self._wait(visit, names, monotonic() + wait))

    def _wait(self, visit: Visit, names: set[str], until: float) -> bool:
        free = self.threads - len(visits.in_progress)
        if free < self.number or any(self._waiting[each] >= self.number for each in names):
            return False
        self._waiting.update(names)
        try:
            while not self.is_crowded and (left := until - monotonic()) > 0:
                if self._changed.wait_for(lambda: self._give(visit, names), min(left, LOOK_EVERY)):
                    return True
            return False
        finally:
            self._waiting.subtract(names)
            self._waiting += Counter()  # without those that have none

    def has_room(self, who: Iterable[object]) -> bool:
        with self._changed:
            return self._has_room(map(str, who), needs_place=True)

    def _give(self, visit: Visit, names: set[str]) -> bool:
        more = names - self._holds.get(visit, set())
        if not self._has_room(more, needs_place=visit not in self._holds):
            return False
        if visit not in self._holds:
            self._holds[visit] = set()
            self._gauge.inc()
            visit.at_end.append(lambda: self._leave(visit))
        self._taken_by.update(more)
        self._holds[visit] |= more
        return True

    def _has_room(self, who: Iterable[str], *, needs_place: bool) -> bool:
        is_full = needs_place and len(self._holds) >= self.number
        return not is_full and all(self._taken_by[each] < self.for_each for each in who)

    def _leave(self, visit: Visit) -> None:
        with self._changed:
            self._taken_by.subtract(self._holds.pop(visit))
            self._taken_by += Counter()  # without those that have none
            self._gauge.dec()
            self._changed.notify_all()


@lru_cache(maxsize=1)
def own_work() -> Places:
    return Places("own_work", settings.WEB_THREADS)


def require(work: Work) -> None:
    """Take a place for work of our own, which the request keeps to its end. Raises `Busy` after five seconds without one.

    A request that holds locks doesn't wait, so call it before a transaction begins.
    """
    visit = visits.current()
    if visit is None or own_work().holds(visit) is not None:
        return
    # Sign-ins from one network, which may be that of a whole school, are limited by the minute.
    who = [] if work == Work.PASSWORD else [_who(visit.request)]
    if not own_work().take(visit, who, wait=0.0 if transactions.is_open() else WAIT):
        log.warning("No place for %s at %s", work, visit.request.path)
        raise Busy


def _who(request: HttpRequest) -> str:
    person: Any = getattr(request, "user", None)
    return str(person.pk) if person and person.is_authenticated else client_network(request)
