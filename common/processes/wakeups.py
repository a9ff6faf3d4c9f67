"""Wakes threads that wait for something in the database, in this process or in another one.

    wakeups.wait(f"listener:{slot}", 1.0)    # returns at `wakeups.wake(f"listener:{slot}")`, or after a second at most

Only a hint: who waits looks into the database after each return, and at least every `wakeups.patience()` seconds. With
Redis a hint crosses processes. Without, it reaches threads of this process only, so threads look more often.
"""

import logging
import threading
import time
from functools import lru_cache
from typing import Any, Final, Protocol

import redis
from django.conf import settings
from django.core.cache import cache

from common.processes import redis_client as cache_server

log = logging.getLogger(__name__)

KEPT: Final = 60  # seconds that Redis keeps a hint that no thread waits for
# At most one hint waits for each name.
WAKE_SCRIPT: Final = """
redis.call('DEL', KEYS[1])
redis.call('RPUSH', KEYS[1], '1')
redis.call('EXPIRE', KEYS[1], ARGV[1])
"""


class Wakeups(Protocol):
    patience: float  # seconds between two looks into the database

    def wake(self, name: str) -> None: ...

    def wait(self, name: str, seconds: float) -> bool: ...


class RedisWakeups:
    """Between processes. While Redis fails, threads look as often as without."""

    patience = 1.0

    def __init__(self, url: str) -> None:
        self._client = cache_server.client(url)
        self._wake = self._client.register_script(WAKE_SCRIPT)
        # Answers come when there is a hint, so this client waits longer for them than others may.
        pool = cache_server.pool(
            url, socket_timeout=self.patience + 1.0, socket_connect_timeout=cache_server.TIMEOUT
        )
        self._waiting: Any = redis.Redis(connection_pool=pool)

    def wake(self, name: str) -> None:
        try:
            self._wake(keys=[self._key(name)], args=[KEPT])
        except redis.RedisError as error:
            log.debug("no wake-up: %s", error)

    def wait(self, name: str, seconds: float) -> bool:
        seconds = max(0.01, min(seconds, self.patience))  # 0 would mean forever
        try:
            return bool(self._waiting.blpop([self._key(name)], timeout=seconds))
        except redis.RedisError as error:
            log.debug("no wake-ups: %s", error)
            time.sleep(min(seconds, LocalWakeups.patience))
            return False

    @staticmethod
    def _key(name: str) -> str:
        return cache.make_key(f"wake:{name}")


class LocalWakeups:
    """For a single process, as in the demo."""

    patience = 0.1

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._hints: dict[str, float] = {}  # by name, when they came

    def wake(self, name: str) -> None:
        now = time.monotonic()
        with self._changed:
            self._hints = {each: at for each, at in self._hints.items() if now - at < KEPT}
            self._hints[name] = now
            self._changed.notify_all()

    def wait(self, name: str, seconds: float) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: name in self._hints, min(seconds, self.patience))
            return self._hints.pop(name, None) is not None


@lru_cache(maxsize=1)
def shared() -> Wakeups:
    return RedisWakeups(settings.REDIS_URL) if settings.REDIS_URL else LocalWakeups()


def wake(name: str) -> None:
    """Leave a hint for the thread that waits under this name, now or within a minute."""
    shared().wake(name)


def wait(name: str, seconds: float) -> bool:
    """Return when there is a hint under this name, after `seconds`, or after `patience()`. Whether there was a hint."""
    return shared().wait(name, seconds)


def patience() -> float:
    return shared().patience
