"""Looks up the names of servers that requests go to, and decides which IP addresses the service may connect to.

It doesn't use `ipaddress.is_global`, which varies between Python releases and accepts some IPv6 addresses that lead
back to IPv4. The ranges are those of the IANA special-purpose registries (RFC 6890 and its successors).
"""

import asyncio
import math
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

IPAddress = IPv4Address | IPv6Address

_REFUSED_IPV4: Final = tuple(
    IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # "this network"; Linux connects it to itself
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT, and the metadata service of some clouds
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # metadata service of Azure
        "169.254.0.0/16",  # link-local, and the metadata service of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # IETF protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # automatic multicast tunnelling
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)

# Contains all global unicast IPv6 addresses. Outside are loopback, unique local, link-local, site-local and multicast
# addresses, and IPv4 addresses that are mapped, compatible, translated or behind NAT64.
_GLOBAL_IPV6: Final = IPv6Network("2000::/3")

_REFUSED_IPV6: Final = tuple(
    IPv6Network(block)
    for block in (
        "2001::/23",  # IETF protocol assignments: Teredo, benchmarks, ORCHID, AS112
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)

_LOOPBACK_IPV4: Final = IPv4Network("127.0.0.0/8")
_LOOPBACK_IPV6: Final = IPv6Address("::1")


def is_global_unicast(ip: IPAddress) -> bool:
    """Whether this is the direct address of an ordinary host on the public internet.

    An IPv6 address that contains an IPv4 address never is: a host that uses IPv4 can publish that address itself.
    """
    if isinstance(ip, IPv4Address):
        return not any(ip in block for block in _REFUSED_IPV4)
    return ip in _GLOBAL_IPV6 and not any(ip in block for block in _REFUSED_IPV6)


def is_loopback(ip: IPAddress) -> bool:
    """Whether this is 127.0.0.0/8 or ::1. Loopback wrapped in another IPv6 form is not."""
    return ip in _LOOPBACK_IPV4 if isinstance(ip, IPv4Address) else ip == _LOOPBACK_IPV6


def is_allowed_destination(ip: IPAddress, allow_local: bool) -> bool:
    """Whether the service may connect to this address. `allow_local` also allows loopback, and nothing else."""
    return is_global_unicast(ip) or (allow_local and is_loopback(ip))


def literal_address(host: str) -> IPAddress | None:
    """The address in a URL's host, or None for a name.

    Accepts every notation that resolvers accept: `127.1`, `0x7f000001`, `017700000001`, `2130706433`.
    """
    try:
        return IPv6Address(host) if ":" in host else IPv4Address(socket.inet_aton(host.rstrip(".")))
    except (OSError, ValueError):
        return None


# --- Looking up names --------------------------------------------------------------------------------

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
