"""Who is at the other end of a connection."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest

IPV6_NETWORK = 64  # bits: what a provider gives to one customer


def client_address(request: HttpRequest) -> str:
    """The address that asks.

    Behind a proxy (`BEHIND_PROXY`) that is the last entry of X-Forwarded-For: our own proxy has added it,
    while those before it are whatever the client has sent.
    """
    if settings.BEHIND_PROXY:
        forwarded = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
        if forwarded:
            return forwarded
    return str(request.META.get("REMOTE_ADDR") or "0.0.0.0")  # noqa: S104  a Unix socket has no address


def client_network(request: HttpRequest) -> str:
    """What to count a client by: its IPv4 address or IPv6 network; text that is no address is its own key."""
    address = client_address(request)
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, IPV6_NETWORK), strict=False))
