"""One bound for whatever makes a web request wait for a server that isn't ours (contract, section 15).

    @may_wait_for_strangers
    def view(request): ...
        exchange = strangers.result(transport.submit(url, ...), app.pk)

A request waits freely for half a second, all its waits together. Beyond that it needs a place, which it keeps to its
end; without one the wait ends with `NoPlace`. A process has places for a quarter of its threads, and one app or store
has at most half of them. While every thread of the process is taken, an app that wasn't quick the last time is waited for
freely for a twentieth of a second only, so that one request after another ends until a thread is free again; and trials
(`enter`) begin with a place only.

A view without the mark doesn't wait. Threads that answer no request, such as a worker's, wait without a bound.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from time import monotonic
from typing import Any, Final, Protocol, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from common.errors import Unavailable
from common.observability.metrics import PLACES_TAKEN

log = logging.getLogger(__name__)

FREE: Final = 0.5  # seconds
CROWDED: Final = 0.05  # seconds, while every thread is taken
QUICK: Final = 0.25  # seconds
MOST_REMEMBERED: Final = 10_000  # apps of which a process knows how long it waited the last time
LOOK_EVERY: Final = 0.05  # seconds, at whether it is crowded
LONGEST: Final = 60.0  # seconds; whatever is waited for ends by itself long before
RETRY_AFTER: Final = 10  # seconds; few waits take longer
NO_PLACE: Final = "Too many requests are waiting for apps' servers at the moment. Try again in a few seconds."

T_co = TypeVar("T_co", covariant=True)
View = TypeVar("View", bound=Callable[..., Any])


class NoPlace(Unavailable):
    """The request may not wait any longer."""

    def __init__(self) -> None:
        super().__init__(NO_PLACE, retry_after=RETRY_AFTER, code="too_many_waiting")


class Pending(Protocol[T_co]):
    """What is waited for. A `Future` is one. `result` raises `TimeoutError` if it isn't there after `timeout` seconds."""

    def result(self, timeout: float) -> T_co: ...

    def cancel(self) -> object: ...


def may_wait_for_strangers(view: View) -> View:
    """Mark a view, or a class of views, that waits for servers of others."""
    view.waits_for_strangers = True  # type: ignore[attr-defined]
    return view


def is_marked(view: object) -> bool:
    return any(
        getattr(each, "waits_for_strangers", False)
        for each in (view, getattr(view, "cls", None), getattr(view, "view_class", None))
    )


class Visit:
    """A web request in progress. `holds` are the apps and stores for which its place counts."""

    __slots__ = ("has_place", "holds", "is_marked", "name", "waited", "was_refused")

    def __init__(self) -> None:
        self.name = ""
        self.is_marked = self.has_place = self.was_refused = False
        self.waited = 0.0  # seconds without a place
        self.holds: set[str] = set()


class Bound:
    """The visits of a process with so many web threads, and their places."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.places = max(1, threads // 4)
        self.for_each = max(1, self.places // 2)
        self.visits: set[Visit] = set()
        self._lock = threading.Lock()
        self._taken = 0
        self._taken_by: Counter[str] = Counter()
        self._last_waits: dict[tuple[str, str], float] = {}

    @property
    def is_crowded(self) -> bool:
        return len(self.visits) >= self.threads

    def free_time(self, last_wait: float | None) -> float:
        """Seconds that a request may wait without a place, by how long it took the last time."""
        is_quick = last_wait is not None and last_wait < QUICK
        return FREE if is_quick or not self.is_crowded else CROWDED

    def last_wait(self, app: str, about: str) -> float | None:
        return self._last_waits.get((app, about))

    def remember(self, app: str, about: str, seconds: float) -> None:
        if len(self._last_waits) >= MOST_REMEMBERED:
            self._last_waits.clear()
        self._last_waits[app, about] = seconds

    def take(self, visit: Visit, who: Iterable[object]) -> bool:
        """Give the visit a place that counts for these, too. Whether it has one now."""
        with self._lock:
            more = set(map(str, who)) - visit.holds
            if not self._has_room(more, needs_place=not visit.has_place):
                return False
            if not visit.has_place:
                self._taken += 1
                PLACES_TAKEN.inc()
            self._taken_by.update(more)
            visit.has_place = True
            visit.holds |= more
            return True

    def has_room(self, who: Iterable[object]) -> bool:
        with self._lock:
            return self._has_room(map(str, who), needs_place=True)

    def leave(self, visit: Visit) -> None:
        if visit.has_place:
            with self._lock:
                self._taken -= 1
                PLACES_TAKEN.dec()
                self._taken_by.subtract(visit.holds)
                self._taken_by += Counter()  # without those that have none
        self.visits.discard(visit)

    def _has_room(self, who: Iterable[str], *, needs_place: bool) -> bool:
        is_full = needs_place and self._taken >= self.places
        return not is_full and all(self._taken_by[each] < self.for_each for each in who)


@lru_cache(maxsize=1)
def bound() -> Bound:
    return Bound(settings.WEB_THREADS)


class StrangersMiddleware:
    """Knows which requests are in progress, on which thread, and whether their views are marked."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        within, outer, visit = bound(), _visit(), Visit()
        within.visits.add(visit)
        _here.visit = visit
        try:
            return self.get_response(request)
        finally:
            _here.visit = outer
            within.leave(visit)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> None:
        visit = _visit()
        if visit is not None:
            visit.is_marked, visit.name = is_marked(view), request.path


def result(pending: Pending[T_co], *who: object, about: str = "") -> T_co:
    """Wait for a server of this store and app, the app last. Raises `NoPlace`.

    `about` tells apart what takes the app differently long.
    """
    visit = _visit()
    if visit is None:
        return pending.result(LONGEST)
    app, began = str(who[-1]) if who else "", monotonic()
    try:
        found = _result(pending, visit, who, bound().last_wait(app, about))
    except NoPlace:
        bound().remember(app, about, LONGEST)
        raise
    bound().remember(app, about, monotonic() - began)
    return found


def _result(pending: Pending[T_co], visit: Visit, who: Sequence[object], last_wait: float | None) -> T_co:
    if visit.is_marked and not (visit.has_place and visit.holds.issuperset(map(str, who))):
        try:
            return _freely(pending, visit, last_wait=last_wait)
        except TimeoutError:
            pass
    if not _take(visit, who):
        pending.cancel()
        raise NoPlace
    return pending.result(LONGEST)


def result_within(pending: Pending[T_co], seconds: float) -> T_co:
    """Wait freely, without ever taking a place. Raises `TimeoutError` at the end of the free time, or after `seconds`."""
    visit = _visit()
    return pending.result(seconds) if visit is None else _freely(pending, visit, seconds)


def may_wait(*who: object, about: str = "") -> bool:
    """Whether the app may be asked: there is free time left, or a place. Otherwise nothing should be sent."""
    visit = _visit()
    return visit is None or (visit.is_marked and free_time(*who[-1:], about=about) > 0) or _take(visit, who)


def last_wait(app: object, *, about: str = "") -> float | None:
    """Seconds; None if this process has never waited for it."""
    return bound().last_wait(str(app), about)


def require(*who: object) -> None:
    """Take a place before a wait that is long for certain, or that may not end early. Raises `NoPlace`."""
    visit = _visit()
    if visit is not None and not _take(visit, who):
        raise NoPlace


def enter(*who: object) -> None:
    """Begin a trial, on which no purchase depends. While every thread is taken it needs a place at once. Raises `NoPlace`."""
    if _visit() is not None and bound().is_crowded:
        require(*who)


def has_room(*who: object) -> bool:
    """Whether there is a place for a request of these at this moment."""
    visit = _visit()
    return visit is None or visit.has_place or bound().has_room(who)


def free_time(app: object = "", *, about: str = "") -> float:
    """Seconds that this request may still wait for the app without a place."""
    visit = _visit()
    if visit is None:
        return LONGEST
    return max(0.0, bound().free_time(last_wait(app, about=about)) - visit.waited)


def was_refused() -> bool:
    """Whether a wait of this request ended for want of a place."""
    visit = _visit()
    return visit is not None and visit.was_refused


_here = threading.local()


def _visit() -> Visit | None:
    return getattr(_here, "visit", None)


def _freely(
    pending: Pending[T_co], visit: Visit, seconds: float = FREE, *, last_wait: float | None = None
) -> T_co:
    began, within = monotonic(), bound()
    try:
        while True:
            waited = monotonic() - began
            left = max(0.0, min(seconds - waited, within.free_time(last_wait) - visit.waited - waited))
            try:
                return pending.result(min(left, LOOK_EVERY))
            except TimeoutError:
                if left <= LOOK_EVERY:
                    raise
    finally:
        visit.waited += monotonic() - began


def _take(visit: Visit, who: Iterable[object]) -> bool:
    has_place = visit.is_marked and bound().take(visit, who)
    visit.was_refused |= not has_place
    if not visit.is_marked:
        log.error("%s waits for servers of others, and its view isn't marked so", visit.name)
    return has_place
