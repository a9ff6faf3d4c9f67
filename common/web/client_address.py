"""The client's IP address and network."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest

IPV6_NETWORK = 64  # bits: what a provider gives to one customer


def client_address(request: HttpRequest) -> str:
    """The address that asks.

    X-Forwarded-For is believed as far as our own proxies (`TRUSTED_PROXIES`) have written it: from the right, it is the
    first address that is none of them. Everything before that is what the client has sent.
    """
    hops = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()]
    address = _peer(request)
    while hops and is_trusted_proxy(address):
        address = hops.pop()
    return address or "0.0.0.0"  # noqa: S104  a Unix socket has no address


def forget_untrusted_scheme(request: HttpRequest) -> None:
    """Only our own proxies may say that a request came by HTTPS (`SECURE_PROXY_SSL_HEADER`)."""
    if "HTTP_X_FORWARDED_PROTO" in request.META and not is_trusted_proxy(_peer(request)):
        del request.META["HTTP_X_FORWARDED_PROTO"]


def is_trusted_proxy(address: str) -> bool:
    """Whether this is an address of `TRUSTED_PROXIES`. The empty one is that of a Unix socket."""
    if not address:
        return "unix" in settings.TRUSTED_PROXIES
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    known = getattr(parsed, "ipv4_mapped", None) or parsed
    return any(known in network for network in settings.TRUSTED_PROXIES if network != "unix")


def _peer(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR") or "")


def client_network(request: HttpRequest) -> str:
    """The key for rate limits: an IPv4 address or an IPv6 network. Text that is not an address is used unchanged."""
    address = client_address(request)
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, IPV6_NETWORK), strict=False))


def client_subnet(request: HttpRequest) -> str:
    """The network that a person signs in from: an IPv4 /24 or an IPv6 /64."""
    network = client_network(request)
    try:
        return str(ipaddress.ip_network(f"{network}/24" if "/" not in network else network, strict=False))
    except ValueError:
        return network
