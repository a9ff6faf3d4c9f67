"""Looks up the names of servers that requests go to, for `common.http.transport`."""

import asyncio
import math
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

BUDGET: Final = 5.0  # seconds for one lookup, part of the exchange's deadline
THREADS: Final = 32  # a stalled lookup holds one until the system gives up
CACHED: Final = 1024  # names
TTL: Final = 30.0  # seconds for a name with addresses
NEGATIVE_TTL: Final = 5.0  # seconds for a name without addresses


class Resolver:
    """Resolves names in its own threads, with a time budget and a cache. Use it on one event loop only.

    A late lookup continues in its thread and is shared by all requests for the name, so that one bad name holds only
    one thread.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="transport-dns")
        self._lookups: dict[str, _Lookup] = {}

    def known(self, host: str) -> list[str] | None:
        """The addresses in the cache. None if `addresses` must ask."""
        lookup = self._lookup(host)
        return lookup.addresses.result() if lookup.addresses.done() else None

    async def addresses(self, host: str, *, timeout: float) -> list[str]:
        """The addresses of a name, in the system's order. Empty for an unknown name, and for one that takes longer than
        `timeout` or the budget, in seconds."""
        try:
            async with asyncio.timeout(min(timeout, BUDGET)):
                return await asyncio.shield(self._lookup(host).addresses)
        except TimeoutError:
            return []

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _lookup(self, host: str) -> "_Lookup":
        loop = asyncio.get_running_loop()
        lookup = self._lookups.pop(host, None)
        if lookup is None or lookup.expires <= loop.time():
            lookup = _Lookup(loop.run_in_executor(self._pool, _look_up, host))
            lookup.addresses.add_done_callback(lookup.remember)
        self._lookups[host] = lookup
        if len(self._lookups) > CACHED:
            self._lookups.pop(next(iter(self._lookups)))  # the least recently used
        return lookup


@dataclass(slots=True, eq=False)
class _Lookup:
    """A running or cached lookup of one name. `expires` is in the loop's time."""

    addresses: asyncio.Future[list[str]]
    expires: float = math.inf

    def remember(self, done: asyncio.Future[list[str]]) -> None:
        now = done.get_loop().time()
        if done.cancelled() or done.exception():  # it says nothing about the name
            self.expires = now
        else:
            self.expires = now + (TTL if done.result() else NEGATIVE_TTL)


def _look_up(host: str) -> list[str]:
    """The addresses from the system's resolver, in its order. Empty for an unknown name."""
    try:
        return [str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        return []
