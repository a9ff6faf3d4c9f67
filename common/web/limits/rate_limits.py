"""A fixed window rate limit with one round trip to the cache server.

A window lasts 60 seconds, or as long as the caller asks for, from the whole second of its first request. Refused requests
are counted but don't extend it.
"""

import logging
import threading
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, cast

import redis
from django.conf import settings
from django.core.cache import cache

from common.observability.metrics import NOT_LIMITED
from common.processes import redis_client as cache_server

log = logging.getLogger(__name__)

WINDOW = 60  # seconds

# KEYS[1] is the bucket, ARGV[1] the current time and ARGV[2] the window, in whole seconds of the caller's clock.
# Returns the count and the end of the window.
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


# Uncounts one request, unless its window has ended.
UNDO_SCRIPT = """
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HINCRBY', KEYS[1], 'count', -1) end
"""


@dataclass(frozen=True, slots=True)
class RateState:
    """The state of a bucket after counting one request."""

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
        """The rate headers of every response, and `Retry-After` if it is refused."""
        headers = {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
        }
        if not self.allowed:
            headers["Retry-After"] = str(self.retry_after)
        return headers


class Counter(Protocol):
    def count(self, bucket: str, now: int, window: int = WINDOW) -> tuple[int, int]:
        """Count one request. Returns the number in this window and the window's end in Unix seconds."""

    def read(self, bucket: str, now: int) -> int:
        """The number in the current window."""

    def undo(self, bucket: str) -> None:
        """Take one request back."""

    def forget(self, *buckets: str) -> None:
        """Take all requests back."""


class RedisCounter:
    """Shared by all processes."""

    def __init__(self, url: str) -> None:
        self._client = cache_server.client(url)
        self._count = self._client.register_script(COUNT_SCRIPT)
        self._undo = self._client.register_script(UNDO_SCRIPT)

    def count(self, bucket: str, now: int, window: int = WINDOW) -> tuple[int, int]:
        count, ends = self._count(keys=[self._key(bucket)], args=[now, window])
        return int(count), int(ends)

    def read(self, bucket: str, now: int) -> int:
        count, ends = cast(Any, self._client.hmget(self._key(bucket), "count", "ends"))
        return int(count) if count and int(ends) > now else 0

    def undo(self, bucket: str) -> None:
        self._undo(keys=[self._key(bucket)])

    def forget(self, *buckets: str) -> None:
        self._client.delete(*map(self._key, buckets))

    @staticmethod
    def _key(bucket: str) -> str:
        return cache.make_key(f"rate:{bucket}")


class LocalCounter:
    """For a single process, as in the demo."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[int, int]] = {}

    def count(self, bucket: str, now: int, window: int = WINDOW) -> tuple[int, int]:
        with self._lock:
            count, ends = self._buckets.get(bucket, (0, 0))
            if ends <= now:
                self._drop_ended(now)
                count, ends = 0, now + window
            self._buckets[bucket] = (count + 1, ends)
            return count + 1, ends

    def read(self, bucket: str, now: int) -> int:
        count, ends = self._buckets.get(bucket, (0, 0))
        return count if ends > now else 0

    def undo(self, bucket: str) -> None:
        with self._lock:
            if bucket in self._buckets:
                count, ends = self._buckets[bucket]
                self._buckets[bucket] = (count - 1, ends)

    def forget(self, *buckets: str) -> None:
        for bucket in buckets:
            self._buckets.pop(bucket, None)

    def _drop_ended(self, now: int) -> None:
        if len(self._buckets) > 10_000:
            self._buckets = {key: state for key, state in self._buckets.items() if state[1] > now}


@lru_cache(maxsize=1)
def counter() -> Counter:
    return RedisCounter(settings.REDIS_URL) if settings.REDIS_URL else LocalCounter()


def consume(bucket: str, *, limit: int, window: int = WINDOW) -> RateState:
    """Count one request in `bucket`, which has `limit` in `window` seconds.

    While the cache server can't be reached, every request passes: the limit protects the service from a single app and
    must not block all of them.
    """
    moment = time.time()
    now = int(moment)
    try:
        count, ends = counter().count(bucket, now, window)
    except redis.RedisError as error:
        NOT_LIMITED.labels(bucket.partition(":")[0]).inc()
        log.debug("not counted: %s", error)
        count, ends = 1, now + window
    return RateState(limit=limit, count=count, reset=ends, retry_after=max(1, ends - now))
