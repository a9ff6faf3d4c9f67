"""Which uses of an authorization code are answered side by side (docs/decisions/0013).

Of many uses sent at once, those that wait in the server's queue reach us only after the first was answered.
By the clock they are later ones, and would cost its token; but they come in company, and soon. A use counts as later
where it meets no other, from its beginning until it is judged, or where no queue is that long.
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
FORGOTTEN_AFTER = 60  # seconds, where a process died with one in hand


@dataclass(frozen=True, slots=True)
class Use:
    key: str
    number: int  # how many there were as it began, itself included; 0 where that can't be told
    arrived: datetime

    def is_later(self, first: datetime) -> bool:
        """Whether it arrived after the first was answered, which is recorded for this time."""
        late = self.arrived - first
        return late > LONGEST_QUEUE or (late >= timedelta(0) and self.is_alone())

    def is_alone(self) -> bool:
        """While the cache server can't be reached every use is: the clock alone decides then."""
        return self.number <= 1 and _count(self.key, 0) <= 1


@contextmanager
def use_of(code: str) -> Iterator[Use]:
    """Count a use while it is answered: over all processes with Redis, over the only one without."""
    key = f"oauth-code:{digest(code)}"
    arrived = timezone.now()
    use = Use(key, _count(key, 1), arrived)
    try:
        yield use
    finally:
        if use.number:
            _count(key, -1)


def _count(key: str, more: int) -> int:
    """Add to the number of uses, and give it; 0 where the cache does not answer."""
    try:
        cache.add(key, 0, FORGOTTEN_AFTER)
        return int(cache.incr(key, more))
    except (RedisError, OSError, ValueError):  # ValueError: it was forgotten this very moment
        log.warning("uses of a code not counted: the cache does not answer", exc_info=True)
        return 0
