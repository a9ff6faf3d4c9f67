"""Who is awake to send deliveries: a few places, each a key in the cache that lives for seconds.

Only a courtesy. It spares hints where somebody looks for work already, and keeps the sweep from filling a
worker with dispatchers. Two dispatchers in one place, or a cache that can't be reached, do no harm.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from django.core.cache import cache

log = logging.getLogger(__name__)

PLACES = tuple(f"webhooks:awake:{number}" for number in range(2))
LIFE = 5  # seconds that a key outlives its last renewal
RENEWED_EVERY = 1.0  # seconds
PAUSE = 10.0  # seconds until a cache that failed is tried again: one that hangs holds the dispatcher up

# A second dispatcher in the same process would only share its processor.
_in_this_process = threading.Lock()


def anybody() -> bool:
    """Whether a dispatcher is known to be looking for work."""
    with _cache_may_fail():
        return bool(cache.get_many(PLACES))
    return False


class Place:
    """Held by a dispatcher while it takes on work."""

    def __init__(self, key: str) -> None:
        self._key: str | None = key
        self._renew_at = monotonic() + RENEWED_EVERY

    def keep(self) -> None:
        """To be called often; renews the key once a second."""
        if self._key and monotonic() >= self._renew_at:
            self._renew_at = monotonic() + PAUSE
            with _cache_may_fail():
                cache.set(self._key, 1, LIFE)
                self._renew_at = monotonic() + RENEWED_EVERY

    def leave(self) -> None:
        if self._key:
            key, self._key = self._key, None
            _in_this_process.release()
            with _cache_may_fail():
                cache.delete(key)


@contextmanager
def place() -> Iterator[Place | None]:
    """A place among the awake, or None where all are taken or this process has one already."""
    taken = _take()
    try:
        yield taken
    finally:
        if taken:
            taken.leave()


def _take() -> Place | None:
    if not _in_this_process.acquire(blocking=False):
        return None
    key = _free_key()
    if key is None:
        _in_this_process.release()
        return None
    return Place(key)


def _free_key() -> str | None:
    with _cache_may_fail():
        return next((key for key in PLACES if cache.add(key, 1, LIFE)), None)
    return PLACES[0]


@contextmanager
def _cache_may_fail() -> Iterator[None]:
    try:
        yield
    except Exception:
        log.debug("The cache can't be reached.", exc_info=True)
