"""Rate limits: a fixed window with one round trip to the cache server; what one person may do; and guesses of secrets (contract, section 9).

A window lasts 60 seconds, or as long as the caller asks for, from the whole second of its first request. Refused requests
are counted but don't extend it.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, NoReturn, Protocol, Self, TypeVar, cast

import redis
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.translation import ngettext
from django_ratelimit.core import get_usage

from common.errors import TooManyRequests
from common.observability.metrics import NOT_LIMITED
from common.processes import redis_client as cache_server
from common.secrets import digest
from common.web.client_address import client_network

log = logging.getLogger(__name__)

WINDOW = 60  # seconds

# KEYS[1] is the bucket, ARGV[1] the current time and ARGV[2] the window, in whole seconds of the caller's clock; ARGV[3] the amount.
# Returns the count and the end of the window.
COUNT_SCRIPT = """
local ends = tonumber(redis.call('HGET', KEYS[1], 'ends'))
if not ends or ends <= tonumber(ARGV[1]) then
    ends = ARGV[1] + ARGV[2]
    redis.call('DEL', KEYS[1])
    redis.call('HSET', KEYS[1], 'count', 0, 'ends', ends)
    redis.call('EXPIRE', KEYS[1], ARGV[2] + 1)
end
return {redis.call('HINCRBY', KEYS[1], 'count', ARGV[3]), ends}
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

    @property
    def less_one(self) -> Self:
        """Once the request has been taken back."""
        return replace(self, count=self.count - 1)

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
    def count(self, bucket: str, now: int, window: int = WINDOW, amount: int = 1) -> tuple[int, int]:
        """Count a request, or several. Returns the number in this window and the window's end in Unix seconds."""

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

    def count(self, bucket: str, now: int, window: int = WINDOW, amount: int = 1) -> tuple[int, int]:
        count, ends = self._count(keys=[self._key(bucket)], args=[now, window, amount])
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

    def count(self, bucket: str, now: int, window: int = WINDOW, amount: int = 1) -> tuple[int, int]:
        with self._lock:
            count, ends = self._buckets.get(bucket, (0, 0))
            if ends <= now:
                self._drop_ended(now)
                count, ends = 0, now + window
            self._buckets[bucket] = (count + amount, ends)
            return count + amount, ends

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


def consume(bucket: str, *, limit: int, window: int = WINDOW, amount: int = 1) -> RateState:
    """Count one request in `bucket`, or one that is worth several. It has `limit` in `window` seconds.

    While the cache server can't be reached, every request passes: the limit protects the service from a single app and
    must not block all of them.
    """
    moment = time.time()
    now = int(moment)
    try:
        count, ends = counter().count(bucket, now, window, amount)
    except redis.RedisError as error:
        NOT_LIMITED.labels(bucket.partition(":")[0]).inc()
        log.debug("not counted: %s", error)
        count, ends = 1, now + window
    return RateState(limit=limit, count=count, reset=ends, retry_after=max(1, ends - now))


def uncount(bucket: str) -> None:
    """Take back a request that `consume` counted."""
    with suppress(redis.RedisError):
        counter().undo(bucket)


# --- One person --------------------------------------------------------------------------------------

# Each raises `TooManyRequests`. While the cache server can't be reached, everything passes.

PERSON_REQUESTS: Final = 600  # a minute (contract, section 15, "Lengths")


def count_request(user: AbstractBaseUser) -> None:
    """Count a call of the developer API, or a form sent in the portal or the merchant's dashboard, however much it changes."""
    count(user, "requests", PERSON_REQUESTS, "requests", "rate_limited")


def count(user: AbstractBaseUser, group: str, limit: int, what: str, code: str) -> None:
    state = consume(f"{group}:{user.pk}", limit=limit)
    if not state.allowed:
        message = f"More than {limit} {what} in a minute. Try again in {state.retry_after} seconds."
        raise TooManyRequests(message, retry_after=state.retry_after, code=code)


# --- Guesses -----------------------------------------------------------------------------------------

# django-ratelimit counts requests. Attempts to sign in are counted as for the app API, since they
# are taken back when the secret was right, and their window grows. While the cache server can't be reached, each process counts
# for itself, so that people can still sign in. `AUTH_RATE_LIMITS=off` lifts the limits, with `DEBUG` only.

PER_ADDRESS: Final = 60  # a minute
LONGEST_DELAY: Final = 3600  # seconds
REMEMBERED: Final = 24 * 3600  # seconds for which failures lengthen the delay

T = TypeVar("T")
_own_counter = LocalCounter()


def limit_by_address(request: HttpRequest, group: str, *, per_minute: int = PER_ADDRESS) -> None:
    """Count one request of the client's network. Raises `TooManyRequests`."""
    limit(request, group, key=client_network(request), per_minute=per_minute)


def limit(request: HttpRequest, group: str, *, key: str, per_minute: int) -> None:
    """Count one request for `key` within `group`. Raises `TooManyRequests` above the limit."""
    if not settings.AUTH_RATE_LIMITS:
        return
    try:
        usage = get_usage(
            request, group=group, key=lambda group, request: key, rate=f"{per_minute}/m", increment=True
        )
    except (redis.RedisError, OSError):
        _count(group, key, per_minute, WINDOW)
    else:
        if usage and usage["should_limit"]:  # the second in which a window ends counts as its last one
            _refuse(int(usage["time_left"]) + 1)


def limit_attempts(request: HttpRequest, group: str) -> None:
    """Count one attempt of the client's network, which `undo_attempt` takes back. Raises `TooManyRequests`."""
    _count(group, client_network(request), PER_ADDRESS, WINDOW)


def undo_attempt(request: HttpRequest, group: str) -> None:
    _ask(group, lambda counts: counts.undo(_bucket(group, client_network(request))))


def limit_failures(group: str, *, key: str, per_window: int) -> None:
    """Count one attempt at a secret as failed. Raises `TooManyRequests`.

    The first window is a minute. Every `per_window` failures within a day double the next window, up to an hour, which
    limits guessing to some 300 attempts a day. Call `forget_failures` after the right secret.
    """
    total = f"{group}-total"
    failures = _ask(group, lambda counts: counts.read(_bucket(total, key), int(time.time())))
    _count(group, key, per_window, min(WINDOW * 2 ** min(failures // per_window, 10), LONGEST_DELAY))
    _ask(group, lambda counts: counts.count(_bucket(total, key), int(time.time()), REMEMBERED))


def limit_in(group: str, *, key: str, most: int, seconds: int) -> None:
    """Count one for `key` in a window of so many seconds. Raises `TooManyRequests` above the most."""
    _count(group, key, most, seconds)


def forget_failures(group: str, *, key: str) -> None:
    """Forget all failures of `key`."""
    _ask(group, lambda counts: counts.forget(_bucket(group, key), _bucket(f"{group}-total", key)))


def _count(group: str, key: str, most: int, window: int) -> None:
    if not settings.AUTH_RATE_LIMITS:
        return
    now = int(time.time())
    count, ends = _ask(group, lambda counts: counts.count(_bucket(group, key), now, window), metered=True)
    if count > most:
        _refuse(max(1, ends - now))


def _refuse(wait: int) -> NoReturn:
    words = ngettext(
        "Too many attempts. Try again in %(seconds)d second.",
        "Too many attempts. Try again in %(seconds)d seconds.",
        wait,
    )
    raise TooManyRequests(words % {"seconds": wait}, retry_after=wait, code="too_many_attempts")


def _bucket(group: str, key: str) -> str:
    """Keys are e-mail and IP addresses, so only their digests are stored."""
    return f"{group}:{digest(key)}"


def _ask(group: str, question: Callable[[Counter], T], *, metered: bool = False) -> T:
    try:
        return question(counter())
    except redis.RedisError as error:
        if metered:
            NOT_LIMITED.labels(group).inc()
        log.warning("%s is counted by this process alone: %s", group, error)
        return question(_own_counter)
