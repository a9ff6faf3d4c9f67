"""Rate limits for endpoints that accept secrets, to slow down guessing (contract, section 9).

django-ratelimit counts requests. Attempts to sign in are counted as for the app API (`common.web.limits.rate_limits`), since they
are taken back when the secret was right, and their window grows. While the cache server can't be reached, each process counts
for itself, so that people can still sign in. `AUTH_RATE_LIMITS=off` lifts the limits, with `DEBUG` only.
"""

import logging
import time
from collections.abc import Callable
from typing import Final, NoReturn, TypeVar

import redis
from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import ngettext
from django_ratelimit.core import get_usage

from common.errors import TooManyRequests
from common.observability.metrics import NOT_LIMITED
from common.secrets import digest
from common.web.limits.client_address import client_network
from common.web.limits.rate_limits import WINDOW, Counter, LocalCounter, counter

log = logging.getLogger(__name__)

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


def limit_attempts(request: HttpRequest, group: str, *, per_minute: int = PER_ADDRESS) -> None:
    """Count one attempt of the client's network, which `undo_attempt` takes back. Raises `TooManyRequests`."""
    _count(group, client_network(request), per_minute, WINDOW)


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
