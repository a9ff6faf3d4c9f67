"""Decides which IP addresses the service may connect to.

It doesn't use `ipaddress.is_global`, which varies between Python releases and accepts some IPv6 addresses that lead
back to IPv4. The ranges are those of the IANA special-purpose registries (RFC 6890 and its successors).
"""

import socket
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
