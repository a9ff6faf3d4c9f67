"""Tells replays of an authorization code from requests that were sent at the same time (docs/decisions/0013).

An app may send the same exchange several times at once. Some of these requests wait in the server's queue and are read
after the first was answered. By the clock they look like replays, which end the token. But they arrive together and
within seconds, so we don't treat them as replays: a use counts as a replay if it overlaps no other use, or if it arrives
later than any queue could explain.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.cache import cache
from django.utils import timezone
from redis.exceptions import RedisError

from common.secrets import digest

log = logging.getLogger(__name__)

LONGEST_QUEUE = timedelta(seconds=10)
FORGOTTEN_AFTER = 60  # seconds, for a process that died during a use
# One integer counts started uses (in steps of this) and running ones (in ones), so one round trip updates both.
STARTED = 1 << 20


@dataclass(frozen=True, slots=True)
class Use:
    key: str
    count: int  # when it started, itself included; 0 if the cache did not answer
    arrived: datetime

    def is_replay(self, exchanged_at: datetime) -> bool:
        """Whether it arrived after the exchange was recorded, and not together with other uses."""
        late = self.arrived - exchanged_at
        return late > LONGEST_QUEUE or (late >= timedelta(0) and self.is_alone())

    def is_alone(self) -> bool:
        """Whether no other use was running when it started, and none has started since.

        Always true while the cache can't be reached: then only the clock decides.
        """
        return self.count % STARTED <= 1 and _count(self.key, 0) // STARTED <= self.count // STARTED


@contextmanager
def use_of(code: str) -> Iterator[Use]:
    """Counts a use while it is answered, over all processes if they share Redis."""
    key = f"oauth-code:{digest(code)}"
    arrived = timezone.now()
    use = Use(key, _count(key, STARTED + 1), arrived)
    try:
        yield use
    finally:
        if use.count:
            _count(key, -1)


def _count(key: str, more: int) -> int:
    """Add to the count of uses and return it; 0 if the cache does not answer."""
    try:
        cache.add(key, 0, FORGOTTEN_AFTER)
        return int(cache.incr(key, more))
    except (RedisError, OSError, ValueError):  # ValueError: it expired at this moment
        log.warning("uses of a code not counted: the cache does not answer", exc_info=True)
        return 0
