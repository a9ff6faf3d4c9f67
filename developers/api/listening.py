"""A listener's request for work: it waits for deliveries and hook calls in a thread of this web process.

Only `settings.LISTENER_THREADS` requests of a process wait. A further one gets what is there and comes back in a second,
which is often enough for its heartbeat.
"""

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from time import monotonic
from typing import Final
from uuid import UUID

from django.conf import settings

from common.errors import Coded, Conflict, NotFound
from common.processes import wakeups
from extensions.hooks import relaying as calls
from extensions.hooks.relaying import Handed
from marketplace.models import App
from webhooks.engine import listeners
from webhooks.engine import relaying as deliveries
from webhooks.engine.claims import Claim
from webhooks.messages.message import Message

BEAT_EVERY: Final = 1.0  # seconds
PAUSE: Final = 1.0  # seconds until the next request of a listener for which no thread was free

REPLACED: Final = Coded("Another command line listens for this app now.", code="listener_replaced")
ENDED: Final = Coded("This listener has ended. Start another one.", code="listener_ended")


@dataclass(frozen=True, slots=True)
class ListenerWork:
    """`pause`: seconds until the listener should ask again."""

    deliveries: list[tuple[Claim, Message]] = field(default_factory=list)
    calls: list[Handed] = field(default_factory=list)
    pause: float = 0.0


def wait_for_work(
    app: App,
    listener: tuple[int, UUID | None],
    *,
    busy: Collection[str],
    room: int,
    seconds: float,
    authenticate: Callable[[], object],
    has_left: Callable[[], bool],
) -> ListenerWork:
    """What has come, as soon as something has, and after `seconds` at the latest.

    `listener` is as for `beat`. `authenticate` raises once the token no longer works; it is asked each second. `has_left`: whether the client has
    hung up; it is asked before anything is handed out. Raises `Conflict` if another listener has replaced this one,
    `NotFound` if it has ended.
    """
    slot, _ = listener
    store = listeners.store_of(slot)
    with _thread() as granted:
        end, beat_at = monotonic() + (seconds if granted else 0.0), 0.0
        while True:
            if monotonic() >= beat_at:
                authenticate()
                beat(app, listener)
                beat_at = monotonic() + BEAT_EVERY
            if has_left():
                return ListenerWork()
            work = ListenerWork(
                deliveries.take(slot, busy=busy, most=room) if room else [],
                calls.take(app, store=store),
                0.0 if granted else PAUSE,
            )
            left = end - monotonic()
            if work.deliveries or work.calls or left <= 0:
                return work
            wakeups.wait(listeners.wakeup(slot), min(left, BEAT_EVERY))


def beat(app: App, listener: tuple[int, UUID | None]) -> None:
    """`listener`: its slot, and the only test store that it is for."""
    slot, store = listener
    if not listeners.beat(slot, app=app):
        raise Conflict(REPLACED) if listeners.is_replaced(app, store) else NotFound(ENDED)


@lru_cache(maxsize=1)
def threads() -> threading.BoundedSemaphore:
    """One for each request that may wait in this process."""
    return threading.BoundedSemaphore(max(1, settings.LISTENER_THREADS))


@contextmanager
def _thread() -> Iterator[bool]:
    """Whether this request may wait."""
    free = threads()
    granted = free.acquire(blocking=False)
    try:
        yield granted
    finally:
        if granted:
            free.release()
