"""What makes a web request wait for a server that isn't ours (contract, section 15).

    @may_wait_for_strangers
    def view(request): ...
        exchange = strangers.result(transport.submit(url, ...), app.pk)

A request waits freely for half a second, all its waits together. Beyond that it needs a place, which it keeps to its
end; without one the wait ends with `NoPlace`. The places are a set of `common.places`. While every
thread of the process is taken, an app that wasn't quick the last time is waited for freely for a twentieth of a second
only, so that one request after another ends until a thread is free again; and trials (`enter`) begin with a place only.

A view without the mark doesn't wait. Threads that answer no request, such as a worker's, wait without a bound.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from time import monotonic
from typing import Any, Final, Protocol, TypeVar

from django.conf import settings

from common.errors import Unavailable
from common.places import LOOK_EVERY, Places
from common.web import visits
from common.web.visits import Visit

log = logging.getLogger(__name__)

FREE: Final = 0.5  # seconds
CROWDED: Final = 0.05  # seconds, while every thread is taken
QUICK: Final = 0.25  # seconds
MOST_REMEMBERED: Final = 10_000  # apps of which a process knows how long it waited the last time
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


class Bound(Places):
    """The places of those who wait, and how long each app took the last time."""

    def __init__(self, threads: int) -> None:
        super().__init__("strangers", threads)
        self._last_waits: dict[tuple[str, str], float] = {}

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


@lru_cache(maxsize=1)
def bound() -> Bound:
    return Bound(settings.WEB_THREADS)


def result(pending: Pending[T_co], *who: object, about: str = "") -> T_co:
    """Wait for a server of this store and app, the app last. Raises `NoPlace`.

    `about` tells apart what takes the app differently long.
    """
    visit = visits.current()
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
    held = bound().holds(visit)
    if is_marked(visit.view) and not (held is not None and held.issuperset(map(str, who))):
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
    visit = visits.current()
    return pending.result(seconds) if visit is None else _freely(pending, visit, seconds)


def may_wait(*who: object, about: str = "") -> bool:
    """Whether the app may be asked: there is free time left, or a place. Otherwise nothing should be sent."""
    visit = visits.current()
    return (
        visit is None
        or (is_marked(visit.view) and free_time(*who[-1:], about=about) > 0)
        or _take(visit, who)
    )


def last_wait(app: object, *, about: str = "") -> float | None:
    """Seconds; None if this process has never waited for it."""
    return bound().last_wait(str(app), about)


def require(*who: object) -> None:
    """Take a place before a wait that is long for certain, or that may not end early. Raises `NoPlace`."""
    visit = visits.current()
    if visit is not None and not _take(visit, who):
        raise NoPlace


def require_time(*who: object, about: str = "", is_tried: bool = True) -> None:
    """Before a wait that mustn't end early: make sure that it can last. Raises `NoPlace`, and nothing should be sent.

    An app, the last of `who`, that was quick the last time needs no place. One that was slow gets its place now, and an unknown one is
    asked while there are places; without `is_tried` it gets its place now, too.
    """
    took = last_wait(who[-1], about=about)
    if took is None and is_tried and has_room(*who):
        return
    if took is not None and 2 * took < free_time(who[-1], about=about):
        return
    require(*who)


def enter(*who: object) -> None:
    """Begin a trial, on which no purchase depends. While every thread is taken it needs a place at once. Raises `NoPlace`."""
    if visits.current() is not None and bound().is_crowded:
        require(*who)


def has_room(*who: object) -> bool:
    """Whether there is a place for a request of these at this moment."""
    visit = visits.current()
    return visit is None or bound().holds(visit) is not None or bound().has_room(who)


def free_time(app: object = "", *, about: str = "") -> float:
    """Seconds that this request may still wait for the app without a place."""
    visit = visits.current()
    if visit is None:
        return LONGEST
    return max(0.0, bound().free_time(last_wait(app, about=about)) - visit.waited)


def was_refused() -> bool:
    """Whether a wait of this request ended for want of a place."""
    visit = visits.current()
    return visit is not None and visit.was_refused


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
    may_wait_here = is_marked(visit.view)
    has_place = may_wait_here and bound().take(visit, who)
    visit.was_refused |= not has_place
    if not may_wait_here:
        log.error("%s waits for servers of others, and its view isn't marked so", visit.request.path)
    return has_place
