"""A Redis client with a circuit breaker, so that requests don't wait for a server that doesn't respond.

Callers must be able to continue without Redis. After a failure each command fails at once for `PAUSE`. Then one caller
tries the server again, while the others still fail at once. So an unresponsive server costs each process one timeout
per pause instead of one per request.
"""

import logging
from functools import cache
from typing import Any, Final

import redis
from django.core.cache.backends.redis import RedisCache, RedisCacheClient

from common.processes import sentinel
from common.processes.circuit import Circuit

log = logging.getLogger(__name__)

TIMEOUT: Final = 0.5  # seconds, to connect and for each answer
PAUSE: Final = 5.0  # seconds


class NotAsked(redis.ConnectionError):
    """The server failed a moment ago, so the command was not sent."""


@cache
def circuit(host: str, port: int, path: str) -> Circuit:
    return Circuit(PAUSE, _not_asked)


def _not_asked() -> NotAsked:
    return NotAsked("The cache server did not respond a moment ago.")


class RedisClient(redis.Redis):
    """Sends commands through their server's circuit breaker. Pipelines bypass it: no request uses them."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        at = self.get_connection_kwargs()
        name = getattr(self.connection_pool, "service_name", "")  # of servers behind Sentinel
        server = circuit(at.get("host", name), at.get("port", 0), at.get("path", ""))
        with server.asking(redis.ConnectionError, redis.TimeoutError):
            try:
                return super().execute_command(*args, **options)
            except (redis.ConnectionError, redis.TimeoutError) as error:
                log.warning("Redis is not asked for %g seconds: %s", PAUSE, error)
                raise


def pool(url: str, **options: Any) -> redis.ConnectionPool:
    """Connections to `redis://…`, or by `sentinel://…` to whichever server is the master."""
    if sentinel.is_sentinel(url):
        return sentinel.parse(url).pool(**options)
    return redis.ConnectionPool.from_url(url, **options)


def client(url: str) -> RedisClient:
    return RedisClient(connection_pool=pool(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT))


class Pools:
    """What Django's client takes for a class of connection pools."""

    from_url = staticmethod(pool)


class CacheClient(RedisCacheClient):
    def __init__(self, *args: Any, **options: Any) -> None:
        timeouts = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
        super().__init__(*args, **({"pool_class": Pools} | timeouts | options))
        self._clients: dict[redis.ConnectionPool, RedisClient] = {}

    def get_client(self, key: Any = None, *, write: bool = False) -> RedisClient:
        """One for each pool. Django makes one for each command, which takes longer than to send it."""
        pool = self._get_connection_pool(write)  # type: ignore[attr-defined]  # stubs lack it
        if pool not in self._clients:
            self._clients[pool] = RedisClient(connection_pool=pool)
        return self._clients[pool]


class Cache(RedisCache):
    """Django's Redis cache with this client."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = CacheClient
