"""Asking Redis without waiting again and again for one that does not answer.

Whoever asks must do without an answer at any time. After a failure the server is left alone for `PAUSE`, and each
command fails at once; then one of the callers tries it, while the others go on without. So a server that
accepts connections and says nothing costs each process one timeout in a while, not each request.
"""

import threading
from functools import cache
from time import monotonic
from typing import Any, Final, cast

import redis
from django.core.cache.backends.redis import RedisCache, RedisCacheClient

TIMEOUT: Final = 0.5  # seconds, to connect and for each answer
PAUSE: Final = 5.0  # seconds


class NotAsked(redis.ConnectionError):
    """The server did not answer a moment ago, and is not asked now."""


class Circuit:
    """Whether a server is worth asking. One for each server in a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open_until: float | None = None

    def enter(self) -> None:
        """Raise `NotAsked` while the server is left alone. The first one after the pause is let through to try."""
        if self._open_until is None:
            return
        with self._lock:
            if self._open_until is not None and monotonic() < self._open_until:
                raise NotAsked("The cache server did not answer a moment ago.")
            self._open_until = monotonic() + PAUSE

    def failed(self) -> None:
        self._open_until = monotonic() + PAUSE

    def answered(self) -> None:
        self._open_until = None


@cache
def circuit(host: str, port: int, path: str) -> Circuit:
    return Circuit()


class Client(redis.Redis):
    """Commands go through the circuit of their server. Pipelines are not used by anything that people wait for."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        at = self.get_connection_kwargs()
        judge = circuit(at.get("host", ""), at.get("port", 0), at.get("path", ""))
        judge.enter()
        try:
            answer = super().execute_command(*args, **options)
        except (redis.ConnectionError, redis.TimeoutError):
            judge.failed()
            raise
        except redis.RedisError:  # it says no: so it answers
            judge.answered()
            raise
        judge.answered()
        return answer


def client(url: str) -> Client:
    made = Client.from_url(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT)
    return cast(Client, made)


class CacheClient(RedisCacheClient):
    def __init__(self, *args: Any, **options: Any) -> None:
        timeouts = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
        super().__init__(*args, **(timeouts | options))
        self._client = Client


class Cache(RedisCache):
    """Django's cache on Redis, by such a client."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = CacheClient
