"""A fixed window counter with one round trip to the cache server.

A window is 60 seconds from the whole second of its first request. Its end stays the same for all that
arrive within it; refused requests are counted but do not lengthen it.
"""

import logging
import threading
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import redis
from django.conf import settings
from django.core.cache import cache

from common import cache_server
from common.metrics import NOT_LIMITED

log = logging.getLogger(__name__)

WINDOW = 60  # seconds

# KEYS[1] the bucket, ARGV[1] now, ARGV[2] the window: all by the caller's clock, in whole seconds.
# Answers the count and the end of the window.
COUNT_SCRIPT = """
local ends = tonumber(redis.call('HGET', KEYS[1], 'ends'))
if not ends or ends <= tonumber(ARGV[1]) then
    ends = ARGV[1] + ARGV[2]
    redis.call('DEL', KEYS[1])
    redis.call('HSET', KEYS[1], 'count', 0, 'ends', ends)
    redis.call('EXPIRE', KEYS[1], ARGV[2] + 1)
end
return {redis.call('HINCRBY', KEYS[1], 'count', 1), ends}
"""


@dataclass(frozen=True, slots=True)
class RateState:
    """Where a bucket stands after counting one request."""

    limit: int
    count: int
    reset: int  # Unix seconds: the end of the window
    retry_after: int  # seconds from now to `reset`, at least 1

    @property
    def allowed(self) -> bool:
        return self.count <= self.limit

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.count)

    def headers(self) -> dict[str, str]:
        """The rate headers of every answer, and `Retry-After` on a refusal."""
        headers = {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
        }
        if not self.allowed:
            headers["Retry-After"] = str(self.retry_after)
        return headers


class Counter(Protocol):
    def count(self, bucket: str, now: int) -> tuple[int, int]:
        """Count one request; the number in this window and the window's end (Unix seconds)."""


class RedisCounter:
    """Shared by all processes."""

    def __init__(self, url: str) -> None:
        self._script = cache_server.client(url).register_script(COUNT_SCRIPT)

    def count(self, bucket: str, now: int) -> tuple[int, int]:
        count, ends = self._script(keys=[cache.make_key(f"rate:{bucket}")], args=[now, WINDOW])
        return int(count), int(ends)


class LocalCounter:
    """For one process, as in the demo."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[int, int]] = {}

    def count(self, bucket: str, now: int) -> tuple[int, int]:
        with self._lock:
            count, ends = self._buckets.get(bucket, (0, 0))
            if ends <= now:
                self._drop_ended(now)
                count, ends = 0, now + WINDOW
            self._buckets[bucket] = (count + 1, ends)
            return count + 1, ends

    def _drop_ended(self, now: int) -> None:
        if len(self._buckets) > 10_000:
            self._buckets = {key: state for key, state in self._buckets.items() if state[1] > now}


@lru_cache(maxsize=1)
def counter() -> Counter:
    return RedisCounter(settings.REDIS_URL) if settings.REDIS_URL else LocalCounter()


def consume(bucket: str, *, limit: int) -> RateState:
    """Count one request against `bucket`.

    While the cache server can't be reached every request is let through: the limit protects the service
    from one app, and must not take it from all.
    """
    moment = time.time()
    now = int(moment)
    try:
        count, ends = counter().count(bucket, now)
    except redis.RedisError as error:
        NOT_LIMITED.labels(bucket.partition(":")[0]).inc()
        # Once for each time that the server was asked, not for every request meanwhile.
        log.log(
            logging.DEBUG if isinstance(error, cache_server.NotAsked) else logging.WARNING,
            "not counted: %s",
            error,
        )
        count, ends = 1, now + WINDOW
    return RateState(limit=limit, count=count, reset=ends, retry_after=max(1, ends - now))
