"""Limits on whatever takes a secret: they make guessing slow (contract section 9, "Accounts").

Counted by django-ratelimit in fixed windows of a minute. `AUTH_RATE_LIMITS=off` lifts them with `DEBUG` only.
"""

import logging

from django.conf import settings
from django.http import HttpRequest
from django_ratelimit.core import get_usage
from redis.exceptions import RedisError

from common.clients import client_network
from common.errors import TooManyRequests
from common.metrics import NOT_LIMITED

log = logging.getLogger(__name__)


def limit_by_address(request: HttpRequest, group: str, *, per_minute: int = 60) -> None:
    """Count one request of the client's address. Raises `TooManyRequests`."""
    limit(request, group, key=client_network(request), per_minute=per_minute)


def limit(request: HttpRequest, group: str, *, key: str, per_minute: int) -> None:
    """Count one request against `key` within `group`. Raises `TooManyRequests` for those above the limit.

    While the cache server can't be reached all are let through: people must still be able to sign in.
    """
    if not settings.AUTH_RATE_LIMITS:
        return
    try:
        usage = get_usage(
            request, group=group, key=lambda group, request: key, rate=f"{per_minute}/m", increment=True
        )
    except (RedisError, OSError) as error:
        NOT_LIMITED.labels(group).inc()
        log.warning("%s not counted: %s", group, error)
        return
    if usage and usage["should_limit"]:
        # The library counts the second in which a window ends as its last one.
        wait = int(usage["time_left"]) + 1
        raise TooManyRequests(f"Too many attempts. Try again in {wait} seconds.", retry_after=wait)
