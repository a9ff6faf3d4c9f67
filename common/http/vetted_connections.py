"""Parts for an aiohttp session that only opens vetted connections, used by `common.http.transport`.

These are a resolver with a time budget, a socket factory that checks each address, and a pool that reports progress.
"""

import asyncio
import math
import socket
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import Any, Final, Literal, cast

from aiohttp import TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import AddrInfoType, Connection
from django.conf import settings

from common.http.addresses import is_allowed_destination

MAX_CONNECTIONS: Final = 640  # in use at once, in one process

DNS_BUDGET: Final = 5.0  # seconds for one lookup, part of the exchange's deadline
DNS_THREADS: Final = 32  # a stalled lookup holds one until the system gives up
DNS_CACHED: Final = 1024  # names
DNS_TTL: Final = 30.0  # seconds for a name with addresses
DNS_NEGATIVE_TTL: Final = 5.0  # seconds for a name without addresses


class BlockedAddress(OSError):
    """The destination has no address that the service may connect to."""


@dataclass(slots=True)
class Progress:
    """The current phase of a request. The parts below find it by `current`."""

    fresh_connection: bool  # don't reuse a connection
    phase: Literal["dns", "connect", "response"] = "connect"
    protocol: "Protocol | None" = None

    def died_unanswered(self) -> bool:
        """Whether the request used a kept-alive connection, and no byte of the response arrived."""
        return self.protocol is not None and self.protocol.requests > 1 and not self.protocol.answered


current: ContextVar[Progress] = ContextVar("current")


def _is_allowed(address: str) -> bool:
    return is_allowed_destination(ip_address(address), settings.ALLOW_LOCAL_DESTINATIONS)


def vetted_socket(addr_info: AddrInfoType) -> socket.socket:
    """A socket for one connection. Every connection passes here with the exact address that it will use."""
    family, kind, protocol, _, address = addr_info
    if not _is_allowed(str(address[0])):
        raise BlockedAddress(f"{address[0]} is not an allowed address.")
    return socket.socket(family, kind, protocol)


class Resolver(AbstractResolver):
    """Resolves names in its own threads, with a time budget and a cache. Leaves out refused addresses.

    A late lookup continues in its thread and is shared by all requests for the name, so that one bad name holds only
    one thread.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(DNS_THREADS, thread_name_prefix="transport-dns")
        self._lookups: dict[str, _Lookup] = {}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        progress = current.get()
        progress.phase = "dns"
        try:
            async with asyncio.timeout(DNS_BUDGET):
                found = await asyncio.shield(self._lookup(host).addresses)
        except TimeoutError:
            found = []
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "The name has no address.")
        allowed = [address for address in found if _is_allowed(address)]
        if not allowed:
            raise BlockedAddress(f"{host} has no allowed address.")
        progress.phase = "connect"
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in allowed
        ]

    async def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _lookup(self, host: str) -> "_Lookup":
        loop = asyncio.get_running_loop()
        known = self._lookups.pop(host, None)
        if known is None or known.expires <= loop.time():
            known = _Lookup(loop.run_in_executor(self._pool, _addresses, host))
            known.addresses.add_done_callback(known.remember)
        self._lookups[host] = known
        if len(self._lookups) > DNS_CACHED:
            self._lookups.pop(next(iter(self._lookups)))  # the least recently used
        return known


@dataclass(slots=True, eq=False)
class _Lookup:
    """A running or cached lookup of one name. `expires` is in the loop's time."""

    addresses: asyncio.Future[list[str]]
    expires: float = math.inf

    def remember(self, done: asyncio.Future[list[str]]) -> None:
        found = not done.cancelled() and done.result()
        self.expires = done.get_loop().time() + (DNS_TTL if found else DNS_NEGATIVE_TTL)


def _addresses(host: str) -> list[str]:
    """The addresses from the system's resolver, in its order. Empty for an unknown name."""
    try:
        return [str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        return []


class Protocol(ResponseHandler):
    """aiohttp's protocol, which also notes whether the connection was used before and whether bytes arrived."""

    requests = 0
    answered = False

    def set_response_params(self, **options: Any) -> None:  # aiohttp calls it once per request
        self.requests += 1
        self.answered = False
        super().set_response_params(**options)

    def data_received(self, data: bytes) -> None:
        self.answered = True
        super().data_received(data)


class Connector(TCPConnector):
    """aiohttp's pool, which also reports the phase of the request."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        protocol: type[ResponseHandler] = Protocol  # aiohttp has no public way to choose it
        self._factory = partial(protocol, loop=self._loop)

    async def connect(self, *args: Any, **options: Any) -> Connection:
        progress = current.get()
        progress.phase, progress.protocol = "connect", None
        while True:
            connection = await super().connect(*args, **options)
            protocol = cast(Protocol, connection.protocol)
            # Bytes that arrived on an idle connection must not be read as the next response.
            if protocol.requests == 0 or not (progress.fresh_connection or protocol.should_close):
                break
            connection.close()
        progress.phase, progress.protocol = "response", protocol
        return connection
